//! A capture written during the run. The engine's thread copies frame data into batches. A separate thread
//! generates the frames' bytes and writes them, so the engine never waits for the disk or a checksum. If
//! all batches are full, frames are left out and counted per capture point, in the file (as interface
//! drops) and in the result.

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use serde::Serialize;
use stillair_model::types::{FrameView, Instant, Sink, TraceEvent};
use stillair_sim::capture::{self, Captured, Encoder, FrameBatch, Selection, Watcher};
use stillair_sim::scenario::Scenario;
use thiserror::Error;

use crate::sys::{clock, reason};

/// Errors of a capture.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The selected points or the frame length are wrong; the message is the simulator's.
    #[error("{0}")]
    Selection(String),
    /// The file cannot be created.
    #[error("{path}: the capture cannot be written there: {}", reason(source))]
    Create {
        /// Path of the file.
        path: String,
        /// The failure.
        source: io::Error,
    },
    /// The file was not written.
    #[error("{path}: the capture could not be written: {}", reason(source))]
    Write {
        /// Path of the file.
        path: String,
        /// The failure.
        source: io::Error,
    },
}

/// Maximum number of batches, of 256 KB each: 128 MB of frames, or two seconds at 600 Mbit/s. Batches are
/// allocated on demand.
const BATCHES: usize = 512;
/// Bytes of whole blocks per write. On a kernel without preemption, a write keeps the engine off that
/// processor: 5 ms for 6 MB.
const PIECE: usize = 1 << 16;

/// Result of a capture.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Written {
    /// Path of the file.
    pub path: String,
    /// Number of frames in the file, by capture point.
    pub frames: std::collections::BTreeMap<String, u64>,
    /// Number of frames left out at all points because all batches were full.
    pub lost: u64,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// CPU time of the capture thread in user space, in s.
    pub cpu_user_s: f64,
    /// CPU time of the capture thread in the kernel, in s.
    pub cpu_system_s: f64,
}

/// Result of the capture thread: the frames in the file, and its CPU time in ns.
type Ended = io::Result<(Captured, [u64; 2])>;

/// The thread that produces the frames' bytes and writes them.
#[derive(Debug)]
pub struct CaptureThread {
    path: String,
    thread: JoinHandle<Ended>,
}

/// The engine's side of a capture, and the capture thread. Start both before the engine changes its priority.
pub type Started = (FrameBatches, CaptureThread);

/// Starts a capture of some points into an open file. An empty list of points means the air of every channel.
/// At most `snaplen` bytes of each frame are kept; zero keeps all. The error says what is wrong with the
/// points.
pub fn start(
    scenario: &Scenario,
    points: &[String],
    snaplen: u32,
    path: &str,
    file: File,
) -> Result<Started, CaptureError> {
    let (watcher, encoder) = capture::halves(scenario, &selection(points, snaplen), WholeBlocks::new(file))
        .map_err(|why| CaptureError::Selection(why.to_string()))?;
    let (batches, thread) = FrameBatches::with_thread(watcher, encoder, BATCHES);
    Ok((batches, CaptureThread { path: path.to_owned(), thread }))
}

/// Checks the points of a capture. The error says what is wrong.
pub fn check(scenario: &Scenario, points: &[String], snaplen: u32) -> Result<(), CaptureError> {
    selection(points, snaplen).check(scenario).map_err(|why| CaptureError::Selection(why.to_string()))
}

fn selection(points: &[String], snaplen: u32) -> Selection {
    Selection { points: points.to_vec(), from: Instant::ZERO, until: Instant::NEVER, snaplen }
}

impl CaptureThread {
    /// Ends the capture with the run, and waits until everything is written.
    pub fn finish(self, batches: FrameBatches, end: Instant) -> Result<Written, CaptureError> {
        let Self { path, thread } = self;
        let lost = batches.watcher.left_out().iter().sum();
        batches.end(end);
        let ended = thread.join().unwrap_or_else(|_| Err(io::Error::other("the capture thread ended")));
        let (Captured { frames, bytes }, cpu) = match ended {
            Ok(captured) => captured,
            Err(source) => return Err(CaptureError::Write { path, source }),
        };
        let [cpu_user_s, cpu_system_s] = cpu.map(|nanos| nanos as f64 / 1e9);
        Ok(Written { frames: frames.into_iter().collect(), lost, bytes, path, cpu_user_s, cpu_system_s })
    }
}

