//! A capture written during the run. The engine makes the frames' bytes, and a separate thread writes them, so that the engine
//! never waits for the disk. If the writer's queue is full, frames are lost and counted for each capture point: in the file, as
//! drops of the interface, and in the result.

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use serde::Serialize;
use stillair_model::vocabulary::Instant;
use stillair_sim::capture::{Capture, Selection};
use stillair_sim::scenario::Scenario;

/// Bytes of whole blocks in a piece.
const PIECE: usize = 1 << 16;
/// Most pieces in the writer's queue: 16 MB of blocks, 1 s at 130 Mbit/s.
const WAITING: usize = 256;

// spec: draft-ietf-opsawg-pcapng-02 sec. 4.3, 4.6 - the type, then the interface; of statistics options behind a time.
const FRAME: u32 = 6;
const STATISTICS: u32 = 5;
const END: usize = 4;
const DROPPED: u16 = 5;

/// Result of a capture.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Written {
    /// The file.
    pub path: String,
    /// Frames in the file by capture point.
    pub frames: std::collections::BTreeMap<String, u64>,
    /// Frames of all points that are missing from the file because the writer's queue was full.
    pub lost: u64,
    /// Length of the file.
    pub bytes: u64,
}

/// The thread that writes, and what was lost on the way to it.
#[derive(Debug)]
pub struct WriterThread {
    path: String,
    thread: JoinHandle<io::Result<u64>>,
    lost: Arc<Mutex<Vec<u64>>>,
}

/// A running capture and its thread. Start the thread before the engine gets its real-time priority.
pub type Started = (Capture<Blocks>, WriterThread);

/// Starts a capture of `points` into an open file; without points, of the air of every channel. At most `snaplen` bytes of each
/// frame are kept; 0 keeps all. The error says what is wrong with the points.
pub fn start(
    scenario: &Scenario,
    points: &[String],
    snaplen: u32,
    path: &str,
    file: File,
) -> Result<Started, String> {
    let all = Selection { points: points.to_vec(), from: Instant::ZERO, until: Instant::NEVER, snaplen };
    let (blocks, thread, lost) = Blocks::into_thread(file);
    let capture = Capture::new(scenario, &all, blocks)?;
    Ok((capture, WriterThread { path: path.to_owned(), thread, lost }))
}

/// Checks the points of a capture; the error says what is wrong.
pub fn check(scenario: &Scenario, points: &[String], snaplen: u32) -> Result<(), String> {
    let all = Selection { points: points.to_vec(), from: Instant::ZERO, until: Instant::NEVER, snaplen };
    all.check(scenario)
}

impl WriterThread {
    /// Ends the capture at the end of the run and waits until the file is written.
    pub fn finish(self, capture: Capture<Blocks>, end: Instant) -> Result<Written, String> {
        let Self { path, thread, lost } = self;
        let wrong =
            |e: io::Error| format!("{path}: the capture could not be written: {}", crate::sys::reason(&e));
        let captured = capture.finish(end).map_err(wrong)?;
        let written = thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread has ended")));
        let bytes = written.map_err(wrong)?;
        let lost = lost.lock().unwrap_or_else(PoisonError::into_inner);
        let each = |(n, (name, frames)): (usize, (String, u64))| (name, frames - of(&lost, n));
        let frames = captured.frames.into_iter().enumerate().map(each).collect();
        Ok(Written { frames, lost: lost.iter().sum(), bytes, path })
    }
}

fn of(lost: &[u64], n: usize) -> u64 {
    lost.get(n).copied().unwrap_or(0)
}

/// Takes a pcapng file as it is made, and gives it to a thread in pieces of whole blocks.
#[derive(Debug)]
pub struct Blocks {
    made: Vec<u8>,
    /// Bytes of `made` that are whole blocks.
    whole: usize,
    pieces: SyncSender<Vec<u8>>,
    used: Receiver<Vec<u8>>,
    lost: Arc<Mutex<Vec<u64>>>,
    /// The first piece has what the others are read by.
    first: bool,
}

type Threaded = (Blocks, JoinHandle<io::Result<u64>>, Arc<Mutex<Vec<u64>>>);

impl Blocks {
    fn into_thread(mut file: impl Write + Send + 'static) -> Threaded {
        let (pieces, taken) = sync_channel::<Vec<u8>>(WAITING);
        let (give_back, used) = sync_channel(WAITING);
        let lost = Arc::new(Mutex::new(Vec::new()));
        let thread = std::thread::spawn(move || {
            let mut bytes = 0;
            let mut failed = None;
            for mut piece in taken {
                if failed.is_none() {
                    failed = file.write_all(&piece).err();
                    bytes += piece.len() as u64;
                }
                piece.clear();
                let _ = give_back.try_send(piece);
            }
            failed.map_or_else(|| file.flush().map(|()| bytes), Err)
        });
        let blocks = Self { made: Vec::new(), whole: 0, pieces, used, lost: lost.clone(), first: true };
        (blocks, thread, lost)
    }

