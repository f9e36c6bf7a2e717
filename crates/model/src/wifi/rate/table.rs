//! Rates between two HT or VHT stations, in groups, with the duration of a packet at each.

use crate::types::Duration;
use crate::wifi::phy::{Gi, HtRate, PhyRate, VhtRate, Width};
use alloc::vec::Vec;

/// Capabilities that both ends of an HT or VHT link share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HtCapabilities {
    /// Maximum number of spatial streams, 1 to 4.
    pub streams: u8,
    /// Maximum channel width. HT rates use at most 40 MHz, VHT groups at most 80 MHz.
    pub width: Width,
    /// Support of the short guard interval.
    pub short_gi: bool,
    /// Formats whose rates are used.
    pub formats: Formats,
}

/// Formats whose rates a link uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Formats {
    /// 802.11n only.
    Ht,
    /// 802.11ac only: both ends support VHT.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_vht_only, minstrel_ht_update_caps (4.4, 6.12) -
    // enabled by default: no HT rates for a VHT station.
    Vht,
    /// Both: `minstrel_vht_only` is off.
    HtAndVht,
}

/// PPDU format of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// 802.11n.
    Ht,
    /// 802.11ac.
    Vht,
}

/// A group of rates that differ only in modulation and coding.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_mcs_groups (4.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// Format.
    pub format: Format,
    /// Spatial streams.
    pub streams: u8,
    /// Width.
    pub width: Width,
    /// Guard interval.
    pub gi: Gi,
}

/// Maximum number of rates in a group.
pub const MOST_PLACES: usize = 10;

/// Maximum number of groups of a link: four streams and two guard intervals, with two HT and three VHT
/// widths.
pub const MOST_GROUPS: usize = 4 * 2 * (2 + 3);

impl Group {
    /// Returns the number of places in the group: MCS 0 to 7 of HT, MCS 0 to 9 of VHT.
    pub const fn places(self) -> u8 {
        match self.format {
            Format::Ht => 8,
            Format::Vht => MOST_PLACES as u8,
        }
    }

    /// Returns the rate at index `place`, or `None` if the standard does not allow it.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_get_valid_vht_rates (4.4, 6.12) - excludes MCS 9 at
    // 20 MHz with one, two and four streams and MCS 6 at 80 MHz with three, as in the standard. The peer's
    // VHT capabilities may exclude others.
    // deviation: both ends support MCS 0 to 9 with all their streams - an assumption.
    pub fn rate(self, place: u8) -> Option<PhyRate> {
        let Self { format, streams, width, gi } = self;
        match format {
            Format::Ht => Some(PhyRate::Ht(HtRate { mcs: 8 * (streams - 1) + place, width, gi })),
            Format::Vht => {
                let rate = VhtRate { mcs: place, streams, width, gi };
                rate.is_allowed().then_some(PhyRate::Vht(rate))
            }
        }
    }

    /// Returns all rates of the group, slowest first.
    pub fn rates(self) -> impl Iterator<Item = PhyRate> {
        (0..self.places()).filter_map(move |place| self.rate(place))
    }

    /// Returns the index of a rate, if it belongs to the group.
    pub fn place(self, rate: PhyRate) -> Option<u8> {
        let (format, streams, width, gi, place) = match rate {
            PhyRate::Ht(r) => (Format::Ht, r.streams(), r.width, r.gi, r.mcs % 8),
            PhyRate::Vht(r) => (Format::Vht, r.streams, r.width, r.gi, r.mcs),
            PhyRate::Ofdm(_) | PhyRate::Dsss(..) | PhyRate::He(_) => return None,
        };
        (Self { format, streams, width, gi } == self).then_some(place)
    }

    /// Returns the name used in `rc_stats`.
    pub const fn mode(self) -> &'static str {
        match (self.format, self.width, self.gi) {
            (Format::Ht, Width::Mhz20, Gi::Long) => "HT20/LGI",
            (Format::Ht, Width::Mhz20, Gi::Short) => "HT20/SGI",
            (Format::Ht, _, Gi::Long) => "HT40/LGI",
            (Format::Ht, _, Gi::Short) => "HT40/SGI",
            (Format::Vht, Width::Mhz20, Gi::Long) => "VHT20/LGI",
            (Format::Vht, Width::Mhz20, Gi::Short) => "VHT20/SGI",
            (Format::Vht, Width::Mhz40, Gi::Long) => "VHT40/LGI",
            (Format::Vht, Width::Mhz40, Gi::Short) => "VHT40/SGI",
            (Format::Vht, _, Gi::Long) => "VHT80/LGI",
            (Format::Vht, _, Gi::Short) => "VHT80/SGI",
        }
    }
}

/// Returns the groups of a link in Linux's order: HT before VHT, then by width, guard interval and streams.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_mcs_groups, minstrel_ht_update_caps (4.4, 6.12) - VHT up
// to 80 MHz. Omits the CCK and OFDM groups between them, which no link of this model uses.
pub fn groups(can: HtCapabilities) -> Vec<Group> {
    let of = |format, widths: &'static [Width]| {
        let widths = widths.iter().filter(move |&&width| width <= can.width);
        let kinds = widths.flat_map(|&width| [(width, Gi::Long), (width, Gi::Short)]);
        kinds.filter(move |&(_, gi)| gi == Gi::Long || can.short_gi).flat_map(move |(width, gi)| {
            (1..=can.streams).map(move |streams| Group { format, streams, width, gi })
        })
    };
    const ALL: [Width; 4] = Width::ALL;
    let (ht, vht) = (of(Format::Ht, &ALL[..2]), of(Format::Vht, &ALL[..3]));
    match can.formats {
        Formats::Ht => ht.collect(),
        Formats::Vht => vht.collect(),
        Formats::HtAndVht => ht.chain(vht).collect(),
    }
}