/// Input of the capture thread.
#[derive(Debug)]
enum Given {
    /// Frames.
    FrameBatch(Box<FrameBatch>),
    /// The end of the run, and the number of frames left out per capture point.
    End(Instant, Vec<u64>),
}

/// The engine's side of a capture: passes batches with frames to the capture thread, and takes empty ones
/// back.
#[derive(Debug)]
pub struct FrameBatches {
    watcher: Watcher,
    batch: Box<FrameBatch>,
    /// Channel to the capture thread. It has room for all batches and the end, so sending never blocks.
    full: SyncSender<Given>,
    empty: Receiver<Box<FrameBatch>>,
    /// Batches allocated so far, and their maximum number.
    made: usize,
    most: usize,
}

impl FrameBatches {
    fn with_thread<W: Write + Send + 'static>(
        watcher: Watcher,
        encoder: Encoder<W>,
        most: usize,
    ) -> (Self, JoinHandle<Ended>) {
        let (full, given) = sync_channel(most + 1);
        let (give_back, empty) = sync_channel(most);
        let thread = std::thread::spawn(move || write(encoder, &given, &give_back));
        (Self { watcher, batch: Box::default(), full, empty, made: 1, most }, thread)
    }

    /// Swaps the full batch for an empty one. If no batch is free, keeps the full batch; further frames are
    /// left out.
    fn give(&mut self) {
        let empty = match self.empty.try_recv() {
            Ok(batch) => batch,
            Err(_) if self.made < self.most => {
                self.made += 1;
                Box::default()
            }
            Err(_) => return,
        };
        let full = core::mem::replace(&mut self.batch, empty);
        // Fails if the thread has ended; the thread reports the reason at the end.
        let _ = self.full.try_send(Given::FrameBatch(full));
    }

    /// Sends the last batch and the end of the run.
    fn end(self, end: Instant) {
        let Self { watcher, batch, full, .. } = self;
        let _ = full.try_send(Given::FrameBatch(batch));
        let _ = full.try_send(Given::End(end, watcher.left_out().to_vec()));
    }
}

impl Sink for FrameBatches {
    const FRAMES: bool = true;

    #[inline]
    fn event(&mut self, _: Instant, _: &TraceEvent) {}

    fn frame(&mut self, now: Instant, what: &FrameView<'_>) {
        if self.batch.is_full() {
            self.give();
        }
        self.watcher.take(now, what, &mut self.batch);
    }
}

/// Writes batches until the end of the run.
fn write<W: Write>(
    mut encoder: Encoder<W>,
    given: &Receiver<Given>,
    give_back: &SyncSender<Box<FrameBatch>>,
) -> Ended {
    loop {
        match given.recv() {
            Ok(Given::FrameBatch(mut batch)) => {
                encoder.batch(&batch);
                batch.clear();
                let _ = give_back.try_send(batch);
            }
            Ok(Given::End(end, left_out)) => {
                return encoder.finish(end, &left_out).map(|captured| (captured, clock::cpu()));
            }
            // The run has failed.
            Err(_) => return Err(io::Error::other("the run has ended")),
        }
    }
}

/// A pcapng file that grows by whole blocks.
#[derive(Debug)]
struct WholeBlocks<W> {
    file: W,
    made: Vec<u8>,
    /// Bytes of `made` in whole blocks.
    whole: usize,
}

impl<W: Write> WholeBlocks<W> {
    fn new(file: W) -> Self {
        Self { file, made: Vec::new(), whole: 0 }
    }

    fn write_whole(&mut self) -> io::Result<()> {
        let whole = core::mem::take(&mut self.whole);
        let written = self.file.write_all(&self.made[..whole]);
        self.made.drain(..whole);
        written
    }
}

impl<W: Write> Write for WholeBlocks<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for some in bytes.chunks(PIECE) {
            self.made.extend_from_slice(some);
            while let Some(len) = block(&self.made[self.whole..]) {
                self.whole += len;
            }
            if self.whole >= PIECE {
                self.write_whole()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_whole()?;
        self.file.flush()
    }
}

