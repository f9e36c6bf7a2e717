//! Requirements for congestion controls, whatever the events of the connection.
//!
//! - The window is at least one segment, and no acknowledgement raises it above its clamp. After a loss it
//!   may equal a threshold above the clamp, as with Linux's Westwood.
//! - The threshold is at least one segment.
//! - A paced connection has a rate, set by the control if it sets window and rate itself.
//! - A clone behaves like the original.

use super::or_panic;
use crate::transport::cc::{AckSample, CaState, CcEvent, CcSock, Controller, CustomController, RateSample};
use crate::types::{RandomStream, Seed};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

const MSS: u32 = 1_448;

/// Number of event lists, and events per list.
const LISTS: u64 = 200;
const EVENTS: u64 = 300;

/// An event of a connection.
#[derive(Clone, Copy, Debug)]
pub enum Happens {
    /// Segments acknowledged, time since the last event in us, and round-trip time in us (negative if not
    /// measured).
    Acked(u32, u64, i64),
    /// Nothing is sent for this many microseconds.
    Idle(u64),
    /// This many segments are lost.
    Lost(u32),
    /// The retransmission timer fires.
    Timeout,
    /// The last reduction is undone.
    Undone,
}

impl Happens {
    /// Draws an event; 24 of 25 are acknowledgements.
    fn draw(random: &mut RandomStream) -> Self {
        match random.below(25) {
            0 => Self::Idle(1 + u64::from(random.below(60_000_000))),
            1 | 2 => Self::Lost(1 + random.below(49)),
            3 => Self::Timeout,
            4 => Self::Undone,
            _ => Self::Acked(
                1 + random.below(63),
                1 + u64::from(random.below(50_000)),
                i64::from(random.below(2_000_001)) - 1,
            ),
        }
    }
}

/// A controller with a simulated connection.
#[derive(Clone, Debug)]
pub struct Fed<C> {
    cc: C,
    sk: CcSock,
    /// The control sets window and rate itself, according to its last result.
    controls: bool,
}

impl<C: Controller> Fed<C> {
    /// Creates a new connection with an RTT of 20 ms and a clamp of 50,000 segments.
    pub fn new(cc: C) -> Self {
        Self::clamped(cc, 50_000)
    }

    fn clamped(mut cc: C, snd_cwnd_clamp: u32) -> Self {
        let mut sk = CcSock {
            is_cwnd_limited: true,
            mss_cache: MSS,
            app_limited: 0,
            snd_una: 1,
            snd_nxt: 1,
            unsent: 1 << 20,
            srtt_us: 20_000 << 3,
            min_rtt_us: 20_000,
            snd_cwnd_clamp,
            ..CcSock::new(Seed { seed: 1, run: 0 }.stream("cc"))
        };
        cc.init(&mut sk);
        Self { cc, sk, controls: false }
    }

    /// The connection.
    pub fn sock(&self) -> &CcSock {
        &self.sk
    }

