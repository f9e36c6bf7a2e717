//! Queueing schemes by name.

/// How a Wi-Fi device queues and schedules, under the scenario's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// `fifo`: pfifo_fast over the driver's own queues.
    Fifo,
    /// `fq_codel`: the qdisc over the driver's own queues.
    FqCodel,
    /// `fq_mac`: queues in the MAC, served in turn.
    FqMac,
    /// `airtime`: queues in the MAC, served by airtime as ath9k does it.
    Airtime,
    /// `airtime_as_printed`: the same by the paper's listing.
    AirtimeAsPrinted,
    /// `mac80211`: queues in the MAC, served by airtime as mac80211 has done since 5.1.
    Mac80211,
    /// `ath9k_htc`: pfifo_fast over a device behind USB.
    Ath9kHtc,
    /// `ath10k`: queues in the MAC over firmware that makes the aggregates, with airtime queue limits.
    Ath10k,
    /// `ath11k`: the same without limits and airtime fairness.
    Ath11k,
    /// `mt76`: the same with limits, and airtime by the hardware's counters.
    Mt76,
}

impl Scheme {
    /// All, under their names.
    pub const ALL: [(&'static str, Self); 10] = [
        ("fifo", Self::Fifo),
        ("fq_codel", Self::FqCodel),
        ("fq_mac", Self::FqMac),
        ("airtime", Self::Airtime),
        ("airtime_as_printed", Self::AirtimeAsPrinted),
        ("mac80211", Self::Mac80211),
        ("ath9k_htc", Self::Ath9kHtc),
        ("ath10k", Self::Ath10k),
        ("ath11k", Self::Ath11k),
        ("mt76", Self::Mt76),
    ];
}

impl Scheme {
    /// Its name in a scenario.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, scheme)| *scheme == self).map_or("", |(name, _)| *name)
    }
}
