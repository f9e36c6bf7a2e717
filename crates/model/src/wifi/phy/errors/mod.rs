//! Frame error rate by rate, frame length and signal-to-noise ratio.
//!
//! Models white noise on a flat channel: the bit error rate of the modulation, followed by the union bound of
//! the convolutional code with hard decisions. The table is computed once per signal-to-noise ratio; a frame
//! then costs one exponential.
// paper: Pei and Henderson, "Validation of OFDM error rate model in ns-3" (Boeing, 2010) - the method,
// compared there with measurements: bit error rates of M-QAM and the Chernoff bound for the code.
// deviation: white noise only - no fading, no correlated antennas; measured channels have flatter curves.

mod code;

use super::frame;
use super::rate::{DsssRate, OfdmRate, PhyRate, Preamble};
use super::vht_he::{HeGi, HeRate};
use code::{Puncturing, decoded};
use libm::{erfc, exp, log1p, pow, sqrt};

/// Signal-to-noise ratio in 20 MHz with all power in one stream, in thousandths of a dB.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Snr(pub i32);

impl Snr {
    /// Returns the linear power ratio.
    pub fn ratio(self) -> f64 {
        pow(10.0, f64::from(self.0) / 10_000.0)
    }
}

/// Modulation of a subcarrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Modulation {
    Bpsk,
    Qpsk,
    Qam16,
    Qam64,
    Qam256,
    Qam1024,
}

/// Modulation and code rate by MCS of HT, VHT and HE, and of the eight OFDM rates.
// spec: ieee80211-2016 tables 17-4 and 19-27, ieee80211-2020 21-30, ieee80211ax-2021 27-78.
const KINDS: usize = 12;
const HT: [(Modulation, Puncturing); KINDS] = [
    (Modulation::Bpsk, Puncturing::Half),
    (Modulation::Qpsk, Puncturing::Half),
    (Modulation::Qpsk, Puncturing::ThreeQuarters),
    (Modulation::Qam16, Puncturing::Half),
    (Modulation::Qam16, Puncturing::ThreeQuarters),
    (Modulation::Qam64, Puncturing::TwoThirds),
    (Modulation::Qam64, Puncturing::ThreeQuarters),
    (Modulation::Qam64, Puncturing::FiveSixths),
    (Modulation::Qam256, Puncturing::ThreeQuarters),
    (Modulation::Qam256, Puncturing::FiveSixths),
    (Modulation::Qam1024, Puncturing::ThreeQuarters),
    (Modulation::Qam1024, Puncturing::FiveSixths),
];
const OFDM: [(Modulation, Puncturing); 8] = [
    (Modulation::Bpsk, Puncturing::Half),
    (Modulation::Bpsk, Puncturing::ThreeQuarters),
    (Modulation::Qpsk, Puncturing::Half),
    (Modulation::Qpsk, Puncturing::ThreeQuarters),
    (Modulation::Qam16, Puncturing::Half),
    (Modulation::Qam16, Puncturing::ThreeQuarters),
    (Modulation::Qam64, Puncturing::TwoThirds),
    (Modulation::Qam64, Puncturing::ThreeQuarters),
];

impl Modulation {
    /// Returns the bit error rate before decoding. `snr` is the ratio of symbol energy to noise density.
    // paper: Proakis, Digital Communications (4th ed. 2001) 5.2 - Gray coding, nearest neighbours.
    fn bit_error(self, snr: f64) -> f64 {
        match self {
            Self::Bpsk => 0.5 * erfc(sqrt(snr)),
            Self::Qpsk => 0.5 * erfc(sqrt(snr / 2.0)),
            Self::Qam16 => 0.375 * erfc(sqrt(snr / 10.0)),
            Self::Qam64 => 7.0 / 24.0 * erfc(sqrt(snr / 42.0)),
            Self::Qam256 => 15.0 / 64.0 * erfc(sqrt(snr / 170.0)),
            Self::Qam1024 => 31.0 / 160.0 * erfc(sqrt(snr / 682.0)),
        }
    }
}

