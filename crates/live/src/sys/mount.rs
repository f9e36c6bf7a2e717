//! Mounts.

use nix::mount::{MntFlags, MsFlags, mount, umount2};

use super::SysError;

/// Makes later mounts private to this namespace. New mounts of the machine still appear here.
pub fn apart() -> Result<(), SysError> {
    put("none", "/", "", MsFlags::MS_REC | MsFlags::MS_SLAVE, "")
}

/// Mounts an empty tmpfs.
pub fn memory(at: &str) -> Result<(), SysError> {
    put("stillair", at, "tmpfs", MsFlags::MS_NOSUID | MsFlags::MS_NODEV, "mode=0700,size=256m")
}

/// Bind-mounts a file or folder.
pub fn bind(from: &str, at: &str) -> Result<(), SysError> {
    put(from, at, "", MsFlags::MS_BIND, "")
}

/// Mounts /proc for this PID namespace.
pub fn proc() -> Result<(), SysError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    put("proc", "/proc", "proc", flags, "")
}

fn put(source: &str, at: &str, kind: &str, flags: MsFlags, data: &str) -> Result<(), SysError> {
    mount(Some(source), at, Some(kind), flags, Some(data)).map_err(SysError::call(at))
}

/// Unmounts a mount point lazily: open files stay open.
pub fn away(at: &str) -> Result<(), SysError> {
    umount2(at, MntFlags::MNT_DETACH).map_err(SysError::call(at))
}
