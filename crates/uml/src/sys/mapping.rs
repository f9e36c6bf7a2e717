//! Memory shared with another process. There are no references into it: data is copied in and out, within
//! bounds.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use super::{SysError, check};

/// A shared memory mapping of a file, from its start.
#[derive(Debug)]
pub struct Mapping {
    at: *mut u8,
    len: usize,
}

/// Creates a file of `len` zero bytes in memory (memfd).
pub fn memory_file(name: &str, len: usize) -> Result<OwnedFd, SysError> {
    let name = std::ffi::CString::new(name.replace('\0', "?")).expect("no zero byte is left");
    // SAFETY: a text that ends with a zero; the file is ours alone.
    let fd = unsafe {
        let fd = check(libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC).into(), "memfd_create")?;
        OwnedFd::from_raw_fd(fd as i32)
    };
    // SAFETY: an open file and a number.
    check(unsafe { libc::ftruncate(fd.as_raw_fd(), len as i64) }.into(), "ftruncate")?;
    Ok(fd)
}

impl Mapping {
    /// Maps the first `len` bytes of a file, which must be at least as long.
    pub fn new(file: &impl AsFd, len: usize) -> Result<Self, SysError> {
        let fd = file.as_fd().as_raw_fd();
        // SAFETY: the address is that of a stat.
        let size = unsafe {
            let mut stat: libc::stat = core::mem::zeroed();
            check(libc::fstat(fd, &raw mut stat).into(), "fstat")?;
            stat.st_size
        };
        // Beyond the end of its file a mapping has no memory.
        if len == 0 || u64::try_from(size).unwrap_or(0) < len as u64 {
            return Err(SysError::Mapping { len, size });
        }
        // SAFETY: a new mapping at an address of the kernel's choice.
        let at = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                fd,
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(SysError::io("mmap", &std::io::Error::last_os_error()));
        }
        Ok(Self { at: at.cast(), len })
    }

    fn holds(&self, at: usize, len: usize) -> bool {
        at.checked_add(len).is_some_and(|end| end <= self.len)
    }

    /// Copies bytes out of the mapping; false if they are beyond its end.
    pub fn read(&self, at: usize, into: &mut [u8]) -> bool {
        if !self.holds(at, into.len()) {
            return false;
        }
        // SAFETY: within the mapping, and `into` is this process's alone. The other process stands still
        // meanwhile, or a torn value is as good as any that it may write.
        unsafe { core::ptr::copy_nonoverlapping(self.at.add(at), into.as_mut_ptr(), into.len()) };
        true
    }

    /// Copies bytes into the mapping; false, with nothing written, if they are beyond its end.
    pub fn write(&self, at: usize, from: &[u8]) -> bool {
        if !self.holds(at, from.len()) {
            return false;
        }
        // SAFETY: see `read`.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), self.at.add(at), from.len()) };
        true
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: its own mapping.
        unsafe { libc::munmap(self.at.cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_or_written_beyond_the_end() {
        let file = memory_file("x", 64).expect("a file");
        assert!(Mapping::new(&file, 65).is_err() && Mapping::new(&file, 0).is_err());
        let map = Mapping::new(&file, 64).expect("a mapping");
        assert!(map.write(60, &[1, 2, 3, 4]));
        let mut four = [0; 4];
        assert!(map.read(60, &mut four) && four == [1, 2, 3, 4]);
        for at in [61, 64, usize::MAX - 1] {
            assert!(!map.read(at, &mut four) && !map.write(at, &[9; 4]));
        }
        assert!(map.read(60, &mut four) && four == [1, 2, 3, 4]);
    }
}
