//! Mounts.

use super::{c, check};

fn mount(source: &str, at: &str, kind: &str, flags: libc::c_ulong, data: &str) -> Result<(), String> {
    let (source, target, kind, data) = (c(source), c(at), c(kind), c(data));
    // SAFETY: all are texts that end with a zero.
    let result =
        unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, data.as_ptr().cast()) };
    check(result, at).map(|_| ())
}

/// What is mounted from now on is seen here alone; what the machine mounts is still seen here.
pub fn apart() -> Result<(), String> {
    mount("none", "/", "", libc::MS_REC | libc::MS_SLAVE, "")
}

/// An empty file system in memory.
pub fn memory(at: &str) -> Result<(), String> {
    mount("stillair", at, "tmpfs", libc::MS_NOSUID | libc::MS_NODEV, "mode=0700,size=256m")
}

/// A file or folder seen at another place too.
pub fn bind(from: &str, at: &str) -> Result<(), String> {
    mount(from, at, "", libc::MS_BIND, "")
}

/// The processes of this namespace of processes.
pub fn proc() -> Result<(), String> {
    mount("proc", "/proc", "proc", libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC, "")
}

/// Takes a mount away from its place; what is open stays so.
pub fn away(at: &str) -> Result<(), String> {
    let path = c(at);
    // SAFETY: the path ends with a zero.
    check(unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) }, at).map(|_| ())
}