/// Bit error rate after decoding.
fn bit_error(rate: PhyRate, snr: Snr) -> f64 {
    let ((modulation, puncturing), snr) = match rate {
        PhyRate::Ofdm(r) => {
            let at = OfdmRate::ALL.iter().position(|&o| o == r).unwrap_or(0);
            (OFDM[at], snr.ratio())
        }
        PhyRate::Dsss(r, _) => return dsss_bit_error(r, snr.ratio()),
        // deviation: streams share the power without interfering with each other, and twice the width has
        // twice the noise. VHT and HE use the convolutional code - LDPC gains 1 to 2 dB.
        rate => {
            let noise = f64::from(rate.width().megahertz()) / 20.0;
            (HT[kind(rate)], snr.ratio() / f64::from(rate.streams()) / noise)
        }
    };
    decoded(modulation.bit_error(snr), puncturing)
}

/// Returns the natural logarithm of the probability that a byte is received correctly.
pub fn byte_is_right(rate: PhyRate, snr: Snr) -> f64 {
    8.0 * log1p(-bit_error(rate, snr))
}

/// Returns the probability that a PPDU's preamble is not decoded.
pub fn unheard(rate: PhyRate, snr: Snr) -> f64 {
    let (bits, lowest) = match rate {
        PhyRate::Dsss(..) => (DSSS_HEADER_BITS, PhyRate::Dsss(DsssRate::M1, Preamble::Long)),
        PhyRate::Ofdm(_) => (SIGNAL_BITS, PhyRate::Ofdm(OfdmRate::M6)),
        PhyRate::Ht(_) | PhyRate::Vht(_) | PhyRate::He(_) => {
            (SIGNAL_BITS + HT_SIGNAL_BITS, PhyRate::Ofdm(OfdmRate::M6))
        }
    };
    1.0 - exp(bits / 8.0 * byte_is_right(lowest, snr))
}

/// Bit error rate of 802.11b. `snr` is the ratio in 20 MHz; the chip rate of 11 MHz receives about half of
/// that noise.
// paper: Fainberg, "A performance analysis of the IEEE 802.11b local area network in the presence of
// Bluetooth personal area network" (Polytechnic University, 2001) - differential BPSK and QPSK, and distance
// bounds for CCK; the bits of a wrong symbol are random.
// deviation: DBPSK and DQPSK use differential detection, CCK coherent detection - 2 Mbit/s therefore needs
// more signal than 5.5 (10 % loss of 1500-byte frames at 2.8 and 1.9 dB), unlike in receivers that use the
// same detection for all rates.
fn dsss_bit_error(rate: DsssRate, snr: f64) -> f64 {
    let snr = snr * 20.0 / 11.0;
    let q = |x: f64| 0.5 * erfc(sqrt(x / 2.0));
    let (symbol, bits) = match rate {
        // Eleven chips per bit.
        DsssRate::M1 => return 0.5 * exp(-(11.0 * snr)),
        DsssRate::M2 => return 0.5 * exp(-(11.0 * snr / 2.0) * 0.586),
        DsssRate::M5_5 => (14.0 * q(8.0 * snr) + q(16.0 * snr), 4),
        DsssRate::M11 => (
            24.0 * q(4.0 * snr)
                + 16.0 * q(6.0 * snr)
                + 174.0 * q(8.0 * snr)
                + 16.0 * q(10.0 * snr)
                + 24.0 * q(12.0 * snr)
                + q(16.0 * snr),
            8,
        ),
    };
    let words = f64::from(1_u16 << bits);
    libm::fmin(symbol * (words / 2.0) / (words - 1.0), 0.5)
}

/// Table indices: HT, VHT and HE by modulation and code, streams and width; then OFDM; then 802.11b.
const WIDE: usize = KINDS * 4 * 4;
const DSSS: usize = WIDE + 8;
const RATES: usize = DSSS + 4;

