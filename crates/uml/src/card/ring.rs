//! A split virtqueue, device side.
//!
//! Values written by the guest are read once and never trusted. An index or address out of bounds is an
//! error, and a descriptor chain is at most as long as the ring.

// spec: virtio 1.2 2.7 - 16-byte descriptors; available ring: flags, index, heads; used ring: flags, index,
// pairs of head and length.
// linux: include/uapi/linux/virtio_ring.h (6.12).

use thiserror::Error;

use super::memory::{GuestMemory, OutOfBounds};

/// A mistake of a guest's driver in a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum RingError {
    /// The size is not a power of two, or too large.
    #[error("a ring of {size} descriptors")]
    Size {
        /// Number of descriptors.
        size: u32,
    },
    /// The guest offers more buffers than the ring has descriptors.
    #[error("a ring of {size} descriptors in which {offered} buffers are offered")]
    Offered {
        /// Number of descriptors.
        size: u16,
        /// Number of buffers.
        offered: u16,
    },
    /// A descriptor is beyond the end of the ring.
    #[error("descriptor {number} of a ring of {size}")]
    Descriptor {
        /// Number of the descriptor.
        number: u16,
        /// Number of descriptors.
        size: u16,
    },
    /// A chain of descriptors is longer than the ring.
    #[error("found a descriptor chain without an end")]
    Endless,
    /// A descriptor is indirect.
    #[error("found an indirect descriptor, which was not offered")]
    Indirect,
    /// The ring or a buffer is outside the guest's memory.
    #[error(transparent)]
    Memory(#[from] OutOfBounds),
}

/// The card needs no kick for new buffers.
const NO_NOTIFY: u16 = 1;
/// The guest needs no interrupt.
const NO_INTERRUPT: u16 = 1;
/// Another descriptor follows.
const NEXT: u16 = 1;
/// The card may write to the buffer.
const WRITE: u16 = 2;
/// The buffer is an indirect descriptor table. Not offered.
const INDIRECT: u16 = 4;
/// Maximum descriptors per ring.
const MOST: u32 = 32_768;

/// A part of a buffer: one descriptor of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Physical address.
    pub address: u64,
    /// Length in bytes.
    pub len: u32,
    /// True if the card writes to this part, false if the card reads it.
    pub writes: bool,
}

/// A split virtqueue.
#[derive(Debug, Default)]
pub struct Ring {
    size: u16,
    descriptors: u64,
    available: u64,
    used: u64,
    /// Buffers taken from the ring, and buffers returned.
    taken: u16,
    given: u16,
}

impl Ring {
    /// Sets the number of descriptors.
    pub fn resize(&mut self, size: u32) -> Result<(), RingError> {
        if !size.is_power_of_two() || size > MOST {
            return Err(RingError::Size { size });
        }
        self.size = size as u16;
        Ok(())
    }

    /// Sets the index of the next buffer.
    pub fn begin(&mut self, base: u32) {
        (self.taken, self.given) = (base as u16, base as u16);
    }

    /// Sets the addresses of the descriptor table, the available ring and the used ring.
    pub fn locate(&mut self, descriptors: u64, available: u64, used: u64) {
        (self.descriptors, self.available, self.used) = (descriptors, available, used);
    }

    /// Returns true if the ring is set up.
    pub fn is_ready(&self) -> bool {
        self.size > 0 && self.descriptors != 0
    }

    fn slot(&self, number: u16) -> u64 {
        u64::from(number % self.size)
    }

    /// Number of buffers that the guest has offered and the card has not taken.
    pub fn waiting(&self, memory: &GuestMemory) -> Result<u16, RingError> {
        if !self.is_ready() {
            return Ok(0);
        }
        let offered = memory.u16(self.available + 2)?.wrapping_sub(self.taken);
        if offered > self.size {
            return Err(RingError::Offered { size: self.size, offered });
        }
        Ok(offered)
    }

