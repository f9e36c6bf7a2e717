//! Buffered output of a capture, written in chunks.

use std::io::{self, Write};

/// Bytes per write: whole, aligned pages, few enough to be still in the CPU cache when the kernel copies
/// them. Writing each frame's payload separately would take twice as long in the kernel.
const CHUNK: usize = 1 << 18;

/// Minimum length of a piece that is written without copying it.
const LARGE: usize = 1 << 16;
/// Page size of the file.
const PAGE: usize = 1 << 12;

/// A capture file being written.
#[derive(Debug)]
pub struct CaptureOutput<W> {
    out: W,
    chunk: Vec<u8>,
    bytes: u64,
    /// First error. Nothing is written after it.
    failed: Option<io::Error>,
}

impl<W: Write> CaptureOutput<W> {
    /// Creates an empty file.
    pub fn new(out: W) -> Self {
        Self { out, chunk: Vec::with_capacity(CHUNK), bytes: 0, failed: None }
    }

    /// Appends bytes.
    pub fn add(&mut self, mut bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if bytes.len() >= LARGE {
            let (first, rest) = bytes.split_at(self.chunk.len().wrapping_neg() % PAGE);
            self.chunk.extend_from_slice(first);
            self.write();
            let (pages, rest) = rest.split_at(rest.len() / PAGE * PAGE);
            self.write_out(pages);
            bytes = rest;
        }
        loop {
            let room = CHUNK - self.chunk.len();
            if bytes.len() < room {
                return self.chunk.extend_from_slice(bytes);
            }
            let (fits, rest) = bytes.split_at(room);
            self.chunk.extend_from_slice(fits);
            self.write();
            bytes = rest;
        }
    }

    fn write_out(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(bytes).err();
        }
    }

    fn write(&mut self) {
        let chunk = core::mem::take(&mut self.chunk);
        self.write_out(&chunk);
        self.chunk = chunk;
        self.chunk.clear();
    }

    /// Writes the remaining bytes. Returns the file length in bytes.
    pub fn finish(mut self) -> io::Result<u64> {
        self.write();
        match self.failed {
            Some(e) => Err(e),
            None => self.out.flush().map(|()| self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A writer that accepts a limited number of bytes.
    struct Small {
        taken: Vec<u8>,
        room: usize,
    }

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.room - self.taken.len());
            self.taken.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn data_is_written_in_order_until_the_output_is_full(
            lengths in proptest::collection::vec(prop_oneof![0..2_000_usize, 0..2 * CHUNK, Just(CHUNK)], 0..12),
            room in prop_oneof![0..2 * CHUNK, Just(usize::MAX)],
        ) {
            // The period does not divide the chunk length, so chunks in the wrong order would be detected.
            let bytes: Vec<u8> = (0..lengths.iter().sum()).map(|n: usize| (n % 251) as u8).collect();
            let mut small = Small { taken: Vec::new(), room };
            let mut out = CaptureOutput::new(&mut small);
            let mut rest = bytes.as_slice();
            for len in lengths {
                let (piece, behind) = rest.split_at(len);
                out.add(piece);
                rest = behind;
            }
            let outcome = out.finish().map_err(|e| e.kind());
            let fits = bytes.len() <= room;
            prop_assert_eq!(outcome, if fits { Ok(bytes.len() as u64) } else { Err(io::ErrorKind::WriteZero) });
            prop_assert!(small.taken == bytes[..bytes.len().min(room)]);
        }
    }
}