    /// Gives what is whole away; at the end, and at the beginning, it waits for room.
    fn give(&mut self, waits: bool) {
        if self.whole == 0 {
            return;
        }
        let mut piece = self.used.try_recv().unwrap_or_default();
        piece.extend_from_slice(&self.made[self.whole..]);
        core::mem::swap(&mut piece, &mut self.made);
        piece.truncate(self.whole);
        self.whole = 0;
        let waits = waits || core::mem::take(&mut self.first);
        if waits {
            // An error is that the thread has ended, which says why at the end.
            let _ = self.pieces.send(piece);
        } else if let Err(TrySendError::Full(piece)) = self.pieces.try_send(piece) {
            self.lose(&piece);
        }
    }

    /// Counts the frames of a piece that is not written.
    fn lose(&self, piece: &[u8]) {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let mut at = 0;
        while let Some((kind, len)) = block(&piece[at..]) {
            if kind == FRAME {
                let point = word(&piece[at + 8..]) as usize;
                if lost.len() <= point {
                    lost.resize(point + 1, 0);
                }
                lost[point] += 1;
            }
            at += len;
        }
    }

    /// Has the statistics of a point tell what of it was lost.
    fn tell(&mut self, at: usize, len: usize) {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let body = &mut self.made[at..at + len - 4];
        let point = word(&body[8..]) as usize;
        let mut option = 20;
        while let Some([a, b, c, d]) =
            body.get(option..option + END).and_then(|head| head.first_chunk().copied())
        {
            let (code, size) = (u16::from_le_bytes([a, b]), usize::from(u16::from_le_bytes([c, d])));
            if code == DROPPED && size == 8 {
                body[option + END..option + END + 8].copy_from_slice(&of(&lost, point).to_le_bytes());
            }
            if code == 0 {
                break;
            }
            option += END + size.next_multiple_of(4);
        }
    }
}

impl Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.made.extend_from_slice(bytes);
        while let Some((kind, len)) = block(&self.made[self.whole..]) {
            if kind == STATISTICS {
                self.tell(self.whole, len);
            }
            self.whole += len;
        }
        if self.whole >= PIECE {
            self.give(false);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.give(true);
        Ok(())
    }
}

/// Type and length of a block, if all of it is there.
fn block(bytes: &[u8]) -> Option<(u32, usize)> {
    let head = bytes.get(..8)?;
    let len = word(&head[4..]) as usize;
    (len >= 12 && bytes.len() >= len).then(|| (word(head), len))
}

fn word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(point: u32, len: usize) -> Vec<u8> {
        let total = 32 + len as u32;
        let mut out = [FRAME, total, point, 0, 0, len as u32, len as u32].map(u32::to_le_bytes).concat();
        out.extend(std::iter::repeat_n(point as u8, len));
        out.extend(total.to_le_bytes());
        out
    }

    fn statistics(point: u32) -> Vec<u8> {
        let total = 20 + 12 + 4 + 4;
        let mut out = [STATISTICS, total, point, 0, 0].map(u32::to_le_bytes).concat();
        out.extend([DROPPED.to_le_bytes(), 8_u16.to_le_bytes()].concat());
        out.extend([0xff; 8]);
        out.extend([0; 4]);
        out.extend(total.to_le_bytes());
        out
    }

    /// Writes nothing until it is told to.
    #[derive(Clone, Default)]
    struct Slow(Arc<Mutex<Vec<u8>>>, Arc<Mutex<()>>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _goes_on = self.1.lock().expect("not poisoned");
            self.0.lock().expect("not poisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_finds_no_room_is_lost_by_whole_frames_and_told() {
        let slow = Slow::default();
        let (mut blocks, thread, lost) = Blocks::into_thread(slow.clone());
        let held = slow.1.lock().expect("not poisoned");
        // In pieces that end anywhere, as they come.
        let all: Vec<u8> = (0..60_000).flat_map(|n| frame(n % 2, 1_000)).collect();
        all.chunks(777).for_each(|some| blocks.write_all(some).expect("it takes all"));
        drop(held);
        for point in [0, 1] {
            blocks.write_all(&statistics(point)).expect("it takes all");
        }
        blocks.flush().expect("it waits");
        drop(blocks);
        let bytes = thread.join().expect("no panic").expect("all written");
        let written = slow.0.lock().expect("not poisoned");
        let lost = lost.lock().expect("not poisoned");
        assert_eq!(bytes as usize, written.len());
        assert!(lost[0] > 1_000 && lost[1] > 1_000, "{lost:?}");
        let (mut at, mut frames, mut told) = (0, [0; 2], [0; 2]);
        while let Some((kind, len)) = block(&written[at..]) {
            let point = word(&written[at + 8..]) as usize;
            match kind {
                FRAME => frames[point] += 1,
                _ => told[point] = u64::from(word(&written[at + 24..])),
            }
            at += len;
        }
        assert_eq!(at, written.len(), "nothing but whole blocks");
        assert_eq!([frames[0] + told[0], frames[1] + told[1]], [30_000; 2]);
        assert_eq!(told[..], lost[..]);
    }

    #[test]
    fn what_cannot_be_written_is_an_error() {
        let (mut blocks, thread, _) = Blocks::into_thread(Full);
        blocks.write_all(&frame(0, 100)).expect("it takes all");
        blocks.flush().expect("it waits");
        drop(blocks);
        assert_eq!(thread.join().expect("no panic").map_err(|e| e.kind()), Err(io::ErrorKind::StorageFull));
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