    /// Applies an event. The error names the violated requirement.
    pub fn happens(&mut self, happens: Happens) -> Result<(), String> {
        let before = self.sk.snd_cwnd;
        match happens {
            Happens::Acked(n, us, rtt_us) => self.acked(n, us, rtt_us),
            Happens::Idle(us) => {
                self.sk.packets_out = 0;
                self.pass(us);
                self.cc.cwnd_event(&mut self.sk, CcEvent::TxStart);
            }
            Happens::Lost(n) => {
                self.sk.lost += n;
                self.sk.prior_cwnd = self.sk.snd_cwnd;
                self.sk.snd_ssthresh = self.cc.ssthresh(&mut self.sk);
                self.state(CaState::Recovery);
                let rs = RateSample { losses: n as i32, ..RateSample::default() };
                self.controls = self.cc.cong_control(&mut self.sk, &rs);
                if !self.controls {
                    self.sk.snd_cwnd = self.sk.snd_ssthresh;
                    self.pace();
                }
                self.cc.cwnd_event(&mut self.sk, CcEvent::CompleteCwr);
            }
            Happens::Timeout => {
                self.sk.prior_cwnd = self.sk.snd_cwnd;
                self.sk.snd_ssthresh = self.cc.ssthresh(&mut self.sk);
                self.cc.cwnd_event(&mut self.sk, CcEvent::Loss);
                self.state(CaState::Loss);
                self.sk.snd_cwnd = 1;
                self.sk.packets_out = 0;
            }
            Happens::Undone => {
                self.sk.snd_cwnd = self.cc.undo_cwnd(&mut self.sk).min(self.sk.snd_cwnd_clamp);
            }
        }
        let sk = &self.sk;
        let threshold = if matches!(happens, Happens::Lost(_)) { sk.snd_ssthresh } else { 0 };
        let most = sk.snd_cwnd_clamp.max(before).max(threshold);
        if !(1..=most).contains(&sk.snd_cwnd) {
            return Err(format!("a window of {} segments, of 1 to {most}", sk.snd_cwnd));
        }
        if sk.snd_ssthresh == 0 {
            return Err("a threshold of no segment".to_owned());
        }
        if sk.needs_pacing && (sk.pacing_rate == 0 || self.controls && sk.pacing_rate == u64::MAX) {
            let found = if sk.pacing_rate == 0 { "with a rate of 0" } else { "and nobody sets its rate" };
            return Err(format!("a connection that is paced, {found}"));
        }
        Ok(())
    }

    fn acked(&mut self, n: u32, us: u64, rtt_us: i64) {
        self.pass(us);
        let (cc, sk) = (&mut self.cc, &mut self.sk);
        sk.packets_out = sk.snd_cwnd.max(n) - n;
        sk.snd_nxt = sk.snd_una.wrapping_add(sk.snd_cwnd.max(n) * MSS);
        sk.snd_una = sk.snd_una.wrapping_add(n * MSS);
        let prior_delivered = sk.delivered;
        sk.delivered += n;
        sk.delivered_mstamp = sk.now_us;
        cc.in_ack_event(sk, false);
        let in_flight = sk.snd_cwnd.saturating_mul(MSS);
        cc.pkts_acked(sk, &AckSample { pkts_acked: n, rtt_us, in_flight });
        self.state(CaState::Open);
        let rs = RateSample {
            prior_delivered,
            delivered: n as i32,
            interval_us: us as i64,
            rtt_us,
            acked_sacked: n,
            prior_in_flight: self.sk.packets_out + n,
            ..RateSample::default()
        };
        self.controls = self.cc.cong_control(&mut self.sk, &rs);
        if !self.controls {
            let una = self.sk.snd_una;
            self.cc.cong_avoid(&mut self.sk, una, n);
            self.pace();
        }
    }

    /// Sets the pacing rate as the sender does for controls that do not set it.
    // linux: net/ipv4/tcp_input.c tcp_cong_control, tcp_update_pacing_rate (6.1) - with the default ratios.
    fn pace(&mut self) {
        let sk = &mut self.sk;
        let ratio = if sk.snd_cwnd < sk.snd_ssthresh / 2 { 200 } else { 120 };
        let window = u64::from(sk.mss_cache) * u64::from(sk.snd_cwnd.max(sk.packets_out));
        sk.pacing_rate = window * ratio * (8 * 1_000_000 / 100) / u64::from(sk.srtt_us.max(1));
    }

    /// Checks that a clone from before `event` ends in the same state.
    fn is_what_becomes_of(&self, mut copy: Self, event: Happens) -> Result<(), String> {
        copy.happens(event)?;
        let shown = |sk: &CcSock| (sk.snd_cwnd, sk.snd_ssthresh, sk.pacing_rate);
        let (own, other) = (shown(&self.sk), shown(&copy.sk));
        let says =
            || format!("a copy does something else: window, threshold and rate {other:?}, not {own:?}");
        if own == other { Ok(()) } else { Err(says()) }
    }

