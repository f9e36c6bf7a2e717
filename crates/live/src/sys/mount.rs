//! Mounts.

use super::{SysError, c, check};

fn mount(source: &str, at: &str, kind: &str, flags: libc::c_ulong, data: &str) -> Result<(), SysError> {
    let (source, target, kind, data) = (c(source), c(at), c(kind), c(data));
    // SAFETY: all are texts that end with a zero.
    let result =
        unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, data.as_ptr().cast()) };
    check(result, at).map(|_| ())
}

/// Makes later mounts private to this namespace; mounts of the machine still appear here.
pub fn apart() -> Result<(), SysError> {
    mount("none", "/", "", libc::MS_REC | libc::MS_SLAVE, "")
}

/// Mounts an empty tmpfs.
pub fn memory(at: &str) -> Result<(), SysError> {
    mount("stillair", at, "tmpfs", libc::MS_NOSUID | libc::MS_NODEV, "mode=0700,size=256m")
}

/// Bind-mounts a file or folder.
pub fn bind(from: &str, at: &str) -> Result<(), SysError> {
    mount(from, at, "", libc::MS_BIND, "")
}

/// Mounts /proc for this PID namespace.
pub fn proc() -> Result<(), SysError> {
    mount("proc", "/proc", "proc", libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC, "")
}

/// Unmounts a mount point lazily: open files stay open.
pub fn away(at: &str) -> Result<(), SysError> {
    let path = c(at);
    // SAFETY: the path ends with a zero.
    check(unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) }, at).map(|_| ())
}
