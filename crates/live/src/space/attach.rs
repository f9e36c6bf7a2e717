//! Existing network namespaces as hosts: of containers, `ip netns`, or any process.

use std::os::fd::OwnedFd;

use nix::fcntl::OFlag;
use thiserror::Error;

use crate::sys::{SysError, files, net, process};

/// Errors of attaching a host to a namespace.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum AttachError {
    /// The user is not root.
    #[error(
        "--attach: found an ordinary user, expected root, which may enter other namespaces; use 'sudo stillair live ...'"
    )]
    NotRoot,
    /// The namespace is the one that this process runs in.
    #[error(
        "--attach: found {place}, which is the network namespace of this command, expected another: a live run does not change the machine's own"
    )]
    Own {
        /// The place as given.
        place: String,
    },
    /// Two hosts have the same namespace.
    #[error("--attach: found {place} at two hosts, expected a separate namespace for each")]
    Shared {
        /// The place as given.
        place: String,
    },
    /// A host has two namespaces.
    #[error("--attach: found a host with two namespaces, expected one")]
    Twice,
    /// The place is neither `netns:PATH` nor `pid:N`.
    #[error("--attach: found {place}, {EXPECTED}")]
    Malformed {
        /// The place as given.
        place: String,
    },
    /// The place cannot be opened.
    #[error("--attach: found {place} ({source}), {EXPECTED}")]
    Open {
        /// The place as given.
        place: String,
        /// The failure.
        source: SysError,
    },
    /// The place is not a network namespace.
    #[error("--attach: found {place}, which is not a network namespace, {EXPECTED}")]
    NotANamespace {
        /// The place as given.
        place: String,
    },
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

const EXPECTED: &str = "expected HOST=netns:PATH or HOST=pid:N of an existing network namespace";

/// Per host: its existing namespace, if `places` names one, as `netns:PATH` or `pid:N`.
pub fn all(places: &[(usize, &str)], hosts: usize) -> Result<Vec<Option<OwnedFd>>, AttachError> {
    let mut all: Vec<Option<OwnedFd>> = (0..hosts).map(|_| None).collect();
    if !places.is_empty() && process::ids().0 != 0 {
        return Err(AttachError::NotRoot);
    }
    let mut taken = vec![files::identity(open("pid:self")?)?];
    for &(host, place) in places {
        let namespace = open(place)?;
        let one = files::identity(&namespace)?;
        match taken.iter().position(|of| *of == one) {
            Some(0) => return Err(AttachError::Own { place: place.to_owned() }),
            Some(_) => return Err(AttachError::Shared { place: place.to_owned() }),
            None => taken.push(one),
        }
        if all[host].replace(namespace).is_some() {
            return Err(AttachError::Twice);
        }
    }
    Ok(all)
}

fn open(given: &str) -> Result<OwnedFd, AttachError> {
    let place = given.to_owned();
    let path = match given.split_once(':') {
        // Names of `ip netns`.
        Some(("netns", name)) if !name.is_empty() && !name.contains('/') => format!("/run/netns/{name}"),
        Some(("netns", path)) if !path.is_empty() => path.to_owned(),
        Some(("pid", pid)) if pid == "self" || pid.parse::<u32>().is_ok() => format!("/proc/{pid}/ns/net"),
        _ => return Err(AttachError::Malformed { place }),
    };
    match files::open(&path, OFlag::O_RDONLY) {
        Ok(file) if net::is_namespace(&file) => Ok(file),
        Ok(_) => Err(AttachError::NotANamespace { place }),
        Err(source) => Err(AttachError::Open { place, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_foreign_network_namespaces_are_accepted() {
        for (place, says) in [
            ("nonsense", "found nonsense, expected HOST=netns:PATH or HOST=pid:N"),
            ("pid:one", "found pid:one, expected"),
            ("netns:", "found netns:, expected"),
            ("netns:/etc/hostname", "found netns:/etc/hostname, which is not a network namespace, expected"),
            ("netns:/nowhere/at/all", "found netns:/nowhere/at/all (/nowhere/at/all: "),
            ("netns:of-that-name-there-is-none", "(/run/netns/of-that-name-there-is-none: "),
        ] {
            let why = open(place).expect_err(place).to_string();
            assert!(why.contains(says), "{why}");
        }
        assert!(open("pid:self").is_ok());
    }
}