/// Index of an HT, VHT or HE rate's modulation and code in the table.
fn kind(rate: PhyRate) -> usize {
    usize::from(match rate {
        PhyRate::Ht(r) => r.mcs % 8,
        PhyRate::Vht(r) => r.mcs,
        PhyRate::He(r) => r.mcs,
        PhyRate::Ofdm(_) | PhyRate::Dsss(..) => 0,
    })
}

fn number(rate: PhyRate) -> usize {
    match rate {
        PhyRate::Ofdm(r) => WIDE + r as usize,
        PhyRate::Dsss(r, _) => DSSS + r as usize,
        rate => (kind(rate) * 4 + usize::from(rate.streams() - 1)) * 4 + rate.width() as usize,
    }
}

/// Error rates of all rates at one signal-to-noise ratio.
#[derive(Clone, Debug)]
pub struct ErrorTable {
    /// Natural logarithm of the probability that a byte is received correctly, by rate.
    per_byte: [f64; RATES],
    /// Probability that a preamble is not decoded: 802.11b, legacy SIGNAL only, and with HT-SIG.
    unheard: [f64; 3],
}

/// Bits of the legacy SIGNAL field and of HT-SIG.
// spec: ieee80211-2016 17.3.4 and 19.3.9.4.3 - both at the lowest rate.
const SIGNAL_BITS: f64 = 24.0;
const HT_SIGNAL_BITS: f64 = 48.0;
/// Bits of the 802.11b header.
// spec: ieee80211-2016 16.2.3.
const DSSS_HEADER_BITS: f64 = 48.0;

impl ErrorTable {
    /// Computes the table for a signal-to-noise ratio.
    pub fn new(snr: Snr) -> Self {
        let mut per_byte = [0.0; RATES];
        // HE includes all combinations; the guard interval has no effect.
        let wide = HeRate::all().filter(|rate| rate.gi == HeGi::Ns800).map(PhyRate::He);
        let all = wide.chain(OfdmRate::ALL.map(PhyRate::Ofdm));
        let all = all.chain(DsssRate::ALL.map(|r| PhyRate::Dsss(r, Preamble::Long)));
        for rate in all {
            per_byte[number(rate)] = 8.0 * log1p(-bit_error(rate, snr));
        }
        let header = |bits, rate| 1.0 - exp(bits / 8.0 * per_byte[number(rate)]);
        let signal = |bits| header(bits, PhyRate::Ofdm(OfdmRate::M6));
        let dsss = header(DSSS_HEADER_BITS, PhyRate::Dsss(DsssRate::M1, Preamble::Long));
        let unheard = [dsss, signal(SIGNAL_BITS), signal(SIGNAL_BITS + HT_SIGNAL_BITS)];
        Self { per_byte, unheard }
    }

    /// Returns the probability that a frame of `bytes` bytes is received with errors, given that its preamble
    /// was decoded.
    #[inline]
    pub fn broken(&self, rate: PhyRate, bytes: u32) -> f64 {
        1.0 - exp(f64::from(bytes) * self.per_byte[number(rate)])
    }

    /// Returns the probability that the delimiter of an MPDU cannot be read.
    pub fn unreadable(&self, rate: PhyRate) -> f64 {
        self.broken(rate, frame::DELIMITER)
    }

