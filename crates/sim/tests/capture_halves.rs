//! A capture in two halves writes the same file as a single one. Frames that do not fit are counted, and do
//! not change the rest.

mod common;

use common::external::{
    SEED as OUTSIDE_SEED, SERVER, SERVER_IP, STATION, STATION_IP, all_left, at_ms, entering, ip, text,
};
use common::parse;
use stillair_model::types::{Addr, FrameView, Instant, Seed, Sink, Tee, TraceEvent};
use stillair_sim::capture::{Capture, Captured, Encoder, FrameBatch, Selection, Watcher, halves};
use stillair_sim::run::Session;
use stillair_sim::scenario::{self, Scenario};
use stillair_sim::world::wire;

/// The half next to the world; stores full batches.
struct Apart {
    watcher: Watcher,
    batches: Vec<FrameBatch>,
    /// Index of a batch that accepts nothing more after it is full, until the next would be full.
    stuck: Option<usize>,
    /// Frames or exchanges omitted meanwhile.
    left: usize,
}

impl Apart {
    fn new(watcher: Watcher, stuck: Option<usize>) -> Self {
        Self { watcher, batches: vec![FrameBatch::default()], stuck, left: 300 }
    }
}

impl Sink for Apart {
    const FRAMES: bool = true;
    fn event(&mut self, _: Instant, _: &TraceEvent) {}
    fn frame(&mut self, now: Instant, what: &FrameView<'_>) {
        let last = self.batches.len() - 1;
        if self.batches[last].is_full() {
            if self.stuck == Some(last) && self.left > 0 {
                self.left -= 1;
            } else {
                self.batches.push(FrameBatch::default());
            }
        }
        self.watcher.take(now, what, self.batches.last_mut().expect("there is one"));
    }
}

/// Writes all batches.
fn written(apart: &Apart, mut encoder: Encoder<&mut Vec<u8>>, end: Instant) -> Captured {
    apart.batches.iter().for_each(|batch| encoder.batch(batch));
    encoder.finish(end, apart.watcher.left_out()).expect("a file in memory")
}

fn selection(points: &str, snaplen: u32) -> Selection {
    Selection { points: vec![points.to_owned()], from: Instant::ZERO, until: Instant::NEVER, snaplen }
}

/// Captures a run directly and in halves. Returns both files and the state of the halves.
fn both(scenario: &Scenario, all: &Selection, stuck: Option<usize>) -> (Vec<u8>, Vec<u8>, Apart, Captured) {
    let (mut whole, mut parts) = (Vec::new(), Vec::new());
    let capture = Capture::new(scenario, all, &mut whole).expect("points are there");
    let (watcher, encoder) = halves(scenario, all, &mut parts).expect("points are there");
    let seed = Seed { seed: 1, run: 0 };
    let sink = |recorder| Tee(recorder, Tee(capture, Apart::new(watcher, stuck)));
    let session = Session::new(scenario, seed, sink).expect("a good scenario");
    let end = session.end();
    let (_, Tee(_, Tee(capture, apart))) = session.finish().expect("accounts close");
    capture.finish(end).expect("a file in memory");
    let captured = written(&apart, encoder, end);
    (whole, parts, apart, captured)
}

fn shipped(name: &str, duration: &str) -> Scenario {
    let file = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).expect("a scenario");
    let sets = [("duration", duration), ("warm_up", "0 s"), ("cool_down", "0 s")];
    let sets = sets.map(|(key, value)| (key.to_owned(), value.to_owned()));
    scenario::parse(&text, &file, &sets).expect("a good scenario")
}

#[test]
fn halves_write_what_a_whole_capture_writes() {
    // TCP over aggregates; power save with TIM elements in beacons; calls; hidden stations; web pages.
    for (name, duration, snaplen) in [
        ("home", "1 s", 0),
        ("home", "1 s", 160),
        ("phone-power-save", "2 s", 0),
        ("hidden", "500 ms", 0),
        ("generations", "300 ms", 200),
        ("anomaly-web", "6 s", 0),
    ] {
        let (whole, parts, apart, _) = both(&shipped(name, duration), &selection("all", snaplen), None);
        assert!(name != "home" || apart.batches.len() > 1, "{} batches", apart.batches.len());
        assert!(whole.len() > 20_000 && whole == parts, "{name}: {} and {} bytes", whole.len(), parts.len());
    }
}

