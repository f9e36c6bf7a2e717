//! Buffered output of a capture, written in chunks.

use std::io::{self, Write};

/// Bytes written at once: whole pages at whole pages' places in the file, and few enough to be still in the
/// processor's cache when the kernel copies them. A piece for each frame's payload costs it twice as much.
const CHUNK: usize = 1 << 18;

/// Bytes in one piece that are written from where they lie, without a copy, from this many on.
const LARGE: usize = 1 << 16;
/// A page of the file.
const PAGE: usize = 1 << 12;

/// A capture file that is being written.
#[derive(Debug)]
pub struct CaptureOutput<W> {
    out: W,
    chunk: Vec<u8>,
    bytes: u64,
    /// The first error; after it nothing is written.
    failed: Option<io::Error>,
}

impl<W: Write> CaptureOutput<W> {
    /// An empty file.
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

    /// Writes the remaining bytes. Returns the length of the file in bytes.
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

    /// Has room for so many bytes.
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
        fn all_is_written_in_order_until_there_is_no_room(
            lengths in proptest::collection::vec(prop_oneof![0..2_000_usize, 0..2 * CHUNK, Just(CHUNK)], 0..12),
            room in prop_oneof![0..2 * CHUNK, Just(usize::MAX)],
        ) {
            // No period of a chunk's length, so that chunks in a wrong order would show.
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