    /// Returns the probability that a PPDU's preamble is not decoded, which loses the whole PPDU.
    pub fn unheard(&self, rate: PhyRate) -> f64 {
        self.unheard[match rate {
            PhyRate::Dsss(..) => 0,
            PhyRate::Ofdm(_) => 1,
            // VHT-SIG-A has as many bits as HT-SIG, HE-SIG-A four more.
            PhyRate::Ht(_) | PhyRate::Vht(_) | PhyRate::He(_) => 2,
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    /// Signal-to-noise ratio in tenths of a dB at which 10 % of 1,538-byte frames are lost.
    fn ten_per_cent(name: &str) -> i32 {
        let rate = PhyRate::parse(name).unwrap();
        (-100..500)
            .find(|tenths| ErrorTable::new(Snr(100 * tenths)).broken(rate, 1_538) < 0.1)
            .expect("a ratio")
    }

    #[test]
    fn snr_at_ten_per_cent_loss() {
        let ofdm = OfdmRate::ALL.map(|r| ten_per_cent(&PhyRate::Ofdm(r).to_string()));
        assert_eq!(ofdm, [40, 69, 70, 99, 136, 167, 214, 227]);
        let ht: Vec<i32> = (0..8).map(|mcs| ten_per_cent(&format!("ht20-mcs{mcs}-lgi"))).collect();
        assert_eq!(ht, [40, 70, 99, 136, 167, 214, 227, 238]);
        let dsss = PhyRate::all_dsss().take(4).map(|r| ten_per_cent(&r.to_string())).collect::<Vec<_>>();
        assert_eq!(dsss, [-26, 28, 19, 51]);
        // 256-QAM and 1024-QAM each need 6 dB more at the same code rate.
        let he: Vec<i32> = (6..12).map(|mcs| ten_per_cent(&format!("he20-mcs{mcs}-nss1-gi0.8"))).collect();
        assert_eq!(he, [227, 238, 285, 298, 344, 357]);
        assert_eq!(["vht20-mcs7-nss1-sgi", "vht80-mcs7-nss1-lgi"].map(ten_per_cent), [238, 238 + 61]);
        // Twice the streams or twice the width need 3.01 dB more, regardless of the guard interval.
        let more =
            ["ht20-mcs15-lgi", "ht40-mcs7-lgi", "ht40-mcs7-sgi"].map(|name| ten_per_cent(name) - ht[7]);
        assert_eq!(more, [31, 31, 31]);
        assert!([60, 61].contains(&(ten_per_cent("ht20-mcs31-lgi") - ht[7])));
    }

    #[test]
    fn bit_errors_before_decoding() {
        // Proakis, figure 5.2-5: 1e-5 at 9.6 dB for BPSK; QPSK needs twice the symbol energy.
        let at = |m: Modulation, db: f64| m.bit_error(pow(10.0, db / 10.0));
        assert!((0.8e-5..1.2e-5).contains(&at(Modulation::Bpsk, 9.6)));
        assert!((0.8e-5..1.2e-5).contains(&at(Modulation::Qpsk, 12.6)));
        assert!(at(Modulation::Qam16, 15.0) > at(Modulation::Qpsk, 15.0));
        assert!(at(Modulation::Qam64, 15.0) > at(Modulation::Qam16, 15.0));
    }

    #[test]
    fn single_rates_agree_with_the_table() {
        for db in [-5, 3, 12, 22, 31] {
            let snr = Snr(1_000 * db);
            let table = ErrorTable::new(snr);
            for name in ["ofdm-6", "ofdm-54", "cck-11", "dsss-1", "ht40-mcs15-sgi", "he80-mcs11-nss2-gi1.6"] {
                let rate = PhyRate::parse(name).unwrap();
                let whole = |ln: f64| 1.0 - exp(100.0 * ln);
                assert!(
                    (whole(byte_is_right(rate, snr)) - table.broken(rate, 100)).abs() < 1e-12,
                    "{name} {db}"
                );
                assert!((unheard(rate, snr) - table.unheard(rate)).abs() < 1e-12, "{name} {db}");
            }
        }
    }

    #[test]
    fn longer_frames_and_less_signal_lose_more() {
        let rate = PhyRate::parse("ht20-mcs7-sgi").unwrap();
        let mut last = 1.0;
        for db in 10..35 {
            let table = ErrorTable::new(Snr(1_000 * db));
            let broken = [38, 400, 1_538].map(|bytes| table.broken(rate, bytes));
            assert!(
                broken[0] <= broken[1] && broken[1] <= broken[2] && broken[2] <= last,
                "{db}: {broken:?}"
            );
            assert!(table.unheard(rate) <= broken[0] && table.unreadable(rate) <= broken[0]);
            last = broken[2];
        }
        assert!(last < 1e-9);
    }
}