    /// Takes the next buffer that the guest has offered. Returns its head, and replaces `parts` by its
    /// parts.
    pub fn take(&mut self, memory: &GuestMemory, parts: &mut Vec<Part>) -> Result<Option<u16>, RingError> {
        parts.clear();
        if self.waiting(memory)? == 0 {
            return Ok(None);
        }
        let head = memory.u16(self.available + 4 + 2 * self.slot(self.taken))?;
        self.taken = self.taken.wrapping_add(1);
        let mut at = head;
        loop {
            if at >= self.size {
                return Err(RingError::Descriptor { number: at, size: self.size });
            }
            if parts.len() >= usize::from(self.size) {
                return Err(RingError::Endless);
            }
            let mut bytes = [0; 16];
            memory.read(self.descriptors + 16 * u64::from(at), &mut bytes)?;
            let [a, b, c, d, e, f, g, h, l0, l1, l2, l3, f0, f1, n0, n1] = bytes;
            let flags = u16::from_le_bytes([f0, f1]);
            if flags & INDIRECT != 0 {
                return Err(RingError::Indirect);
            }
            parts.push(Part {
                address: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
                len: u32::from_le_bytes([l0, l1, l2, l3]),
                writes: flags & WRITE != 0,
            });
            if flags & NEXT == 0 {
                return Ok(Some(head));
            }
            at = u16::from_le_bytes([n0, n1]);
        }
    }

