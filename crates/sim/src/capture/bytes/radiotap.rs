//! The radiotap header: properties of a frame that are not in its bytes.
// spec: radiotap.org - fields in the order of their bits, each aligned to its size, all little-endian.

use stillair_model::types::{Duration, Instant};
use stillair_model::wifi::phy::{
    Band, Gi, HeGi, HeRate, HtRate, PhyRate, Preamble, VhtRate, Width, dsss_preamble_nanos,
};

use super::body::Body;

/// Signal level of all frames, in dBm. The model has error rates, not levels.
const SIGNAL: i8 = -50;
/// Noise level, in dBm.
const NOISE: i8 = -95;

/// Bits of the present word.
mod present {
    pub const TSFT: u32 = 1 << 0;
    pub const FLAGS: u32 = 1 << 1;
    pub const RATE: u32 = 1 << 2;
    pub const CHANNEL: u32 = 1 << 3;
    pub const SIGNAL: u32 = 1 << 5;
    pub const NOISE: u32 = 1 << 6;
    pub const RX_FLAGS: u32 = 1 << 14;
    pub const MCS: u32 = 1 << 19;
    pub const AMPDU: u32 = 1 << 20;
    pub const VHT: u32 = 1 << 21;
    pub const HE: u32 = 1 << 23;
}

const SHORT_PREAMBLE: u8 = 0x02;
const FCS_AT_END: u8 = 0x10;
const BAD_FCS: u8 = 0x40;
const SHORT_GI: u8 = 0x80;

/// Known bits of the MCS field: bandwidth, MCS index, guard interval, format, FEC, STBC and extension
/// streams.
const MCS_KNOWN: u8 = 0x7f;

/// Known bits of the VHT field: STBC (unused), guard interval and bandwidth.
// spec: radiotap.org/fields/VHT.
const VHT_KNOWN: u16 = 0x0001 | 0x0004 | 0x0040;
const VHT_SHORT_GI: u8 = 0x04;
/// Codes of the four channel widths.
const VHT_WIDTHS: [u8; 4] = [0, 1, 4, 11];

/// HE field: single-user PPDU with known MCS, coding (LDPC), bandwidth, guard interval and HE-LTF symbols.
// spec: radiotap.org/fields/HE.
const HE_KNOWN: [u16; 2] = [0x0020 | 0x0080 | 0x4000, 0x0002 | 0x0004];
const HE_LDPC: u16 = 0x2000;

/// A-MPDU status flags: last subframe known, and last subframe.
const LAST_KNOWN: u16 = 0x0004;
const IS_LAST: u16 = 0x0008;

/// A channel as described by the radiotap header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// Band.
    pub band: Band,
    /// Number of the primary channel.
    pub number: u8,
}

impl Tuning {
    /// Returns the tuning of the scenario's channel `index`, which has no channel number. Usual numbers of
    /// the band are assigned in turn.
    pub fn of(band: Band, index: usize) -> Self {
        let numbers: &[u8] = match band {
            Band::Ghz2 => &[1, 6, 11],
            Band::Ghz5 => &[36, 44, 149, 157],
            // spec: ieee80211ax-2021 26.17.2.3.3 - preferred scanning channels, each in a different 160 MHz
            // channel.
            Band::Ghz6 => &[5, 37, 69, 101],
        };
        Self { band, number: numbers[index % numbers.len()] }
    }

    /// Returns the centre frequency of the primary channel in MHz.
    // spec: ieee80211-2016 17.3.8.4.2 and 19.3.15.2 - 5 MHz per number, from 5000 and 2407.
    // spec: ieee80211ax-2021 27.3.23.2 and annex E (operating classes 131 to 135) - from 5950 at 6 GHz.
    pub fn megahertz(self) -> u16 {
        let base = match self.band {
            Band::Ghz2 => 2_407,
            Band::Ghz5 => 5_000,
            Band::Ghz6 => 5_950,
        };
        base + 5 * u16::from(self.number)
    }