    fn state(&mut self, new: CaState) {
        if self.sk.ca_state != new {
            self.cc.set_state(&mut self.sk, new);
            self.sk.ca_state = new;
        }
    }

    fn pass(&mut self, us: u64) {
        let sk = &mut self.sk;
        sk.now_us += us;
        sk.clock_ns = sk.now_us * 1_000;
        sk.jiffies = (sk.now_us * u64::from(sk.hz) / 1_000_000) as u32;
    }
}

/// Runs controllers created by `make` through random lists of events. The error names the violated
/// requirement (see the [module](self)).
pub fn controller<C: CustomController + Clone>(make: impl Fn() -> C) -> Result<(), String> {
    for list in 0..LISTS {
        let mut random = Seed { seed: list, run: 0 }.stream("events");
        // One clamp that is rarely reached, and one that limits almost always.
        let clamp = if list % 2 == 0 { 50_000 } else { 40 };
        let mut fed = or_panic(|| Ok(Fed::clamped(make(), clamp)))?;
        for nth in 0..EVENTS {
            let event = Happens::draw(&mut random);
            let held = or_panic(|| {
                // Only every 16th event, as it doubles the work.
                let copy = (nth % 16 == 0).then(|| fed.clone());
                fed.happens(event)?;
                copy.map_or(Ok(()), |copy| fed.is_what_becomes_of(copy, event))
            });
            held.map_err(|why| format!("list {list}, event {nth}, {event:?}: {why}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::sync::Arc;
    use core::sync::atomic::{AtomicU32, Ordering};

    /// Reno with one fault.
    #[derive(Clone, Debug)]
    struct Wrong {
        fault: &'static str,
        losses: Arc<AtomicU32>,
    }

    impl Controller for Wrong {
        fn init(&mut self, sk: &mut CcSock) {
            sk.needs_pacing = self.fault.contains("paced");
        }
        fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
            match self.fault {
                "leaves nothing" => 0,
                "counts elsewhere" => 2 + self.losses.fetch_add(1, Ordering::Relaxed),
                "gives up" => panic!("too many"),
                _ => (sk.snd_cwnd / 2).max(2),
            }
        }
        fn cong_avoid(&mut self, sk: &mut CcSock, _: u32, acked: u32) {
            let most = if self.fault == "grows beyond" { u32::MAX } else { sk.snd_cwnd_clamp };
            sk.snd_cwnd = (sk.snd_cwnd + acked).min(most);
            if self.fault == "closes" && acked > 60 {
                sk.snd_cwnd = 0;
            }
        }
        fn cong_control(&mut self, sk: &mut CcSock, _: &RateSample) -> bool {
            if self.fault == "paced at 0" {
                sk.pacing_rate = 0;
            }
            self.fault.ends_with("by itself") || self.fault == "paced at 0"
        }
        fn undo_cwnd(&mut self, sk: &mut CcSock) -> u32 {
            if self.fault == "undoes all" { 0 } else { sk.snd_cwnd.max(sk.prior_cwnd) }
        }
    }

    #[test]
    fn faulty_controllers_are_detected() {
        for (fault, said) in [
            ("none", ""),
            // The sender sets the rate.
            ("paced", ""),
            ("by itself", ""),
            ("paced by itself", "a connection that is paced, and nobody sets its rate"),
            ("paced at 0", "a connection that is paced, with a rate of 0"),
            ("leaves nothing", "a threshold of no segment"),
            ("counts elsewhere", "a copy does something else"),
            ("grows beyond", "segments, of 1 to 40"),
            ("closes", "a window of 0 segments"),
            ("undoes all", "Undone: a window of 0 segments"),
            ("gives up", "it panicked: too many"),
        ] {
            match controller(|| Wrong { fault, losses: Arc::default() }) {
                Ok(()) => assert_eq!(said, "", "{fault}"),
                Err(what) => assert!(!said.is_empty() && what.contains(said), "{fault}: {what}"),
            }
        }
    }
}
