//! Queueing schemes by name.

/// Queueing and scheduling of a Wi-Fi device, by the scenario's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// `fifo`: pfifo_fast above the driver's own queues.
    Fifo,
    /// `fq_codel`: fq_codel as qdisc above the driver's own queues.
    FqCodel,
    /// `fq_mac`: per-station queues in the MAC, served round-robin.
    FqMac,
    /// `airtime`: queues in the MAC with airtime fairness, as in ath9k.
    Airtime,
    /// `airtime_as_printed`: like `airtime`, following the listing printed in the paper.
    AirtimeAsPrinted,
    /// `mac80211`: queues in the MAC with airtime fairness, as in mac80211 since 5.1.
    Mac80211,
    /// `ath9k_htc`: pfifo_fast above a USB device.
    Ath9kHtc,
    /// `ath10k`: queues in the MAC above firmware that builds the aggregates, with airtime queue limits
    /// (AQL).
    Ath10k,
    /// `ath11k`: like `ath10k`, without AQL and airtime fairness.
    Ath11k,
    /// `mt76`: like `ath10k`, with AQL, and with airtime from the hardware's counters.
    Mt76,
}

impl Scheme {
    /// All schemes, with their names.
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
    /// Returns the name of the scheme in a scenario.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, scheme)| *scheme == self).map_or("", |(name, _)| *name)
    }
}
