//! Retry limits of the sender, and pseudo retry-out at the receiver.

use serde_json::{Value as Json, json};
use stillair_model::wifi::rx::retry_out::RetryOutParams;
use stillair_scenario_derive::Section;

use super::super::Wifi;
use super::domain::{Flag, Int};
use super::{Assign, Key, Resolved};

/// Keys of a sender.
#[derive(Section, Clone, Debug, Default)]
#[section(params = Wifi)]
pub struct Sender {
    /// tries after which a frame is given up. `mt76`, `ath10k`, `ath11k`: total hardware tries per frame, in
    /// and outside Block Ack sessions, unless `retry_chain` is set. Other schemes: software retries of frames
    /// in a Block Ack session, counted before the PPDU that failed; `ath9k_htc` counts PPDUs, each with its
    /// whole retry chain
    #[key(to = retry_limit, or = "30 (ath9k) for the schemes `fifo` to `mac80211`; 10 for `ath9k_htc`; 15 for `mt76` (16 for MT7615); 16 for \
        `ath10k` and `ath11k` (assumed; plausible range 4 to 64)")]
    pub retry_limit: Key<Int<0, 255, u8>>,
    /// report PPDUs that failed as a whole to rate control; ath9k reports a PPDU of a Block Ack session only
    /// if at least one frame is acknowledged or given up
    #[key(to = report_failed_ppdus, hidden, or = "true for `mt76`, `ath10k`, `ath11k` (assumed where rate control is in firmware) and \
        `ath9k_htc`; false for ath9k")]
    pub report_failed_ppdus: Key<Flag>,
    /// that limit is 2, 5 and 8 at most for frames sent at less than 25, 50 and 100 Mbit/s
    #[key(to = retry_limit_by_rate, default = "false")]
    pub retry_limit_by_rate: Key<Flag>,
}

/// Options of indexed retry-out.
#[derive(Section, Clone, Debug, Default)]
pub struct Index {
    /// retransmissions that have to come broken, after a first broken reception
    #[key(need = "a whole number")]
    pub index: Key<Int<0, 254, u8>>,
}

kinds! {
    /// Pseudo retry-out.
    pub struct RetryOut: Index => RetryOutParams {
        /// A frame with a TCP segment that came broken three, six or nine times counts as lost, where the
        /// peer's smoothed data rate is below 25, 50 or 100 Mbit/s: frames that wait for it go up, and it is
        /// ignored if it comes after all.
        "by_rate": "Retry-out by rate" => RetryOutParams::ByRate,
        /// The same for all rates.
        "index" needs "a table with its index": "Retry-out at an index" = RetryOutParams::Index(0),
    }
}

/// Keys of a receiver.
#[derive(Section, Clone, Debug, Default)]
#[section(params = Wifi)]
pub struct Receiver {
    /// pseudo retry-out: a frame of a station counts as lost once it has come broken too often
    #[key(to = retry_out, or = "none")]
    pub retry_out: Key<RetryOut>,
}

impl Assign<RetryOutParams> for Index {
    fn assign(&self, params: &mut RetryOutParams) {
        if let Some(index) = self.index.get() {
            *params = RetryOutParams::Index(*index);
        }
    }
}

impl From<RetryOut> for Option<RetryOutParams> {
    fn from(own: RetryOut) -> Self {
        own.params()
    }
}

impl Resolved for RetryOutParams {
    fn json(&self) -> Json {
        match self {
            Self::ByRate => json!({ "kind": "by_rate" }),
            Self::Index(index) => json!({ "kind": "index", "index": index }),
        }
    }
}
