//! A congestion control: additive increase that stops when packets start to queue, and a reduction after a
//! loss.

use stillair_cli::model::transport::cc::{CcSock, Controller};
use stillair_cli::model::types::Duration;

/// Minimum window after a loss, in segments.
// linux: net/ipv4/tcp_cong.c tcp_reno_ssthresh (6.1).
const LEAST: u32 = 2;

/// The controller: parameters only, no state.
#[derive(Clone, Debug)]
pub struct Calm {
    gain: u32,
    keep: f64,
    target_us: u32,
}

impl Calm {
    pub fn new(gain: i64, keep: f64, target: Duration) -> Self {
        Self { gain: gain as u32, keep, target_us: (target.nanos() / 1_000) as u32 }
    }

    /// Queueing delay of the path in us; 0 before the first round-trip sample.
    fn queueing_us(sk: &CcSock) -> u32 {
        if sk.min_rtt_us == u32::MAX { 0 } else { (sk.srtt_us >> 3).saturating_sub(sk.min_rtt_us) }
    }
}

impl Controller for Calm {
    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        ((f64::from(sk.snd_cwnd) * self.keep) as u32).max(LEAST)
    }

    fn cong_avoid(&mut self, sk: &mut CcSock, _ack: u32, acked: u32) {
        if !sk.is_cwnd_limited || Self::queueing_us(sk) > self.target_us {
            return;
        }
        if sk.in_slow_start() {
            sk.snd_cwnd = (sk.snd_cwnd + acked).min(sk.snd_cwnd_clamp);
            return;
        }
        // `gain` segments per acknowledged window.
        sk.snd_cwnd_cnt += acked * self.gain;
        let more = sk.snd_cwnd_cnt / sk.snd_cwnd;
        sk.snd_cwnd_cnt %= sk.snd_cwnd;
        sk.snd_cwnd = (sk.snd_cwnd + more).min(sk.snd_cwnd_clamp);
    }
}