#[test]
fn bytes_of_external_hosts_are_the_same_in_every_length() {
    // Also A-MSDUs. Frames are lost, and after a lost acknowledgement retransmitted without their packets.
    let amsdus = text("external", "ath10k", "").replace("20 MHz", "80 MHz").replace(
        "rate = \"ht20-mcs3-lgi\", retry_chain = [\"mcs3\", \"mcs1\"]",
        "rate = \"vht80-mcs9-nss2-sgi\"",
    );
    for text in [text("external", "fq_codel", ""), amsdus] {
        let scenario = parse(&text, &[]);
        for snaplen in [0, 160, 200, 777] {
            let all = selection("all", snaplen);
            let (mut whole, mut parts) = (Vec::new(), Vec::new());
            let capture = Capture::new(&scenario, &all, &mut whole).expect("points are there");
            let (watcher, encoder) = halves(&scenario, &all, &mut parts).expect("points are there");
            let sink = |recorder| Tee(recorder, Tee(capture, Apart::new(watcher, None)));
            let mut world = wire(&scenario, OUTSIDE_SEED, sink).world;
            for n in 0..900 {
                world.advance(at_ms(u64::from(n / 3)));
                let len = 40 + n * 97 % 1_461;
                let up = ip(len, n, 0, [STATION_IP, SERVER_IP]);
                let _ = world.enter(&entering(&up, STATION, Addr(SERVER.0), None)).expect("a good packet");
                let down = ip(1_500 - len + 40, n, 1 << 2, [SERVER_IP, STATION_IP]);
                let _ = world.enter(&entering(&down, SERVER, Addr(STATION.0), None)).expect("a good packet");
                world.put_through();
            }
            world.advance(at_ms(900));
            assert!(all_left(&mut world).len() > 1_500);
            let Tee(_, Tee(capture, apart)) = world.into_trace();
            capture.finish(at_ms(900)).expect("a file in memory");
            written(&apart, encoder, at_ms(900));
            assert!(whole.len() > 500_000, "{} bytes", whole.len());
            assert!(whole == parts, "snaplen {snaplen}: {} and {} bytes", whole.len(), parts.len());
        }
    }
}

/// Reads all blocks of a file: type and bytes.
fn blocks(file: &[u8]) -> Vec<(u32, &[u8])> {
    let word = |at: usize| u32::from_le_bytes(*file[at..].first_chunk().expect("a word"));
    let (mut found, mut at) = (Vec::new(), 0);
    while at < file.len() {
        let len = word(at + 4) as usize;
        found.push((word(at), &file[at..at + len]));
        at += len;
    }
    found
}

#[test]
fn omitted_frames_are_counted_and_the_rest_is_unchanged() {
    const FRAME: u32 = 6;
    const STATISTICS: u32 = 5;
    for (name, duration) in [("home", "1 s"), ("anomaly-web", "6 s")] {
        let (whole, parts, apart, captured) = both(&shipped(name, duration), &selection("all", 0), Some(0));
        let left_out = apart.watcher.left_out();
        assert_eq!(apart.left, 0, "{name}: some came while there was no room");
        let [whole, parts] = [&whole, &parts].map(|file| blocks(file));
        let count = |all: &[(u32, &[u8])], point: usize| {
            let of = |bytes: &[u8]| bytes[8..12] == (point as u32).to_le_bytes();
            all.iter().filter(|(kind, bytes)| *kind == FRAME && of(bytes)).count() as u64
        };
        for (point, (of, frames)) in captured.frames.iter().enumerate() {
            assert_eq!(
                (count(&parts, point), frames + left_out[point]),
                (*frames, count(&whole, point)),
                "{of}"
            );
        }
        assert!(left_out.iter().sum::<u64>() >= 300, "{name}: {left_out:?}");
        // All frames of the partial file are in the complete file, byte for byte and in the same order: Block
        // Acks, numbers and ports do not depend on omitted frames.
        let mut rest = whole.iter();
        let frames = parts.iter().filter(|(kind, _)| *kind == FRAME);
        assert!(frames.into_iter().all(|frame| rest.any(|other| other == frame)), "{name}");
        // isb_ifdrop, the last option before the end of options, counts the omitted frames.
        let dropped: Vec<u64> = parts
            .iter()
            .filter(|(kind, _)| *kind == STATISTICS)
            .map(|(_, bytes)| u64::from_le_bytes(*bytes[bytes.len() - 16..].first_chunk().expect("a number")))
            .collect();
        assert_eq!(dropped, left_out, "{name}");
    }
}