    /// Returns a buffer after writing `len` bytes into it. The guest sees the buffer after
    /// [`Ring::publish`].
    pub fn give(&mut self, memory: &GuestMemory, head: u16, len: u32) -> Result<(), RingError> {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&u32::from(head).to_le_bytes());
        bytes[4..].copy_from_slice(&len.to_le_bytes());
        memory.write(self.used + 4 + 8 * self.slot(self.given), &bytes)?;
        self.given = self.given.wrapping_add(1);
        Ok(())
    }

    /// Makes returned buffers visible to the guest. Returns true if the guest wants an interrupt.
    pub fn publish(&self, memory: &GuestMemory) -> Result<bool, RingError> {
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
        memory.write(self.used + 2, &self.given.to_le_bytes())?;
        Ok(memory.u16(self.available)? & NO_INTERRUPT == 0)
    }

    /// Sets if the guest kicks when it offers buffers.
    pub fn listen(&self, memory: &GuestMemory, listens: bool) -> Result<(), RingError> {
        let flags = if listens { 0 } else { NO_NOTIFY };
        if self.is_ready() {
            memory.write(self.used, &flags.to_le_bytes())?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::memory::Region;
    use super::*;
    use crate::sys::memory_file;

    pub const SIZE: u16 = 4;
    pub const DESCRIPTORS: u64 = 0x1000;
    pub const AVAILABLE: u64 = 0x1100;
    pub const USED: u64 = 0x1200;

    /// A driver's side of a ring at fixed addresses in 64 KiB of memory.
    pub fn memory() -> GuestMemory {
        let file = memory_file("guest", 0x1_0000).expect("a file");
        GuestMemory::new(&[Region { address: 0x1000, size: 0x1_0000, offset: 0 }], &[file]).expect("memory")
    }

    pub fn describe(memory: &GuestMemory, n: u16, address: u64, len: u32, flags: u16, next: u16) {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&address.to_le_bytes());
        bytes[8..12].copy_from_slice(&len.to_le_bytes());
        bytes[12..14].copy_from_slice(&flags.to_le_bytes());
        bytes[14..].copy_from_slice(&next.to_le_bytes());
        memory.write(DESCRIPTORS + 16 * u64::from(n), &bytes).expect("in bounds");
    }

    pub fn offer(memory: &GuestMemory, heads: &[u16], index: u16) {
        for (n, head) in heads.iter().enumerate() {
            let slot = u64::from((index - heads.len() as u16 + n as u16) % SIZE);
            memory.write(AVAILABLE + 4 + 2 * slot, &head.to_le_bytes()).expect("in bounds");
        }
        memory.write(AVAILABLE + 2, &index.to_le_bytes()).expect("in bounds");
    }

    fn ring() -> Ring {
        let mut ring = Ring::default();
        ring.resize(SIZE.into()).expect("a size");
        ring.locate(DESCRIPTORS, AVAILABLE, USED);
        ring
    }

    #[test]
    fn buffers_are_taken_in_order_and_returned_in_any_order() {
        let (memory, mut ring, mut parts) = (memory(), ring(), Vec::new());
        assert_eq!(ring.take(&memory, &mut parts), Ok(None));
        describe(&memory, 0, 0x2000, 12, NEXT, 2);
        describe(&memory, 2, 0x3000, 1500, 0, 9);
        describe(&memory, 1, 0x4000, 2000, WRITE, 0);
        offer(&memory, &[0, 1], 2);
        assert_eq!(ring.waiting(&memory), Ok(2));
        assert_eq!(ring.take(&memory, &mut parts), Ok(Some(0)));
        let part = |address, len, writes| Part { address, len, writes };
        assert_eq!(parts, [part(0x2000, 12, false), part(0x3000, 1500, false)]);
        assert_eq!(ring.take(&memory, &mut parts), Ok(Some(1)));
        assert_eq!(parts, [part(0x4000, 2000, true)]);
        assert_eq!(ring.take(&memory, &mut parts), Ok(None));
        ring.give(&memory, 1, 77).expect("in bounds");
        ring.give(&memory, 0, 0).expect("in bounds");
        assert_eq!(memory.u16(USED + 2), Ok(0));
        assert_eq!(ring.publish(&memory), Ok(true));
        let word = |at| [0, 2].map(|more| memory.u16(USED + 4 + at + more).expect("in bounds"))[0];
        assert_eq!((memory.u16(USED + 2), [0, 4, 8, 12].map(word)), (Ok(2), [1, 77, 0, 0]));
        memory.write(AVAILABLE, &NO_INTERRUPT.to_le_bytes()).expect("in bounds");
        assert_eq!(ring.publish(&memory), Ok(false));
        // The indices wrap around.
        let mut round = self::ring();
        round.begin(0xffff);
        offer(&memory, &[1], 0xffff_u16);
        assert_eq!(round.waiting(&memory), Ok(0));
        memory.write(AVAILABLE + 2, &0_u16.to_le_bytes()).expect("in bounds");
        memory.write(AVAILABLE + 4 + 2 * 3, &1_u16.to_le_bytes()).expect("in bounds");
        assert_eq!(round.take(&memory, &mut parts), Ok(Some(1)));
    }

    #[test]
    fn invalid_ring_contents_are_rejected() {
        let (memory, mut parts) = (memory(), Vec::new());
        let mut refused = |why: &str| {
            let found = ring().take(&memory, &mut parts).expect_err("it was taken").to_string();
            assert!(found.contains(why), "{found}");
        };
        memory.write(AVAILABLE + 2, &5_u16.to_le_bytes()).expect("in bounds");
        refused("in which 5 buffers are offered");
        offer(&memory, &[4], 1);
        refused("descriptor 4 of a ring of 4");
        describe(&memory, 0, 0x2000, 12, NEXT, 1);
        describe(&memory, 1, 0x2000, 12, NEXT, 0);
        offer(&memory, &[0], 1);
        refused("without an end");
        describe(&memory, 1, 0x2000, 12, NEXT, 7);
        refused("descriptor 7");
        describe(&memory, 1, 0x2000, 12, INDIRECT, 0);
        refused("indirect");
        let mut far = ring();
        far.locate(0x9_0000, AVAILABLE, USED);
        assert!(matches!(far.take(&memory, &mut parts), Err(RingError::Memory(_))));
        assert!(Ring::default().resize(3).is_err() && Ring::default().resize(65_536).is_err());
    }
}
