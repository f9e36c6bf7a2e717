//! Memory shared with another process. Data is copied in and out with bounds checks; no references into the
//! memory exist.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::ftruncate;
use vm_memory::mmap::MmapRegionError;
use vm_memory::{FileOffset, MmapRegion, VolatileMemory};

use super::SysError;

/// A shared memory mapping of a file, from its start.
#[derive(Debug)]
pub struct Mapping(MmapRegion);

/// Creates a file of `len` zero bytes in memory (memfd).
pub fn memory_file(name: &str, len: usize) -> Result<OwnedFd, SysError> {
    let file = memfd_create(name, MFdFlags::MFD_CLOEXEC).map_err(SysError::call("memfd_create"))?;
    ftruncate(&file, len as i64).map_err(SysError::call("ftruncate"))?;
    Ok(file)
}

impl Mapping {
    /// Maps the first `len` bytes of a file, which must be at least as long.
    pub fn new(file: &impl AsFd, len: usize) -> Result<Self, SysError> {
        let file = file.as_fd().try_clone_to_owned().map_err(|e| SysError::io("dup", &e))?;
        let file = File::from(file);
        let size = file.metadata().map_err(|e| SysError::io("fstat", &e))?.len();
        // A mapping has no memory beyond the end of its file.
        if len == 0 || size < len as u64 {
            return Err(SysError::Mapping { len, size });
        }
        match MmapRegion::from_file(FileOffset::new(file, 0), len) {
            Ok(region) => Ok(Self(region)),
            Err(MmapRegionError::Mmap(e)) => Err(SysError::io("mmap", &e)),
            Err(_) => Err(SysError::Mapping { len, size }),
        }
    }

    /// Copies bytes out of the mapping. Returns false if they are beyond its end.
    pub fn read(&self, at: usize, into: &mut [u8]) -> bool {
        self.0.get_slice(at, into.len()).map(|part| part.copy_to(into)).is_ok()
    }

    /// Copies bytes into the mapping. Returns false, with nothing written, if they are beyond its end.
    pub fn write(&self, at: usize, from: &[u8]) -> bool {
        self.0.get_slice(at, from.len()).map(|part| part.copy_from(from)).is_ok()
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
