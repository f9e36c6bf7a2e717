//! Files visible only to the hosts: `/etc/hosts`, `/etc/nsswitch.conf`, and an unnamed tmpfs.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use thiserror::Error;

use crate::sys::{SysError, mount, reason};

/// Errors of setting up the hosts' files.
#[derive(Debug, Error)]
pub enum MountError {
    /// The machine has no folder to mount at.
    #[error("live: found no folder /mnt, /media, /srv or /opt to mount at")]
    NoFolder,
    /// A file or folder in memory was not written.
    #[error("{path}: {}", reason(source))]
    File {
        /// Path of the file.
        path: String,
        /// The failure.
        source: std::io::Error,
    },
    /// The machine lacks a file of name resolution.
    #[error("{path}: there is no such file, which live hosts need to resolve names; make an empty one")]
    Missing {
        /// Path of the file.
        path: String,
    },
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

impl MountError {
    fn file(path: &str) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }
}

/// Candidate mount points for [`programs`]; the first empty one is used. Debian has the first one on every
/// user's path.
const EMPTY: [&str; 5] = ["/usr/local/games", "/srv", "/media", "/mnt", "/opt"];

/// Makes an unnamed tmpfs the working directory of this process, and sets up name resolution: `names`, and
/// the name servers `servers` for all other names. Returns the folder with this project's programs as hosts
/// see it; `None` if the machine has no empty folder for the mount, which must not hide the machine's
/// files.
pub fn prepare(
    names: &[(IpAddr, String)],
    servers: &[IpAddr],
    ours: &[(&str, &str)],
) -> Result<Option<&'static str>, MountError> {
    mount::apart()?;
    // Temporary mount point, needed only until the files are bound to their places.
    let at = ["/mnt", "/media", "/srv", "/opt"].into_iter().find(|at| Path::new(at).is_dir());
    let at = at.ok_or(MountError::NoFolder)?;
    mount::memory(at)?;
    std::env::set_current_dir(at).map_err(MountError::file(at))?;
    let own = fs::read_to_string("/etc/hosts").unwrap_or_default();
    let lines: String = names.iter().map(|(address, name)| format!("{address} {name}\n")).collect();
    place("hosts", &format!("{own}\n{lines}"))?;
    // Without sources that query an outside program, which would use the machine's network.
    place(
        "nsswitch.conf",
        "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\nservices: files\n",
    )?;
    let servers: String = servers.iter().map(|server| format!("nameserver {server}\n")).collect();
    place("resolv.conf", &servers)?;
    let shown = programs(ours, at)?;
    mount::away(at)?;
    // Not permitted if something is mounted below /proc, as in containers. Outside processes are then
    // visible, but not accessible.
    let _ = mount::proc();
    Ok(shown)
}

/// Mounts programs on an empty folder other than `not`.
fn programs(all: &[(&str, &str)], not: &str) -> Result<Option<&'static str>, MountError> {
    const OURS: &str = "programs";
    let empty = |at: &&str| fs::read_dir(at).is_ok_and(|mut files| files.next().is_none());
    let Some(at) = EMPTY.into_iter().filter(|at| *at != not).find(empty) else { return Ok(None) };
    let wrong = MountError::file(OURS);
    let open = |at: &str| fs::set_permissions(at, std::os::unix::fs::PermissionsExt::from_mode(0o755));
    fs::create_dir(OURS).and_then(|()| open(OURS)).map_err(&wrong)?;
    for (name, text) in all {
        let file = format!("{OURS}/{name}");
        fs::write(&file, text).and_then(|()| open(&file)).map_err(&wrong)?;
    }
    mount::bind(OURS, at)?;
    Ok(Some(at))
}

/// Writes a file and mounts it over the machine's.
fn place(name: &str, text: &str) -> Result<(), MountError> {
    let at = format!("/etc/{name}");
    fs::write(name, text).map_err(MountError::file(name))?;
    if !Path::new(&at).exists() {
        return Err(MountError::Missing { path: at });
    }
    let _ = fs::set_permissions(name, std::os::unix::fs::PermissionsExt::from_mode(0o644));
    Ok(mount::bind(name, &at)?)
}
