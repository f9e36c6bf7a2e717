//! Access to a guest's memory by physical address. Each access is checked against the regions that the
//! guest has declared.

use std::os::fd::OwnedFd;

use thiserror::Error;

use crate::sys::{Mapping, SysError};

/// A region of a guest's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// First physical address.
    pub address: u64,
    /// Length in bytes.
    pub size: u64,
    /// Offset in the region's file.
    pub offset: u64,
}

/// The guest memory that the card may use. It excludes the kernel image.
#[derive(Debug, Default)]
pub struct GuestMemory(Vec<(Region, Mapping)>);

/// A guest passed an address outside its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("found {len} bytes at {address:#x}, expected an address range in the guest's memory")]
pub struct OutOfBounds {
    /// First address of the access.
    pub address: u64,
    /// Length of the access in bytes.
    pub len: usize,
}

/// Errors of a guest's memory.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum MemoryError {
    /// The numbers of regions and of their files differ.
    #[error("{regions} regions of memory with {files} files")]
    Files {
        /// Number of regions.
        regions: usize,
        /// Number of files.
        files: usize,
    },
    /// A region is too large, or exceeds the address space.
    #[error("found an invalid memory region: {0:?}")]
    Region(Region),
    /// A region cannot be mapped.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// Maximum region size in bytes, larger than any guest.
const MOST: u64 = 1 << 36;

impl GuestMemory {
    /// The regions of a guest with their files.
    pub fn new(regions: &[Region], files: &[OwnedFd]) -> Result<Self, MemoryError> {
        if regions.len() != files.len() {
            return Err(MemoryError::Files { regions: regions.len(), files: files.len() });
        }
        let one = |(region, file): (&Region, &OwnedFd)| {
            let fits = region.size <= MOST
                && region.offset <= MOST
                && region.address.checked_add(region.size).is_some();
            let len = fits.then(|| (region.size + region.offset) as usize);
            let len = len.ok_or(MemoryError::Region(*region))?;
            Ok((*region, Mapping::new(file, len)?))
        };
        regions.iter().zip(files).map(one).collect::<Result<_, MemoryError>>().map(Self)
    }

    fn place(&self, address: u64, len: usize) -> Result<(&Mapping, usize), OutOfBounds> {
        let fits = |(of, _): &&(Region, Mapping)| {
            address.checked_sub(of.address).is_some_and(|at| at <= of.size && len as u64 <= of.size - at)
        };
        let (region, map) = self.0.iter().find(fits).ok_or(OutOfBounds { address, len })?;
        Ok((map, (address - region.address + region.offset) as usize))
    }

    /// Copies from the guest's memory at `address`.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), OutOfBounds> {
        let (map, at) = self.place(address, into.len())?;
        if map.read(at, into) { Ok(()) } else { Err(OutOfBounds { address, len: into.len() }) }
    }

    /// Copies into the guest's memory at `address`.
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), OutOfBounds> {
        let (map, at) = self.place(address, from.len())?;
        if map.write(at, from) { Ok(()) } else { Err(OutOfBounds { address, len: from.len() }) }
    }

    /// The 16-bit value at an address.
    pub fn u16(&self, address: u64) -> Result<u16, OutOfBounds> {
        let mut bytes = [0; 2];
        self.read(address, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::memory_file;

    #[test]
    fn every_access_is_within_a_region() {
        let file = memory_file("guest", 0x3000).expect("a file");
        let region = |address, size, offset| Region { address, size, offset };
        let memory = GuestMemory::new(&[region(0x10_0000, 0x2000, 0x1000)], &[file]).expect("memory");
        memory.write(0x10_1ffc, &[1, 2, 3, 4]).expect("the last bytes");
        assert_eq!(memory.u16(0x10_1ffe), Ok(0x0403));
        for (address, len) in
            [(0xf_ffff, 1), (0x10_2000, 1), (0x10_1ffd, 4), (u64::MAX, 4), (0x10_0000, 0x2001)]
        {
            let refused = Err(OutOfBounds { address, len });
            assert_eq!(memory.read(address, &mut vec![0; len]), refused);
            assert_eq!(memory.write(address, &vec![0; len]), refused);
        }
        assert_eq!(memory.read(0x10_2000, &mut []), Ok(()));
    }

    #[test]
    fn a_region_beyond_its_file_or_the_address_space_is_refused() {
        for (address, size, offset) in
            [(0, 0x3000, 0x1000), (u64::MAX, 0x1000, 0), (0, u64::MAX, 0), (0, 0x1000, u64::MAX)]
        {
            let file = memory_file("guest", 0x3000).expect("a file");
            assert!(
                GuestMemory::new(&[Region { address, size, offset }], &[file]).is_err(),
                "{address:#x} {size:#x}"
            );
        }
        assert!(GuestMemory::new(&[Region { address: 0, size: 1, offset: 0 }], &[]).is_err());
    }
}