/// Returns all rates of a link, by group.
pub fn rates(can: HtCapabilities) -> impl Iterator<Item = PhyRate> {
    groups(can).into_iter().flat_map(Group::rates)
}

/// Length in bits of the reference packet for comparing rates.
// linux: net/mac80211/rc80211_minstrel_ht.c AVG_PKT_SIZE (4.4) - 1200 bytes.
pub const PACKET_BITS: u64 = 1200 * 8;

/// Returns the duration of a packet's symbols.
// linux: net/mac80211/rc80211_minstrel_ht.c MCS_SYMBOL_TIME, MCS_DURATION (4.4) - whole symbols, plus 0.8 us
// with the short guard interval. VHT: 1/16 of the symbols of sixteen packets.
pub fn packet_time(group: Group, place: u8) -> Duration {
    Duration::from_nanos(match group.format {
        Format::Ht => symbols_time(group, place, PACKET_BITS),
        Format::Vht => sixteenth(group, place),
    })
}

/// Returns the duration of a packet's symbols as 1/16 of those of sixteen packets.
// linux: net/mac80211/rc80211_minstrel_ht.c MCS_DURATION, GROUP_SHIFT (5.12) - sixteen packets; truncates the
// low bits by which the group's slowest rate exceeds 16 bits.
pub fn packet_time_in_aggregate(group: Group, place: u8) -> Duration {
    let shift = 16_u32.saturating_sub((sixteenth(group, 0) as u32).leading_zeros());
    Duration::from_nanos(sixteenth(group, place) >> shift << shift)
}

/// Returns the duration of a packet at one HT stream in 20 MHz with the long guard interval, for comparisons.
// linux: net/mac80211/rc80211_minstrel_ht.c MCS_DURATION (4.11, 5.12) - without truncation.
pub fn packet_time_of_one_stream(place: u8, in_aggregate: bool) -> Duration {
    let one = Group { format: Format::Ht, streams: 1, width: Width::Mhz20, gi: Gi::Long };
    if in_aggregate { Duration::from_nanos(sixteenth(one, place)) } else { packet_time(one, place) }
}

fn sixteenth(group: Group, place: u8) -> u64 {
    symbols_time(group, place, 16 * PACKET_BITS) / 16
}

fn symbols_time(group: Group, place: u8, bits: u64) -> u64 {
    let symbols = bits.div_ceil(bits_per_symbol(group, place));
    match group.gi {
        Gi::Long => symbols * 4_000,
        Gi::Short => (symbols * 18_000 + 4_000) / 5,
    }
}

/// Data bits per symbol.
// linux: net/mac80211/rc80211_minstrel_ht.c VHT_GROUP (4.4, 6.12) - multiplies the bits of one stream by the
// number of streams: three times the 346 bits of MCS 9 at 20 MHz are two bits less than the standard's 1040.
fn bits_per_symbol(Group { format, streams, width, gi }: Group, place: u8) -> u64 {
    let one = match format {
        Format::Ht => HtRate { mcs: place, width, gi }.bits_per_symbol(),
        Format::Vht => VhtRate { mcs: place, streams: 1, width, gi }.bits_per_symbol(),
    };
    u64::from(one) * u64::from(streams)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::phy::PhyRate;
    use alloc::format;

    #[test]
    fn groups_in_order() {
        let names = |formats, streams, width, short_gi| {
            let all = groups(HtCapabilities { streams, width, short_gi, formats });
            all.iter().map(|g| format!("{} {}", g.mode(), g.rate(7).unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(names(Formats::Ht, 1, Width::Mhz20, false), ["HT20/LGI ht20-mcs7-lgi"]);
        assert_eq!(
            names(Formats::Ht, 2, Width::Mhz40, true),
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
            let rate = PhyRate::parse(name).unwrap();
            let (streams, width, gi) =
                (rate.streams(), rate.width(), if name.ends_with("sgi") { Gi::Short } else { Gi::Long });
            let format = if name.starts_with("vht") { Format::Vht } else { Format::Ht };
            let group = Group { format, streams, width, gi };
            let place = group.place(rate).unwrap();
            [packet_time(group, place), packet_time_in_aggregate(group, place)].map(Duration::nanos)
        };
        // 370 and 19 symbols of 3.6 us plus 0.8 us; 5,908 and 296 symbols / 16, with the low 5 and 4 bits
        // truncated.
        assert_eq!(both("ht20-mcs0-sgi"), [1_332_800, 1_329_344]);
        assert_eq!(both("ht20-mcs15-sgi"), [69_200, 66_640]);
        assert_eq!(both("ht20-mcs0-lgi"), [1_480_000, 1_476_992]);
        assert_eq!(both("ht40-mcs7-lgi"), [72_000, 71_248]);
    }
}
