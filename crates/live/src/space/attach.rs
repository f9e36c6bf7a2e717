//! Existing network namespaces as hosts: of containers, of `ip netns`, or of any process.

use std::os::fd::{AsRawFd, OwnedFd};

use crate::sys::{files, net, process};

/// By host: its existing namespace, if `places` names one, as `netns:PATH` or `pid:N`.
pub fn all(places: &[(usize, &str)], hosts: usize) -> Result<Vec<Option<OwnedFd>>, String> {
    let mut all: Vec<Option<OwnedFd>> = (0..hosts).map(|_| None).collect();
    if !places.is_empty() && process::ids().0 != 0 {
        return Err(
            "--attach: found an ordinary user, expected root, as no other goes into a namespace of others; 'sudo stillair live ...'"
                .to_owned(),
        );
    }
    let mut taken = vec![identity(&open("pid:self")?)?];
    for &(host, place) in places {
        let wrong = |found: &str, expected: &str| format!("--attach: found {found}, expected {expected}");
        let namespace = open(place)?;
        let one = identity(&namespace)?;
        match taken.iter().position(|of| *of == one) {
            Some(0) => {
                let own = format!("{place}, which is the network namespace that this command is in");
                return Err(wrong(&own, "another: a live run changes nothing of the machine's"));
            }
            Some(_) => {
                return Err(wrong(&format!("{place} at two hosts"), "a namespace of its own for each"));
            }
            None => taken.push(one),
        }
        if all[host].replace(namespace).is_some() {
            return Err(wrong("a host with two namespaces", "one"));
        }
    }
    Ok(all)
}

/// Which namespace a file is.
fn identity(namespace: &OwnedFd) -> Result<(u64, u64), String> {
    files::identity(namespace.as_raw_fd())
}

fn open(place: &str) -> Result<OwnedFd, String> {
    let wrong = |why: &str| {
        format!(
            "--attach: found {place}{why}, expected HOST=netns:PATH or HOST=pid:N, of a network namespace that is there"
        )
    };
    let path = match place.split_once(':') {
        // As 'ip netns' names them.
        Some(("netns", name)) if !name.is_empty() && !name.contains('/') => format!("/run/netns/{name}"),
        Some(("netns", path)) if !path.is_empty() => path.to_owned(),
        Some(("pid", pid)) if pid == "self" || pid.parse::<u32>().is_ok() => format!("/proc/{pid}/ns/net"),
        _ => return Err(wrong("")),
    };
    let file = files::open(&path, libc::O_RDONLY).map_err(|why| wrong(&format!(" ({why})")))?;
    if net::is_namespace(file.as_raw_fd()) { Ok(file) } else { Err(wrong(", which is no network namespace")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_namespace_of_others_is_refused() {
        for (place, says) in [
            ("nonsense", "found nonsense, expected HOST=netns:PATH or HOST=pid:N"),
            ("pid:one", "found pid:one, expected"),
            ("netns:", "found netns:, expected"),
            ("netns:/etc/hostname", "found netns:/etc/hostname, which is no network namespace, expected"),
            ("netns:/nowhere/at/all", "found netns:/nowhere/at/all (/nowhere/at/all: "),
            ("netns:of-that-name-there-is-none", "(/run/netns/of-that-name-there-is-none: "),
        ] {
            let why = open(place).expect_err(place);
            assert!(why.contains(says), "{why}");
        }
        assert!(open("pid:self").is_ok());
    }
}
