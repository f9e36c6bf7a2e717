//! Stations that receive frames within one TXOP and reply: each draws a backoff, because the medium was busy
//! when its reply was queued.

mod common;

use common::{cell, flow, parse, station};
use stillair_model::types::{Ac, Duration, Instant, PpduKind, Seed, Sink, TraceEvent};
use stillair_sim::world::wire;

/// CW of voice as shipped by hostapd, also for stations: a backoff of 0 to 3 slots.
const WINDOW: f64 = 4.0;
const PINGS: u64 = 30_000;
/// Time for all replies, and for the backoffs after them.
const INTERVAL_MS: u64 = 20;

/// First transmission after each TXOP of the access point.
#[derive(Default)]
struct First {
    repliers: usize,
    /// Requests of the round sent by the access point, and start of the first replies.
    sent: usize,
    began: Option<Instant>,
    /// Replies that started then.
    together: u64,
    /// Rounds, rounds with several first replies, and number of all first replies.
    rounds: u64,
    collided: u64,
    first: u64,
}

impl First {
    fn close(&mut self) {
        if self.began.take().is_some() {
            self.rounds += 1;
            self.collided += u64::from(self.together > 1);
            self.first += self.together;
        }
        (self.sent, self.together) = (0, 0);
    }
}

impl Sink for First {
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        let TraceEvent::Ppdu(t) = what else { return };
        if t.kind != PpduKind::Single {
            return;
        }
        assert_eq!(t.ac, Ac::Vo);
        if t.dev.index() == 0 {
            if self.sent == self.repliers {
                self.close();
            }
            self.sent += 1;
            return;
        }
        assert_eq!(self.sent, self.repliers, "nobody answers before the end of the opportunity, at {now:?}");
        let began = *self.began.get_or_insert(t.start);
        self.together += u64::from(t.start == began);
    }
}

/// Probability that the first transmission collides, and mean number of its participants. Each draws one of
/// `w` slots uniformly.
fn theory(n: usize) -> (f64, f64) {
    // k slots: all others have drawn k or more (for the mean), or more than k (no collision).
    let others = |k: f64| ((WINDOW - k) / WINDOW).powi(n as i32 - 1);
    let mean = |from: f64| n as f64 / WINDOW * (0..4).map(|k| others(f64::from(k) + from)).sum::<f64>();
    (1.0 - mean(1.0), mean(0.0))
}

/// The same values, measured. With bystanders hidden from each other, the channel is simulated frame by
/// frame.
fn measured(n: usize, hidden: bool) -> (f64, f64) {
    measured_on("", n, hidden)
}

fn measured_on(more: &str, n: usize, hidden: bool) -> (f64, f64) {
    let hidden = if hidden { "\nhidden = [[\"x\", \"y\"]]" } else { "" };
    let channel = format!(
        "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"\nbasic_rate = \"ofdm-24\"{hidden}\n{more}"
    );
    let seconds = PINGS * INTERVAL_MS / 1000;
    // One TXOP for all requests: the maximum limit instead of 47 units.
    let ap = "scheme = \"fifo\", tx_queue_data0_burst = \"8 ms\"";
    let mut text = cell(&format!("{seconds} s"), &channel, ap);
    for i in 0..n {
        let name = format!("s{i}");
        text += &station(&name, i, "rate = \"ofdm-54\"");
        text += &flow("udp_ping", "ap", &name, &format!("dscp = \"CS6\"\ninterval = \"{INTERVAL_MS} ms\""));
    }
    text += &(station("x", 98, "rate = \"ofdm-54\"") + &station("y", 99, "rate = \"ofdm-54\""));
    let scenario = parse(&text, &[]);
    let mut world =
        wire(&scenario, Seed { seed: 1, run: n as u64 }, |_| First { repliers: n, ..First::default() }).world;
    let end = Instant::ZERO + Duration::from_secs(seconds);
    world.run_until(end);
    world.close(end).expect("accounts close");
    let seen = &world.trace();
    assert!(seen.rounds + 2 >= PINGS, "{} rounds", seen.rounds);
    let rounds = seen.rounds as f64;
    (seen.collided as f64 / rounds, seen.first as f64 / rounds)
}

fn compare(n: usize, hidden: bool) {
    let (want, got) = (theory(n), measured(n, hidden));
    println!("{n} repliers: collided {:.4} of {:.4}, first {:.4} of {:.4}", got.0, want.0, got.1, want.1);
    assert!((got.0 / want.0 - 1.0).abs() < 0.03, "{n}, hidden {hidden}: {got:?}, theory {want:?}");
    assert!((got.1 / want.1 - 1.0).abs() < 0.03, "{n}, hidden {hidden}: {got:?}, theory {want:?}");
}

#[test]
fn collisions_are_as_frequent_as_equal_backoffs() {
    for n in [2, 3, 5, 8, 13, 20] {
        compare(n, false);
    }
}

#[test]
fn also_frame_by_frame() {
    for n in [2, 8] {
        compare(n, true);
    }
}

/// Radios that only draw a backoff after their own transmissions have none left when they reply: all replies
/// start at the same time.
#[test]
fn radios_without_backoff_on_busy_medium_reply_at_the_same_time() {
    for hidden in [false, true] {
        assert_eq!(measured_on("busy_backoff = false", 3, hidden), (1.0, 3.0), "hidden {hidden}");
    }
}