/// Length of the block at the start of `bytes`, if the block is complete.
// spec: draft-ietf-opsawg-pcapng-02 sec. 3.1 - block type, then total length of the block.
fn block(bytes: &[u8]) -> Option<usize> {
    let len = u32::from_le_bytes(*bytes.get(4..8)?.first_chunk()?) as usize;
    (len >= 12 && bytes.len() >= len).then_some(len)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use stillair_model::types::{Seed, Tee};
    use stillair_sim::run::Session;
    use stillair_sim::scenario;

    use super::*;

    const TEXT: &str = r#"
name = "captured"
duration = "2 s"
link.lan = { rate = "1 Gbit/s", delay = "1 ms" }
node.a = { profile = "linux-6.12", interface.eth0 = { link = "lan", address = "10.0.0.1", qdisc = "fq_codel" } }
node.b = { profile = "linux-6.12", interface.eth0 = { link = "lan", address = "10.0.0.2", qdisc = "fq_codel" } }
[[flow]]
kind = "udp"
from = "a"
to = "b"
rate = "100 Mbit/s"
"#;

    /// A writer that blocks until released.
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

    /// Runs the scenario with a capture of at most this many batches.
    fn captured(
        file: impl Write + Send + 'static,
        most: usize,
        meanwhile: impl FnOnce(),
    ) -> Result<Written, CaptureError> {
        let scenario = scenario::parse(TEXT, "captured.toml", &[]).expect("a good scenario");
        let all = selection(&["all".to_owned()], 0);
        let (watcher, encoder) =
            capture::halves(&scenario, &all, WholeBlocks::new(file)).expect("good points");
        let (batches, thread) = FrameBatches::with_thread(watcher, encoder, most);
        let thread = CaptureThread { path: "captured.pcapng".to_owned(), thread };
        let sink = |recorder| Tee(recorder, batches);
        let session = Session::new(&scenario, Seed { seed: 1, run: 0 }, sink).expect("a good scenario");
        let (_, Tee(_, batches)) = session.finish().expect("accounts close");
        meanwhile();
        thread.finish(batches, Instant::from_nanos(scenario.duration.nanos()))
    }

    #[test]
    fn a_run_does_not_wait_for_a_disk() {
        let slow = Slow::default();
        let held = slow.1.lock().expect("not poisoned");
        // The run ends although nothing could be written during it.
        let said = captured(slow.clone(), 2, || drop(held)).expect("all is written then");
        let file = slow.0.lock().expect("not poisoned");
        assert_eq!(said.bytes as usize, file.len());
        let (mut at, mut blocks) = (0, 0);
        while let Some(len) = block(&file[at..]) {
            blocks += u64::from(file[at..].starts_with(&[6, 0, 0, 0]));
            at += len;
        }
        assert_eq!((at, blocks), (file.len(), said.frames.values().sum()), "nothing but whole blocks");
        // 17,000 datagrams at three capture points.
        assert!(said.lost > 20_000 && said.lost + blocks > 45_000, "{said:?}");
    }

    #[test]
    fn nothing_is_lost_with_enough_batches() {
        let slow = Slow::default();
        let held = slow.1.lock().expect("not poisoned");
        let said = captured(slow.clone(), BATCHES, || drop(held)).expect("all is written then");
        assert_eq!(said.lost, 0);
        // Same frames as a capture on one thread.
        let scenario = scenario::parse(TEXT, "captured.toml", &[]).expect("a good scenario");
        let mut whole = Vec::new();
        let all = selection(&["all".to_owned()], 0);
        let capture = capture::Capture::new(&scenario, &all, &mut whole).expect("good points");
        let sink = |recorder| Tee(recorder, capture);
        let session = Session::new(&scenario, Seed { seed: 1, run: 0 }, sink).expect("a good scenario");
        let (_, Tee(_, capture)) = session.finish().expect("accounts close");
        capture.finish(Instant::from_nanos(scenario.duration.nanos())).expect("a file in memory");
        assert!(*slow.0.lock().expect("not poisoned") == whole, "{} bytes", whole.len());
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

    #[test]
    fn a_write_error_is_reported() {
        let why = captured(Full, BATCHES, || {}).expect_err("no room").to_string();
        assert!(why.starts_with("captured.pcapng: the capture could not be written: "), "{why}");
    }
}
