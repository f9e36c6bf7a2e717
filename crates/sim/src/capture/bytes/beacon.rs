//! Body of a beacon frame. The lengths of its elements are listed in `wifi::phy::frame::BEACON_BODY`, or
//! `BEACON_BODY_6GHZ` at 6 GHz.

use stillair_model::types::{Ac, Duration, TimView};
use stillair_model::wifi::air::edca::EdcaSet;
use stillair_model::wifi::phy::{Band, Width};

use super::body::Body;
use super::radiotap::Tuning;

/// SSID of all networks.
const SSID: &[u8; 8] = b"stillair";
// spec: ieee80211-2016 3.1 - 1024 us.
const TIME_UNIT: Duration = Duration::from_micros(1_024);

/// TIM element without buffered traffic.
// spec: ieee80211-2016 9.4.2.6 - DTIM count 0 and period 1 (every beacon is a DTIM), empty bitmap.
const NOBODY: [u8; 6] = [5, 4, 0, 1, 0, 0];
/// Offset of the TIM after the timestamp: after interval, capabilities, SSID, rates and channel.
const TIM_AT: usize = 2 + 2 + 10 + 10 + 3;

/// Writes the part of a beacon after the timestamp, with this TIM element instead of an empty one.
pub fn with_tim(out: &mut Body<'_>, beacon: &[u8], tim: TimView<'_>) {
    let (before, rest) = beacon.split_at(TIM_AT);
    debug_assert_eq!(rest[..NOBODY.len()], NOBODY, "the map is where it was put");
    out.extend(before);
    out.extend(&map(tim));
    out.extend(&rest[NOBODY.len()..]);
}

/// Returns a TIM element.
// spec: ieee80211-2016 9.4.2.6 - DTIM count and period, bitmap control (group traffic bit and half the offset
// of the first byte), and the partial virtual bitmap.
fn map(tim: TimView<'_>) -> Vec<u8> {
    let (first, bytes) = tim.bitmap;
    let mut out = vec![5, 3 + bytes.len() as u8, tim.count as u8, tim.period as u8];
    out.push(u8::from(tim.group) | first as u8);
    out.extend(bytes);
    out
}

/// Contents of a beacon.
#[derive(Clone, Copy, Debug)]
pub struct Beacon {
    /// Band and primary channel.
    pub tuning: Tuning,
    /// Channel width.
    pub width: Width,
    /// Beacon interval.
    pub interval: Duration,
    /// EDCA parameters of the stations.
    pub edca: EdcaSet,
}

fn element(out: &mut Vec<u8>, id: u8, content: &[u8]) {
    out.extend([id, content.len() as u8]);
    out.extend(content);
}

impl Beacon {
    /// Returns the beacon body after the timestamp, which is the only part that changes between beacons.
    pub fn after_timestamp(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // deviation: a channel of 80 or 160 MHz has no VHT and HE elements; HT stations see a channel of 40
        // MHz.
        let wide = self.width >= Width::Mhz40;
        let Tuning { number, band } = self.tuning;
        let hidden = band == Band::Ghz6;
        out.extend((self.interval.div_ceil(TIME_UNIT) as u16).to_le_bytes());
        // spec: ieee80211-2016 9.4.1.4 - capabilities: an infrastructure network.
        out.extend(0x0001_u16.to_le_bytes());
        element(&mut out, 0, SSID);
        // spec: ieee80211-2016 9.4.2.3 - units of 500 kbit/s; the most significant bit marks the basic rates
        // 6, 12 and 24.
        element(&mut out, 1, &[0x8c, 0x12, 0x98, 0x24, 0xb0, 0x48, 0x60, 0x6c]);
        if !hidden {
            element(&mut out, 3, &[number]);
        }
        out.extend(NOBODY);
        if !hidden {
            element(&mut out, 45, &ht_capabilities(wide));
            // spec: ieee80211-2016 9.4.2.57 - primary channel; with 40 MHz, secondary channel above and any
            // channel width.
            let mut operation = [0; 22];
            operation[..2].copy_from_slice(&[number, if wide { 0x05 } else { 0 }]);
            element(&mut out, 61, &operation);
        }
        element(&mut out, 127, &[0; 8]);
        if hidden {
            element(&mut out, 255, &HE_CAPABILITIES);
            element(&mut out, 255, &self.he_operation());
            element(&mut out, 255, &BAND_CAPABILITIES);
        }
        element(&mut out, 221, &self.wmm());
        out
    }

