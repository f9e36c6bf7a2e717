//! What must hold of a congestion control, whatever happens to its connection.
//!
//! - The window stays between one segment and its clamp.
//! - A threshold is one segment at least.
//! - A connection that is paced has a rate.
//! - A copy does what the original does.

use crate::transport::cc::{AckSample, CaState, CcEvent, CcSock, Controller, CustomController, RateSample};
use crate::vocabulary::{Seed, Stream};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

/// Bytes of data in every segment.
const MSS: u32 = 1_448;

/// Lists of events, and events in each.
const LISTS: u64 = 200;
const EVENTS: u64 = 300;

/// What may happen to a connection.
#[derive(Clone, Copy, Debug)]
pub enum Happens {
    /// So many segments are acknowledged after so many us, with such a round-trip time in us; negative if none was timed.
    Acked(u32, u64, i64),
    /// Nothing is sent for so many us.
    Idle(u64),
    /// So many segments are lost.
    Lost(u32),
    /// The retransmission timer fires.
    Timeout,
    /// The last reduction proves to have been wrong.
    Undone,
}

impl Happens {
    /// One in twenty-five is no acknowledgement.
    fn draw(random: &mut Stream) -> Self {
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

/// A controller with a connection to which things happen.
#[derive(Clone, Debug)]
pub struct Fed<C> {
    cc: C,
    sk: CcSock,
}

impl<C: Controller> Fed<C> {
    /// A connection of 20 ms that has just been established, with a clamp of 50,000 segments.
    pub fn new(mut cc: C) -> Self {
        let mut sk = CcSock {
            is_cwnd_limited: true,
            mss_cache: MSS,
            app_limited: 0,
            snd_una: 1,
            snd_nxt: 1,
            unsent: 1 << 20,
            pacing_rate: 0,
            srtt_us: 20_000 << 3,
            min_rtt_us: 20_000,
            snd_cwnd_clamp: 50_000,
            ..CcSock::new(Seed { seed: 1, run: 0 }.stream("cc"))
        };
        cc.init(&mut sk);
        Self { cc, sk }
    }

    /// The connection.
    pub fn sock(&self) -> &CcSock {
        &self.sk
    }

    /// Something happens to it; an error says what does not hold after it.
    pub fn happens(&mut self, happens: Happens) -> Result<(), String> {
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
                if !self.cc.cong_control(&mut self.sk, &rs) {
                    self.sk.snd_cwnd = self.sk.snd_ssthresh;
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
        if !(1..=sk.snd_cwnd_clamp).contains(&sk.snd_cwnd) {
            return Err(format!("a window of {} segments, of 1 to {}", sk.snd_cwnd, sk.snd_cwnd_clamp));
        }
        if sk.snd_ssthresh == 0 {
            return Err("a threshold of no segment".to_owned());
        }
        if sk.needs_pacing && sk.pacing_rate == 0 {
            return Err("a connection that is paced, with a rate of 0".to_owned());
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
        if !self.cc.cong_control(&mut self.sk, &rs) {
            let una = self.sk.snd_una;
            self.cc.cong_avoid(&mut self.sk, una, n);
        }
    }

    /// After `event` a copy from before it is as this is.
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

    /// So many us pass.
    fn pass(&mut self, us: u64) {
        let sk = &mut self.sk;
        sk.now_us += us;
        sk.clock_ns = sk.now_us * 1_000;
        sk.jiffies = (sk.now_us * u64::from(sk.hz) / 1_000_000) as u32;
    }
}

/// Puts controllers that `make` makes through random lists of events; an error says what does not hold (see the [module](self)).
pub fn controller<C: CustomController + Clone>(make: impl Fn() -> C) -> Result<(), String> {
    for list in 0..LISTS {
        let mut random = Seed { seed: list, run: 0 }.stream("events");
        let mut fed = Fed::new(make());
        for nth in 0..EVENTS {
            let event = Happens::draw(&mut random);
            // Seldom, as it doubles the work.
            let copy = (nth % 16 == 0).then(|| fed.clone());
            let held = fed.happens(event).and_then(|()| match copy {
                Some(copy) => fed.is_what_becomes_of(copy, event),
                None => Ok(()),
            });
            held.map_err(|why| format!("list {list}, event {nth}, {event:?}: {why}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that leaves so many segments after a loss, and counts its losses somewhere else.
    #[derive(Clone, Debug, Default)]
    struct Wrong {
        leaves: u32,
        losses: alloc::sync::Arc<std::sync::atomic::AtomicU32>,
    }

    impl Controller for Wrong {
        fn ssthresh(&mut self, _: &mut CcSock) -> u32 {
            self.leaves + self.losses.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
        }
        fn cong_avoid(&mut self, sk: &mut CcSock, _: u32, acked: u32) {
            sk.snd_cwnd = (sk.snd_cwnd + acked).min(sk.snd_cwnd_clamp);
        }
    }

    #[test]
    fn wrong_ones_are_found() {
        let says = |leaves| controller(|| Wrong { leaves, ..Wrong::default() }).expect_err("wrong");
        assert!(says(0).ends_with("a threshold of no segment"), "{}", says(0));
        assert!(says(2).contains("a copy does something else"), "{}", says(2));
    }
}