    fn flags(self, rate: PhyRate) -> u16 {
        // CCK or OFDM, at 2.4 or 5 GHz.
        // linux: net/mac80211/rx.c ieee80211_add_rx_radiotap_header (6.12) - sets the 5 GHz flag at 6 GHz;
        // radiotap has no flag for 6 GHz.
        (if matches!(rate, PhyRate::Dsss(..)) { 0x0020 } else { 0x0040 })
            | match self.band {
                Band::Ghz2 => 0x0080,
                Band::Ghz5 | Band::Ghz6 => 0x0100,
            }
    }
}

/// Maximum header length in bytes: the fields of any frame.
const MOST: usize = 48;
/// Offset of the flags.
const FLAGS_AT: usize = 16;

/// A header ready to be written. The headers of one PPDU's frames differ only in the fields set by
/// [`Self::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Radiotap {
    bytes: [u8; MOST],
    len: usize,
    /// Offset of the A-MPDU flags, if the frame is in an A-MPDU.
    ampdu: Option<usize>,
}

/// Returns the time from the start of a PPDU to the first bit of its first MPDU.
// spec: ieee80211-2016 17.3.2 and 19.3.2 - legacy preamble and SIGNAL 20 us, then HT-SIG, HT-STF and one
// HT-LTF per stream (four for three streams). Excludes the 16 SERVICE bits before the MPDU.
pub fn preamble(rate: PhyRate) -> Duration {
    Duration::from_micros(match rate {
        PhyRate::Ofdm(_) => 20,
        PhyRate::Dsss(_, preamble) => dsss_preamble_nanos(preamble) / 1_000,
        PhyRate::Ht(r) => 32 + 4 * [1, 2, 4, 4][usize::from(r.streams() - 1)],
        PhyRate::Vht(r) => return Duration::from_nanos(r.preamble_nanos()),
        PhyRate::He(r) => return Duration::from_nanos(r.preamble_nanos()),
    })
}

/// Returns the VHT or HE field.
fn wide_field(rate: PhyRate) -> Option<(u32, [u8; 12])> {
    let mut field = [0; 12];
    match rate {
        PhyRate::Vht(VhtRate { mcs, streams, width, gi }) => {
            field[..2].copy_from_slice(&VHT_KNOWN.to_le_bytes());
            field[2] = if gi == Gi::Short { VHT_SHORT_GI } else { 0 };
            field[3] = VHT_WIDTHS[width as usize];
            field[4] = mcs << 4 | streams;
            Some((present::VHT, field))
        }
        PhyRate::He(HeRate { mcs, streams, width, gi }) => {
            // HE-LTFs of twice or four times the shortest length; one, two or four of them.
            let size = if gi == HeGi::Ns3200 { 3 } else { 2 };
            let count = [0, 1, 2, 2][usize::from(streams - 1)];
            let words = [
                HE_KNOWN[0],
                HE_KNOWN[1],
                u16::from(mcs) << 8 | HE_LDPC,
                0,
                width as u16 | (gi as u16) << 4 | size << 6 | count << 8,
                u16::from(streams),
            ];
            for (bytes, word) in field.chunks_mut(2).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            Some((present::HE, field))
        }
        _ => None,
    }
}

/// Returns the TSFT field: arrival of the first bit of the PPDU's first MPDU at the MAC, in us.
// spec: radiotap.org/fields/TSFT - the first bit of the MPDU.
// deviation: all frames of an A-MPDU have the time of the first, as reported by drivers that get one
// timestamp per PPDU.
pub fn tsft(start: Instant, rate: PhyRate) -> u64 {
    (start + preamble(rate)).nanos() / 1_000
}