    /// Returns the HE Operation element, which describes the channel at 6 GHz.
    // spec: ieee80211ax-2021 9.4.2.249 - 6 GHz operation information present; BSS colour 1; basic MCS 0 to 7
    // for one stream. The 6 GHz field holds the primary channel, the width, the centre of the 80 MHz around
    // it (or of a narrower channel), the centre of 160 MHz, and a minimum rate of 6 Mbit/s.
    fn he_operation(&self) -> [u8; 12] {
        let number = self.tuning.number;
        // Blocks start at number 1; 20 MHz are 4 numbers.
        let centre = |width: u8| (number - 1) / (width / 5) * (width / 5) + width / 10 - 1;
        let (first, second) = match self.width {
            Width::Mhz20 => (number, 0),
            Width::Mhz40 => (centre(40), 0),
            Width::Mhz80 => (centre(80), 0),
            Width::Mhz160 => (centre(80), centre(160)),
        };
        [36, 0, 0, 0x02, 1, 0xfc, 0xff, number, self.width as u8, first, second, 6]
    }

    // spec: ieee80211-2016 9.4.2.29 - one record per category: AIFSN and index, exponents of CWmin and CWmax,
    // TXOP limit in units of 32 us. The Wi-Fi Alliance's element wraps these records in its own header.
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

/// HE Capabilities: 40, 80 and 160 MHz, and four streams at all MCS, up to 80 MHz and at 160 MHz.
// spec: ieee80211ax-2021 9.4.2.248 - 6 bytes of MAC capabilities, 11 bytes of PHY capabilities (channel
// widths in the second to fourth bit), two MCS bits per stream for reception and transmission.
const HE_CAPABILITIES: [u8; 26] = {
    let mut out = [0; 26];
    out[0] = 35;
    out[7] = 0x0c;
    let mut at = 18;
    while at < 26 {
        out[at] = 0xaa;
        out[at + 1] = 0xff;
        at += 2;
    }
    out
};

/// HE 6 GHz Band Capabilities: maximum A-MPDU and MPDU lengths, no SM power save.
// spec: ieee80211ax-2021 9.4.2.263 - A-MPDU length exponent in the fourth to sixth bit, maximum MPDU length
// of 11,454 bytes (2) in the next two, SM power save disabled (3) in the tenth and eleventh.
const BAND_CAPABILITIES: [u8; 3] = [59, 7 << 3 | 2 << 6, 0x06];

// spec: ieee80211-2016 9.4.2.56 - SM power save disabled, short guard interval at all widths; A-MPDUs up to
// 65535 bytes with 8 us between MPDUs; all MCS of four streams.
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
    use stillair_model::wifi::phy::frame::{BEACON_BODY, BEACON_BODY_6GHZ};

    fn told_by(band: Band, width: Width) -> Beacon {
        Beacon { tuning: Tuning::of(band, 0), width, interval: TIME_UNIT * 100, edca: EdcaSet::STATION }
    }

    #[test]
    fn tim_elements() {
        let tim = |bitmap: (usize, &[u8])| map(TimView { count: 1, period: 2, group: true, bitmap });
        assert_eq!(tim((0, &[0x82])), [5, 4, 1, 2, 1, 0x82]);
        // AIDs 24 and 60: the partial bitmap starts at byte 2, so the offset is 1.
        assert_eq!(tim((2, &[0, 1, 0, 0, 0, 0x10])), [5, 9, 1, 2, 3, 0, 1, 0, 0, 0, 0x10]);
        assert_eq!(map(TimView { count: 0, period: 1, group: false, bitmap: (0, &[0]) }), NOBODY);
    }

    #[test]
    fn each_element_has_the_length_that_is_counted() {
        let beacon = told_by(Band::Ghz5, Width::Mhz20);
        for (band, counted) in [(Band::Ghz5, BEACON_BODY), (Band::Ghz6, BEACON_BODY_6GHZ)] {
            let bytes = told_by(band, Width::Mhz20).after_timestamp();
            assert_eq!(bytes[..4], [100, 0, 1, 0]);
            let mut lengths = vec![8, 2, 2];
            let mut rest = &bytes[4..];
            while let [_, len, ..] = *rest {
                lengths.push(u32::from(len) + 2);
                rest = &rest[usize::from(len) + 2..];
            }
            assert_eq!(lengths, counted.map(|(_, len)| len));
        }
        // Best effort: AIFSN 3, CW 15 to 1023. Voice: AIFSN 2, CW 3 to 7, TXOP limit 47.
        assert_eq!(beacon.wmm()[8..12], [0x03, 0xa4, 0, 0]);
        assert_eq!(beacon.wmm()[20..], [0x62, 0x32, 47, 0]);
    }

    #[test]
    fn six_ghz_channel_is_described_by_its_centres() {
        // Channel 5 belongs to the 40 MHz channel centred on 3, the 80 MHz channel on 7, and the 160 MHz
        // channel on 15.
        let told = |width| told_by(Band::Ghz6, width).he_operation()[7..11].to_vec();
        assert_eq!(Width::ALL.map(told), [[5, 0, 5, 0], [5, 1, 3, 0], [5, 2, 7, 0], [5, 3, 7, 15]]);
    }
}
