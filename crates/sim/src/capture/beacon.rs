//! The body of a beacon: the elements whose lengths `wifi::phy::frame::BEACON_BODY` lists.

use stillair_model::vocabulary::{Ac, Duration, TimView};
use stillair_model::wifi::air::edca::EdcaSet;
use stillair_model::wifi::phy::Width;

use super::body::Body;
use super::radiotap::Tuning;

/// Name of every network.
const SSID: &[u8; 8] = b"stillair";
/// Time unit.
// spec: ieee80211-2016 3.1 - 1024 us.
const TIME_UNIT: Duration = Duration::from_micros(1_024);

/// A traffic indication map where nobody sleeps.
// spec: ieee80211-2016 9.4.2.6 - this is a DTIM, every beacon is one, no traffic for anybody.
const NOBODY: [u8; 6] = [5, 4, 0, 1, 0, 0];
/// Where it begins behind the time stamp: after interval, capabilities, name, rates and channel.
const TIM_AT: usize = 2 + 2 + 10 + 10 + 3;

/// Writes what follows the time stamp of a beacon with this map in place of one that tells of nobody.
pub fn with_tim(out: &mut Body<'_>, beacon: &[u8], tim: TimView<'_>) {
    let (before, rest) = beacon.split_at(TIM_AT);
    debug_assert_eq!(rest[..NOBODY.len()], NOBODY, "the map is where it was put");
    out.push(before);
    out.push(&map(tim));
    out.push(&rest[NOBODY.len()..]);
}

/// A traffic indication map.
// spec: ieee80211-2016 9.4.2.6 - count, period, bitmap control with the bit of groups and the number of the first byte in pairs, and that
// part of the bitmap.
fn map(tim: TimView<'_>) -> Vec<u8> {
    let (first, bytes) = tim.bitmap;
    let mut out = vec![5, 3 + bytes.len() as u8, tim.count as u8, tim.period as u8];
    out.push(u8::from(tim.group) | first as u8);
    out.extend(bytes);
    out
}

/// What a beacon says.
#[derive(Clone, Copy, Debug)]
pub struct Beacon {
    /// Channel.
    pub tuning: Tuning,
    /// Width of the channel.
    pub width: Width,
    /// Time between beacons.
    pub interval: Duration,
    /// What stations use to contend.
    pub edca: EdcaSet,
}

fn element(out: &mut Vec<u8>, id: u8, content: &[u8]) {
    out.extend([id, content.len() as u8]);
    out.extend(content);
}

impl Beacon {
    /// All after the time stamp, which is the only part that differs between beacons.
    pub fn after_timestamp(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // deviation: a channel of 80 or 160 MHz has no elements of VHT and HE - for a station with HT it is one of 40 MHz.
        let wide = self.width >= Width::Mhz40;
        let Tuning { number, .. } = self.tuning;
        out.extend((self.interval.div_ceil(TIME_UNIT) as u16).to_le_bytes());
        // spec: ieee80211-2016 9.4.1.4 - capabilities: an infrastructure network.
        out.extend(0x0001_u16.to_le_bytes());
        element(&mut out, 0, SSID);
        // spec: ieee80211-2016 9.4.2.3 - units of 500 kbit/s; the basic rates 6, 12 and 24 have the upper bit.
        element(&mut out, 1, &[0x8c, 0x12, 0x98, 0x24, 0xb0, 0x48, 0x60, 0x6c]);
        element(&mut out, 3, &[number]);
        out.extend(NOBODY);
        element(&mut out, 45, &ht_capabilities(wide));
        // spec: ieee80211-2016 9.4.2.57 - primary channel, secondary above and any width, where 40 MHz are used.
        let mut operation = [0; 22];
        operation[..2].copy_from_slice(&[number, if wide { 0x05 } else { 0 }]);
        element(&mut out, 61, &operation);
        element(&mut out, 127, &[0; 8]);
        element(&mut out, 221, &self.wmm());
        out
    }

    /// WMM parameters.
    // spec: ieee80211-2016 9.4.2.29 - a record for each category: AIFSN and index, exponents of the windows, TXOP limit in
    // units of 32 us; the Wi-Fi Alliance's element wraps the same records in a head of its own.
    fn wmm(&self) -> [u8; 24] {
        let mut out = [0; 24];
        out[..8].copy_from_slice(&[0x00, 0x50, 0xf2, 2, 1, 1, 0, 0]);
        for (index, ac) in [Ac::Be, Ac::Bk, Ac::Vi, Ac::Vo].into_iter().enumerate() {
            let p = self.edca.get(ac);
            let exponent = |window: u16| (window + 1).ilog2() as u8;
            let txop = (p.txop / Duration::from_micros(32)) as u16;
            let record = &mut out[8 + 4 * index..][..4];
            record[0] = p.aifsn.min(15) | (index as u8) << 5;
            record[1] = exponent(p.cw_min) | exponent(p.cw_max) << 4;
            record[2..].copy_from_slice(&txop.to_le_bytes());
        }
        out
    }
}

// spec: ieee80211-2016 9.4.2.56 - power save of no kind, short guard interval in all widths; A-MPDUs up to 65535 bytes with
// 8 us between MPDUs; all MCS of four streams.
fn ht_capabilities(wide: bool) -> [u8; 26] {
    let mut out = [0; 26];
    let info = 0x002c_u16 | if wide { 0x0042 } else { 0 };
    out[..2].copy_from_slice(&info.to_le_bytes());
    out[2] = 3 | 6 << 2;
    out[3..7].fill(0xff);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use stillair_model::wifi::phy::Band;
    use stillair_model::wifi::phy::frame::BEACON_BODY;

    #[test]
    fn maps_of_who_sleeps() {
        let tim = |bitmap: (usize, &[u8])| map(TimView { count: 1, period: 2, group: true, bitmap });
        assert_eq!(tim((0, &[0x82])), [5, 4, 1, 2, 1, 0x82]);
        // AIDs 24 and 60: from byte 2 on, which is pair 1.
        assert_eq!(tim((2, &[0, 1, 0, 0, 0, 0x10])), [5, 9, 1, 2, 3, 0, 1, 0, 0, 0, 0x10]);
        assert_eq!(map(TimView { count: 0, period: 1, group: false, bitmap: (0, &[0]) }), NOBODY);
    }

    #[test]
    fn each_element_has_the_length_that_is_counted() {
        let beacon = Beacon {
            tuning: Tuning::of(Band::Ghz5, 0),
            width: Width::Mhz20,
            interval: TIME_UNIT * 100,
            edca: EdcaSet::STATION,
        };
        let bytes = beacon.after_timestamp();
        assert_eq!(bytes[..4], [100, 0, 1, 0]);
        let mut lengths = vec![8, 2, 2];
        let mut rest = &bytes[4..];
        while let [_, len, ..] = *rest {
            lengths.push(u32::from(len) + 2);
            rest = &rest[usize::from(len) + 2..];
        }
        assert_eq!(lengths, BEACON_BODY.map(|(_, len)| len));
        // Best effort: AIFSN 3, 15 to 1023; voice: 2, 3 to 7, 47 units.
        assert_eq!(beacon.wmm()[8..12], [0x03, 0xa4, 0, 0]);
        assert_eq!(beacon.wmm()[20..], [0x62, 0x32, 47, 0]);
    }
}
