//! A capture written during the run. The engine's thread copies the data of frames into batches. A separate
//! thread produces the frames' bytes and writes them, so that the engine never waits for the disk or for a
//! check sequence. If all batches are full, frames are left out and counted for each capture point: in the
//! file, as drops of the interface, and in the result.

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

/// FrameBatches that there are at most, of 256 KB each: 128 MB of frames, two seconds of 600 Mbit/s. They are
/// made when they are needed.
const BATCHES: usize = 512;
/// Bytes of whole blocks that are written at once. A kernel without preemption gives the engine no processor
/// on which a write is under way: one of 6 MB lasts 5 ms.
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

/// What its thread came to: the frames in the file, and its CPU time in ns.
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
        let ended = thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread has ended")));
        let (Captured { frames, bytes }, cpu) = match ended {
            Ok(captured) => captured,
            Err(source) => return Err(CaptureError::Write { path, source }),
        };
        let [cpu_user_s, cpu_system_s] = cpu.map(|nanos| nanos as f64 / 1e9);
        Ok(Written { frames: frames.into_iter().collect(), lost, bytes, path, cpu_user_s, cpu_system_s })
    }
}

/// What the thread is given.
#[derive(Debug)]
enum Given {
    /// Frames.
    FrameBatch(Box<FrameBatch>),
    /// The end of the run, and by point the frames that were left out.
    End(Instant, Vec<u64>),
}

/// The engine's side of a capture: passes batches with frames to the capture thread, and takes empty ones
/// back.
#[derive(Debug)]
pub struct FrameBatches {
    watcher: Watcher,
    batch: Box<FrameBatch>,
    /// Has room for all batches and the end, so that nothing waits for it.
    full: SyncSender<Given>,
    empty: Receiver<Box<FrameBatch>>,
    /// FrameBatches that have been made, and how many there are at most.
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

    /// Gives a full batch away for an empty one; without one it is kept, and what comes is left out.
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
        // An error is that the thread has ended, which says why at the end.
        let _ = self.full.try_send(Given::FrameBatch(full));
    }

    /// Gives the rest away, and says that it was the rest.
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

/// Writes what it is given until the end.
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
    /// Bytes of `made` that are whole blocks.
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

/// Length of a block, if all of it is there.
// spec: draft-ietf-opsawg-pcapng-02 sec. 3.1 - the type, then the length of the whole block.
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

    /// Takes nothing until it is told to.
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

    /// A run of the scenario, captured with so many batches.
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
        // The run comes to its end though nothing is written before.
        let said = captured(slow.clone(), 2, || drop(held)).expect("all is written then");
        let file = slow.0.lock().expect("not poisoned");
        assert_eq!(said.bytes as usize, file.len());
        let (mut at, mut blocks) = (0, 0);
        while let Some(len) = block(&file[at..]) {
            blocks += u64::from(file[at..].starts_with(&[6, 0, 0, 0]));
            at += len;
        }
        assert_eq!((at, blocks), (file.len(), said.frames.values().sum()), "nothing but whole blocks");
        // 17,000 datagrams at three points.
        assert!(said.lost > 20_000 && said.lost + blocks > 45_000, "{said:?}");
    }

    #[test]
    fn nothing_is_lost_where_there_are_parcels() {
        let slow = Slow::default();
        let held = slow.1.lock().expect("not poisoned");
        let said = captured(slow.clone(), BATCHES, || drop(held)).expect("all is written then");
        assert_eq!(said.lost, 0);
        // The same as of a capture on one thread.
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
    fn what_cannot_be_written_is_an_error() {
        let why = captured(Full, BATCHES, || {}).expect_err("no room").to_string();
        assert!(why.starts_with("captured.pcapng: the capture could not be written: "), "{why}");
    }
}
