//! The rates between two HT stations, in groups, and how long each needs for a packet.

use crate::vocabulary::Duration;
use crate::wifi::phy::{Gi, HtRate, Width};
use alloc::vec::Vec;

/// What both ends of an HT link can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HtCapabilities {
    /// Most spatial streams, 1 to 4.
    pub streams: u8,
    /// Widest channel.
    pub width: Width,
    /// The short guard interval may be used.
    pub short_gi: bool,
}

/// Rates that differ in modulation and code alone.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_mcs_groups (4.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// Spatial streams.
    pub streams: u8,
    /// Width.
    pub width: Width,
    /// Guard interval.
    pub gi: Gi,
}

/// Rates in a group.
pub const GROUP_RATES: usize = 8;

impl Group {
    /// The rate of that place in the group, 0 to 7.
    pub const fn rate(self, n: u8) -> HtRate {
        HtRate { mcs: 8 * (self.streams - 1) + n, width: self.width, gi: self.gi }
    }

    /// Whether it has that rate.
    pub fn holds(self, rate: HtRate) -> bool {
        self.rate(rate.mcs % 8) == rate
    }

    /// Name as in `rc_stats`.
    pub const fn mode(self) -> &'static str {
        match (self.width, self.gi) {
            (Width::Mhz20, Gi::Long) => "HT20/LGI",
            (Width::Mhz20, Gi::Short) => "HT20/SGI",
            (_, Gi::Long) => "HT40/LGI",
            (_, Gi::Short) => "HT40/SGI",
        }
    }
}

/// The groups that a link may use, in Linux's order: by width, then by guard interval, then by streams.
pub fn groups(can: HtCapabilities) -> Vec<Group> {
    let widths = [Width::Mhz20, Width::Mhz40].into_iter().filter(|&w| w <= can.width);
    let kinds = widths.flat_map(|width| [(width, Gi::Long), (width, Gi::Short)]);
    let allowed = kinds.filter(|&(_, gi)| gi == Gi::Long || can.short_gi);
    allowed
        .flat_map(|(width, gi)| (1..=can.streams).map(move |streams| Group { streams, width, gi }))
        .collect()
}

/// All rates of a link, group by group.
pub fn rates(can: HtCapabilities) -> impl Iterator<Item = HtRate> {
    groups(can).into_iter().flat_map(|group| (0..GROUP_RATES as u8).map(move |n| group.rate(n)))
}

/// Length of the packet that rates are compared by, in bits.
// linux: net/mac80211/rc80211_minstrel_ht.c AVG_PKT_SIZE (4.4) - 1200 bytes.
pub const PACKET_BITS: u64 = 1200 * 8;

/// Time of a packet's symbols.
// linux: net/mac80211/rc80211_minstrel_ht.c MCS_SYMBOL_TIME, MCS_DURATION (4.4) - whole symbols; with the short guard
// interval 0.8 us are added.
pub const fn packet_time(rate: HtRate) -> Duration {
    Duration::from_nanos(symbols_time(rate, PACKET_BITS))
}

/// Time of a packet's symbols as a sixteenth of an aggregate's.
// linux: net/mac80211/rc80211_minstrel_ht.c MCS_DURATION, GROUP_SHIFT (5.12) - sixteen packets, and what 16 bits cannot hold
// of a group's slowest rate is cut off.
pub const fn packet_time_in_aggregate(rate: HtRate) -> Duration {
    let slowest = HtRate { mcs: rate.mcs / 8 * 8, width: rate.width, gi: rate.gi };
    let shift = 16_u32.saturating_sub((sixteenth(slowest) as u32).leading_zeros());
    Duration::from_nanos(sixteenth(rate) >> shift << shift)
}

const fn sixteenth(rate: HtRate) -> u64 {
    symbols_time(rate, 16 * PACKET_BITS) / 16
}

const fn symbols_time(rate: HtRate, bits: u64) -> u64 {
    let symbols = bits.div_ceil(rate.bits_per_symbol() as u64);
    match rate.gi {
        Gi::Long => symbols * 4_000,
        Gi::Short => (symbols * 18_000 + 4_000) / 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::phy::PhyRate;
    use alloc::format;

    #[test]
    fn groups_in_order() {
        let names = |streams, width, short_gi| {
            let all = groups(HtCapabilities { streams, width, short_gi });
            all.iter().map(|g| format!("{} {}", g.mode(), g.rate(7))).collect::<Vec<_>>()
        };
        assert_eq!(names(1, Width::Mhz20, false), ["HT20/LGI ht20-mcs7-lgi"]);
        assert_eq!(
            names(2, Width::Mhz40, true),
            [
                "HT20/LGI ht20-mcs7-lgi",
                "HT20/LGI ht20-mcs15-lgi",
                "HT20/SGI ht20-mcs7-sgi",
                "HT20/SGI ht20-mcs15-sgi",
                "HT40/LGI ht40-mcs7-lgi",
                "HT40/LGI ht40-mcs15-lgi",
                "HT40/SGI ht40-mcs7-sgi",
                "HT40/SGI ht40-mcs15-sgi",
            ]
        );
    }

    #[test]
    fn times_of_a_packet() {
        let both = |name: &str| {
            let PhyRate::Ht(rate) = PhyRate::parse(name).unwrap() else { panic!("{name}") };
            [packet_time(rate), packet_time_in_aggregate(rate)].map(Duration::nanos)
        };
        // 370 and 19 symbols of 3.6 us and 0.8 us; 5,908 and 296 of them by 16, less what 5 and 4 bits hold.
        assert_eq!(both("ht20-mcs0-sgi"), [1_332_800, 1_329_344]);
        assert_eq!(both("ht20-mcs15-sgi"), [69_200, 66_640]);
        assert_eq!(both("ht20-mcs0-lgi"), [1_480_000, 1_476_992]);
        assert_eq!(both("ht40-mcs7-lgi"), [72_000, 71_248]);
    }
}