impl Radiotap {
    /// Returns the header of a frame whose PPDU started at `start`. `ampdu` is the A-MPDU reference number,
    /// which all frames of the A-MPDU share.
    pub fn new(start: Instant, speed: PhyRate, tuning: Tuning, ampdu: Option<u32>) -> Self {
        use present as p;
        let mut bits = p::TSFT | p::FLAGS | p::CHANNEL | p::SIGNAL | p::NOISE | p::RX_FLAGS;
        let mut flags = FCS_AT_END;
        let (mut rate, mut mcs) = (0, [0; 3]);
        match speed {
            PhyRate::Ofdm(r) => {
                bits |= p::RATE;
                rate = (2 * r.mbps()) as u8;
            }
            PhyRate::Dsss(r, preamble) => {
                bits |= p::RATE;
                rate = (r.rate().bps() / 500_000) as u8;
                flags |= if preamble == Preamble::Short { SHORT_PREAMBLE } else { 0 };
            }
            PhyRate::Ht(HtRate { mcs: index, width, gi }) => {
                bits |= p::MCS;
                let (wide, short) = (u8::from(width == Width::Mhz40), u8::from(gi == Gi::Short));
                mcs = [MCS_KNOWN, wide | short << 2, index];
                flags |= if short == 1 { SHORT_GI } else { 0 };
            }
            PhyRate::Vht(_) | PhyRate::He(_) => {}
        }
        let mut head = [0; MOST];
        let mut len = if bits & p::MCS == 0 { 26 } else { 29_usize };
        let mut status_at = None;
        if let Some(reference) = ampdu {
            bits |= p::AMPDU;
            let at = len.next_multiple_of(4);
            head[at..at + 4].copy_from_slice(&reference.to_le_bytes());
            head[at + 4..at + 6].copy_from_slice(&LAST_KNOWN.to_le_bytes());
            status_at = Some(at + 4);
            len = at + 8;
        }
        if let Some((bit, field)) = wide_field(speed) {
            bits |= bit;
            head[len..len + 12].copy_from_slice(&field);
            len += 12;
        }
        head[2..4].copy_from_slice(&(len as u16).to_le_bytes());
        head[4..8].copy_from_slice(&bits.to_le_bytes());
        head[8..16].copy_from_slice(&tsft(start, speed).to_le_bytes());
        head[FLAGS_AT] = flags;
        // Without a rate, the byte is padding before the channel.
        head[17] = rate;
        head[18..20].copy_from_slice(&tuning.megahertz().to_le_bytes());
        head[20..22].copy_from_slice(&tuning.flags(speed).to_le_bytes());
        head[22..24].copy_from_slice(&[SIGNAL as u8, NOISE as u8]);
        // Bytes 24 and 25: RX flags, all clear.
        if bits & p::MCS != 0 {
            head[26..29].copy_from_slice(&mcs);
        }
        Self { bytes: head, len, ampdu: status_at }
    }

    /// Sets the bad FCS flag, and the flag of the last frame of an A-MPDU.
    pub fn mark(&mut self, bad_fcs: bool, last: bool) {
        self.bytes[FLAGS_AT] = self.bytes[FLAGS_AT] & !BAD_FCS | if bad_fcs { BAD_FCS } else { 0 };
        if let Some(at) = self.ampdu {
            let status = LAST_KNOWN | if last { IS_LAST } else { 0 };
            self.bytes[at..at + 2].copy_from_slice(&status.to_le_bytes());
        }
    }

    /// Returns true if the bad FCS flag is set.
    pub fn bad_fcs(&self) -> bool {
        self.bytes[FLAGS_AT] & BAD_FCS != 0
    }

    /// Writes the header.
    #[inline(always)]
    pub fn write(&self, out: &mut Body<'_>) {
        out.part(&self.bytes, self.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_and_flags_of_channels() {
        let rate = PhyRate::parse("ofdm-6").unwrap();
        let of = |band| {
            [0, 1, 2, 3, 4].map(|n| {
                let tuning = Tuning::of(band, n);
                (tuning.number, tuning.megahertz(), tuning.flags(rate))
            })
        };
        assert_eq!(of(Band::Ghz2)[..2], [(1, 2_412, 0x00c0), (6, 2_437, 0x00c0)]);
        assert_eq!(of(Band::Ghz5)[..2], [(36, 5_180, 0x0140), (44, 5_220, 0x0140)]);
        let high = [(5, 5_975, 0x0140), (37, 6_135, 0x0140), (69, 6_295, 0x0140), (101, 6_455, 0x0140)];
        assert_eq!(of(Band::Ghz6), [high[0], high[1], high[2], high[3], high[0]]);
    }
}
