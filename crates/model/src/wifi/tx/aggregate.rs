//! Limits and lengths of A-MPDUs: ath9k's rules, shared by all drivers.
//!
//! [`AggregateLimits`] is computed once per retry chain, [`Subframes`] once per PPDU.

use crate::types::Duration;
use crate::wifi::phy::frame::{DELIMITER, padding};
use crate::wifi::phy::{Gi, HtRate, PhyRate, RetryChain, ppdu_duration_without_extension};
use crate::wifi::seq_window::SeqWindow;

/// Maximum frames per ath9k aggregate.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_form_aggr (4.4) - half of the 64-frame Block Ack
// window.
pub const MAX_FRAMES: u32 = 32;

/// Maximum A-MPDU length of an 802.11n receiver in bytes, unless the receiver announces less.
// spec: ieee80211-2016 9.4.2.56.3 - 2^(13 + n) - 1 with n = 3, which ath9k advertises.
pub const PEER_MAX: u32 = 65_535;

/// Maximum duration of an aggregate, also without a TXOP limit.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_update_max_aggr_framelen (4.4) - treats a TXOP limit of 0,
// or above this value, as this value.
const MAX_DURATION: Duration = Duration::from_micros(4_096);

/// Maximum bytes at any rate: the largest multiple of four that fits the 16-bit length of HT.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_max_framelen (4.4).
const MAX_BYTES: u32 = 65_532;

/// Maximum frames and bytes of an aggregate between VHT radios: the Block Ack window, and the limit of the
/// length fields.
// spec: ieee80211-2020 9.4.2.157.2 - 2^(13 + n) - 1 with n = 7.
// linux: drivers/net/wireless/mediatek/mt76/mt7915/init.c, mt7615/init.c, ath/ath10k, ath/ath11k (6.12) - all
// announce 7.
pub const VHT_MOST: (u32, u32) = (64, (1 << 20) - 1);

/// Maximum frames and bytes of an aggregate between HE radios.
// spec: ieee80211ax-2021 9.4.2.248.2 - 2^(20 + x) - 1 bytes with x = 3 at most, which exceed the longest PSDU
// of table 27-61. ns-3 has the same limit (wifi-mac.cc WifiMac::GetTypeId, BE_MaxAmpduSize).
// linux: drivers/net/wireless/mediatek/mt76/mt7915/init.c mt7915_init_he_caps (6.12) - announces x = 3.
// deviation: x = 3 for all radios - the value announced by ath11k firmware is unknown.
pub const HE_MOST: (u32, u32) = (SeqWindow::MOST as u32, 6_500_631);

/// Maximum duration of an HE PPDU.
// spec: ieee80211ax-2021 table 27-61 - aPPDUMaxTime, 5.484 ms.
// deviation: uses the limit of the standard - drivers set no other limit, and the firmware's own is unknown.
// The 4 ms limit is ath9k's.
const HE_MAX_DURATION: Duration = Duration::from_micros(5_484);

/// MPDUs shorter than this many bytes are followed by delimiters that fill the difference.
// linux: drivers/net/wireless/ath/ath9k/ath9k.h ATH_AGGR_MINPLEN, ATH_AGGR_GET_NDELIM (4.4) - excludes the
// MPDU's own delimiter. Older trees and the AR9271's firmware include it in the 256 bytes.
const MIN_MPDU: u32 = 256;

/// Minimum time between the starts of two MPDUs in us, as announced by ath9k.
// linux: drivers/net/wireless/ath/ath9k/common-init.c ath9k_cmn_setup_ht_cap (4.4) -
// IEEE80211_HT_MPDU_DENSITY_8.
const DENSITY_MICROS: u64 = 8;

/// Limits of one A-MPDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AggregateLimits {
    frames: u32,
    bytes: u32,
    dense: u32,
    least: u32,
    /// Empty delimiters that encryption requires between frames.
    sealing: u32,
    amsdu: AmsduLimits,
}

/// Limits of one A-MSDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AmsduLimits {
    /// Maximum packets per A-MSDU. 1 disables A-MSDU.
    pub packets: u8,
    /// Maximum length of the MPDU in bytes.
    pub bytes: u16,
    /// Build A-MSDUs in mac80211 instead of in the firmware.
    pub by_host: bool,
}

impl AmsduLimits {
    /// No A-MSDU: one packet per MPDU.
    pub const NONE: Self = Self { packets: 1, bytes: 0, by_host: false };
}

/// Maximum length in bytes of an MPDU in an HT A-MPDU.
// spec: ieee80211-2016 9.7.3 - 4,095, from the 12-bit length in its delimiter.
const HT_MPDU_MAX: u16 = 4_095;

impl AggregateLimits {
    /// Computes the limits of PPDUs sent with `chain`.
    ///
    /// `txop` is the TXOP limit of the access category, or zero. `max_frames` is the driver's own limit
    /// ([`MAX_FRAMES`] for ath9k). `peer_max` is the maximum length in bytes that the receiver accepts
    /// ([`PEER_MAX`]).
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_lookup_rate (4.4) - uses the entry of the chain that
    // carries the fewest bytes in the time; disables aggregation if any entry is not HT.
    pub fn of(chain: &RetryChain, txop: Duration, max_frames: u32, peer_max: u32) -> Self {
        let within = |longest| if txop == Duration::ZERO { longest } else { txop.min(longest) };
        let mut bytes = peer_max;
        for entry in chain.entries() {
            match entry.rate {
                PhyRate::Ht(rate) => bytes = bytes.min(bytes_within(within(MAX_DURATION), rate)),
                PhyRate::Vht(_) => bytes = bytes.min(wide_bytes_within(within(MAX_DURATION), entry.rate)),
                PhyRate::He(_) => bytes = bytes.min(wide_bytes_within(within(HE_MAX_DURATION), entry.rate)),
                PhyRate::Ofdm(_) | PhyRate::Dsss(..) => {
                    let amsdu = AmsduLimits::NONE;
                    return Self { frames: 1, bytes: 0, dense: 0, least: MIN_MPDU, sealing: 0, amsdu };
                }
            }
        }
        // deviation: VHT and HE radios require no MPDU density and no minimum length - an assumption.
        let (dense, least) = match chain.entries()[0].rate {
            PhyRate::Ht(rate) => (dense_mpdu(rate), MIN_MPDU),
            _ => (0, 0),
        };
        Self { frames: max_frames.max(1), bytes, dense, least, sealing: 0, amsdu: AmsduLimits::NONE }
    }

    /// Returns the maximum frames and bytes agreed on by both ends of a link with first rate `first`: the
    /// limits of ath9k, VHT or HE.
    pub const fn most(first: PhyRate) -> (u32, u32) {
        match first {
            PhyRate::Vht(_) => VHT_MOST,
            PhyRate::He(_) => HE_MOST,
            PhyRate::Ht(_) | PhyRate::Ofdm(_) | PhyRate::Dsss(..) => (MAX_FRAMES, PEER_MAX),
        }
    }

    /// Includes the delimiter in the minimum subframe length, as the firmware of the AR9271 does.
    #[must_use]
    pub const fn with_delimiter_counted(self) -> Self {
        Self { least: MIN_MPDU - DELIMITER, ..self }
    }

    /// Adds extra delimiters between frames, which give the hardware time to encrypt.
    #[must_use]
    pub const fn with_sealing(self, delimiters: u32) -> Self {
        Self { sealing: delimiters, ..self }
    }

    /// Enables A-MSDUs for PPDUs sent with `chain`.
    #[must_use]
    pub fn with_amsdu(self, limits: AmsduLimits, chain: &RetryChain) -> Self {
        let ht = chain.entries().iter().any(|entry| matches!(entry.rate, PhyRate::Ht(_)));
        let bytes = if ht { limits.bytes.min(HT_MPDU_MAX) } else { limits.bytes };
        Self { amsdu: AmsduLimits { bytes, ..limits }, ..self }
    }

    /// Returns the A-MSDU limits.
    #[inline]
    pub const fn amsdu(self) -> AmsduLimits {
        self.amsdu
    }

    /// Returns the maximum number of frames. 1 disables aggregation.
    #[inline]
    pub const fn frames(self) -> u32 {
        self.frames
    }

    /// Returns the maximum length in bytes of an aggregate of two or more frames. The length of a single
    /// frame is not limited.
    #[inline]
    pub const fn bytes(self) -> u32 {
        self.bytes
    }

    /// Number of empty delimiters after an MPDU of `mpdu` bytes that is not the last.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_compute_num_delims (4.4) - uses the maximum of two
    // numbers: the delimiters required by the hardware's minimum length (rounded up) plus those for
    // encryption, and those required by the receiver's density at the first rate of the chain (rounded down).
    #[inline]
    const fn extra_delimiters(self, mpdu: u32) -> u32 {
        let for_length = self.least.saturating_sub(mpdu).div_ceil(DELIMITER) + self.sealing;
        let for_density = self.dense.saturating_sub(mpdu) / DELIMITER;
        if for_length > for_density { for_length } else { for_density }
    }
}

/// Number of symbols that fit within `micros`.
// linux: drivers/net/wireless/ath/ath9k/xmit.c NUM_SYMBOLS_PER_USEC, NUM_SYMBOLS_PER_USEC_HALFGI (4.4) -
// reserves 0.8 us with the short guard interval for rounding to whole microseconds.
const fn symbols_within(micros: u64, gi: Gi) -> u64 {
    match gi {
        Gi::Long => micros / 4,
        Gi::Short => (micros * 5).saturating_sub(4) / 18,
    }
}

/// PSDU bytes carried by a PPDU of the given duration.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_max_framelen (4.4) - assumes one HT-LTF per stream (the
// standard has four for three streams), and 22 bits of service and tail.
fn bytes_within(duration: Duration, rate: HtRate) -> u32 {
    let preamble = 32 + 4 * u64::from(rate.streams());
    let micros = (duration.nanos() / 1_000).saturating_sub(preamble);
    let bits = symbols_within(micros, rate.gi) * u64::from(rate.bits_per_symbol());
    (bits.saturating_sub(22) / 8).min(u64::from(MAX_BYTES)) as u32
}

/// PSDU bytes carried by a VHT or HE PPDU of the given duration, with the preamble of the standard.
// deviation: limits VHT to 4 ms like ath9k - the limit of such radios' firmware is unknown; the standard
// allows 5.484 ms.
fn wide_bytes_within(duration: Duration, rate: PhyRate) -> u32 {
    let preamble = ppdu_duration_without_extension(rate, 0).nanos() - symbols_of_nothing(rate);
    let symbols = duration.nanos().saturating_sub(preamble) / rate.symbol_nanos();
    let bits = symbols * u64::from(rate.bits_per_symbol());
    (bits.saturating_sub(16 + 6 * 6) / 8).min(u64::from(HE_MOST.1)) as u32
}

/// Duration of the data field of an empty PPDU: one symbol, rounded up to 4 us for VHT.
fn symbols_of_nothing(rate: PhyRate) -> u64 {
    match rate {
        PhyRate::Vht(_) => 4_000,
        _ => rate.symbol_nanos(),
    }
}

/// Bytes sent in the symbols required by the receiver's density.
fn dense_mpdu(rate: HtRate) -> u32 {
    let symbols = symbols_within(DENSITY_MICROS, rate.gi).max(1);
    (symbols * u64::from(rate.bits_per_symbol()) / 8) as u32
}

/// Lengths of an A-MPDU while frames are added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subframes {
    limits: AggregateLimits,
    frames: u32,
    first: u32,
    bytes: u32,
    filler: u32,
}

impl Subframes {
    /// Creates an A-MPDU without frames.
    #[inline]
    pub const fn new(limits: AggregateLimits) -> Self {
        Self { limits, frames: 0, first: 0, bytes: 0, filler: 0 }
    }

    /// Restores the state of a partly filled A-MPDU from its number of frames, the lengths of its first and
    /// last frame, and the length of its PSDU in bytes.
    #[inline]
    pub const fn resumed(
        limits: AggregateLimits,
        frames: u32,
        [first, last]: [u32; 2],
        psdu_bytes: u32,
    ) -> Self {
        let bytes = if frames == 1 { DELIMITER + first } else { psdu_bytes };
        Self { limits, frames, first, bytes, filler: Self::filler(limits, last) }
    }

    /// Bytes of padding and delimiters after a frame that is not the last.
    #[inline]
    const fn filler(limits: AggregateLimits, mpdu: u32) -> u32 {
        padding(DELIMITER + mpdu) + limits.extra_delimiters(mpdu) * DELIMITER
    }

    /// Returns the limits of the A-MPDU.
    #[inline]
    pub const fn limits(&self) -> AggregateLimits {
        self.limits
    }

    /// Returns true if an MPDU of `mpdu` bytes (see [`crate::wifi::phy::frame::data_mpdu`]) may be added. The
    /// first one always may.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_form_aggr (4.4) - ignores the padding and
    // delimiters after the frame, which are not sent if the frame is the last.
    #[inline]
    pub const fn would_fit(&self, mpdu: u32) -> bool {
        self.frames == 0
            || self.frames < self.limits.frames
                && self.bytes + self.filler + DELIMITER + mpdu <= self.limits.bytes
    }

    /// Adds an MPDU of `mpdu` bytes.
    #[inline]
    pub const fn add(&mut self, mpdu: u32) {
        debug_assert!(self.would_fit(mpdu), "the aggregate is full");
        if self.frames == 0 {
            self.first = mpdu;
        }
        let subframe = DELIMITER + mpdu;
        self.frames += 1;
        self.bytes += self.filler + subframe;
        self.filler = Self::filler(self.limits, mpdu);
    }

    /// Returns true if the last MPDU may grow by `by` bytes.
    // deviation: limits an A-MSDU to the length of an A-MPDU at the rates of its PPDU - the firmware's rule
    // is unknown.
    pub const fn would_grow(&self, by: u32) -> bool {
        self.bytes + by <= self.limits.bytes
    }

    /// Makes the last MPDU `by` bytes longer; its new length is `mpdu`.
    pub const fn grow(&mut self, mpdu: u32, by: u32) {
        debug_assert!(self.frames > 0, "no frame to become longer");
        if self.frames == 1 {
            self.first = mpdu;
        }
        self.bytes += by;
        self.filler = Self::filler(self.limits, mpdu);
    }

    /// Returns the number of frames.
    #[inline]
    pub const fn frames(&self) -> u32 {
        self.frames
    }

    /// Returns the length of the PSDU in bytes. A single frame is sent without a delimiter.
    // spec: ieee80211-2016 9.7.1 - pads each subframe but the last to a multiple of four.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_form_aggr (4.4) - programs exactly that length.
    #[inline]
    pub const fn psdu_bytes(&self) -> u32 {
        if self.frames == 1 { self.first } else { self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::phy::frame::{Cipher, data_mpdu};
    use crate::wifi::phy::{Band, RateTry, ppdu_duration};
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn chain(names: &[&str]) -> RetryChain {
        let tries: Vec<RateTry> = names.iter().map(|n| RateTry::new(PhyRate::parse(n).unwrap(), 2)).collect();
        RetryChain::new(&tries).unwrap()
    }

    fn limits(names: &[&str]) -> AggregateLimits {
        AggregateLimits::of(&chain(names), Duration::ZERO, MAX_FRAMES, PEER_MAX)
    }

    fn fill(limits: AggregateLimits, mpdu: u32) -> Subframes {
        let mut s = Subframes::new(limits);
        while s.would_fit(mpdu) {
            s.add(mpdu);
        }
        s
    }

    #[test]
    fn limits_as_computed_by_ath9k() {
        let slow = limits(&["ht20-mcs0-sgi"]);
        assert_eq!((slow.bytes(), fill(slow, data_mpdu(1500)).frames()), (3_660, 2));
        let mixed = limits(&["ht20-mcs15-sgi", "ht20-mcs14-sgi", "ht20-mcs13-sgi", "ht20-mcs5-sgi"]);
        let full = fill(mixed, data_mpdu(1500));
        assert_eq!((mixed.bytes(), full.frames(), full.psdu_bytes()), (29_299, 18, 17 * 1_544 + 1_542));
    }

    #[test]
    fn frames_of_1500_bytes_by_rate() {
        let frames = |width: &str, gi: &str| {
            let at = |mcs| fill(limits(&[&format!("{width}-mcs{mcs}-{gi}")]), data_mpdu(1500)).frames();
            core::array::from_fn::<u32, 16, _>(at)
        };
        assert_eq!(frames("ht20", "lgi"), LGI20);
        assert_eq!(frames("ht20", "sgi"), SGI20);
        assert_eq!(frames("ht40", "lgi"), LGI40);
        assert_eq!(frames("ht40", "sgi"), SGI40);
    }
    // Computed independently of this program: 1544 bytes per frame, 1542 for the last one.
    const LGI20: [u32; 16] = [2, 4, 6, 8, 12, 17, 19, 21, 4, 8, 12, 17, 25, 32, 32, 32];
    const SGI20: [u32; 16] = [2, 4, 7, 9, 14, 18, 21, 23, 4, 9, 14, 18, 28, 32, 32, 32];
    const LGI40: [u32; 16] = [4, 8, 13, 17, 26, 32, 32, 32, 8, 17, 26, 32, 32, 32, 32, 32];
    const SGI40: [u32; 16] = [4, 9, 14, 19, 29, 32, 32, 32, 9, 19, 29, 32, 32, 32, 32, 32];

    #[test]
    fn short_frames_are_followed_by_delimiters() {
        // A 52-byte TCP ACK: 4 + 90 + padding 2 + ceil(166 / 4) = 42 delimiters. None after the last frame.
        let mut s = Subframes::new(limits(&["ht20-mcs15-sgi"]));
        s.add(data_mpdu(52));
        assert_eq!(s.psdu_bytes(), 90);
        s.add(data_mpdu(52));
        assert_eq!(s.psdu_bytes(), 264 + 94);
        s.add(data_mpdu(1500));
        assert_eq!(s.psdu_bytes(), 2 * 264 + 1_542);
        // With its own delimiter included, one delimiter less: 256 bytes plus the padding before.
        let mut s = Subframes::new(limits(&["ht20-mcs15-sgi"]).with_delimiter_counted());
        s.add(data_mpdu(52));
        s.add(data_mpdu(52));
        assert_eq!(s.psdu_bytes(), 260 + 94);
    }

    #[test]
    fn encryption_adds_bytes_and_on_older_chips_delimiters() {
        let ccmp = data_mpdu(1500) + Cipher::Ccmp.bytes();
        assert_eq!((ccmp, Cipher::None.bytes()), (1_554, 0));
        // 4 + 1554 and 2 of padding; ten more delimiters are 40 bytes.
        let limits = limits(&["ht20-mcs15-sgi", "ht20-mcs5-sgi"]);
        for (delimiters, frames, between) in [(0, 18, 1_560), (10, 18, 1_600)] {
            let full = fill(limits.with_sealing(delimiters), ccmp);
            assert_eq!((full.frames(), full.psdu_bytes()), (frames, (frames - 1) * between + 1_558));
        }
        // They add to the delimiters of the minimum length (186 bytes are 47 delimiters), but not to those of
        // the density.
        let two = |limits: AggregateLimits, mpdu| {
            let mut s = Subframes::new(limits);
            s.add(mpdu);
            s.add(mpdu);
            s.psdu_bytes()
        };
        assert_eq!([0, 10].map(|n| two(limits.with_sealing(n), 70)), [338, 378]);
        let fast = self::limits(&["ht40-mcs15-sgi"]);
        // 270 bytes by density: 50 delimiters for 70 bytes, against 47 and 57 by minimum length and
        // encryption.
        assert_eq!([0, 2, 10].map(|n| two(fast.with_sealing(n), 70)), [350, 350, 378]);
    }

    #[test]
    fn wide_channels_carry_full_windows() {
        let bytes = |name: &str| {
            let (frames, bytes) = AggregateLimits::most(PhyRate::parse(name).unwrap());
            let limits = AggregateLimits::of(&chain(&[name]), Duration::ZERO, frames, bytes);
            (limits.bytes(), fill(limits, data_mpdu(1500)).frames())
        };
        // 4,096 us less 40: 1,014 symbols of 117 bits less 52.
        assert_eq!(bytes("vht80-mcs0-nss1-lgi"), (14_823, 9));
        // 1,125 symbols of 3.6 us after 44 us, with 3,120 bits each.
        assert_eq!(bytes("vht80-mcs9-nss2-sgi"), (438_743, 64));
        // 36 us and two training fields of 7.2 us leave 5,433.6 us: 399 symbols of 13.6 us with 16,333 bits
        // each.
        assert_eq!(bytes("he80-mcs11-nss2-gi0.8"), (814_601, 256));
        // At 8.6 Mbit/s: 400 symbols of 117 bits.
        assert_eq!(bytes("he20-mcs0-nss1-gi0.8"), (5_843, 3));
        // Four training fields: 398 symbols of 65,333 bits.
        assert_eq!(bytes("he160-mcs11-nss4-gi0.8"), (3_250_310, 256));
    }

    #[test]
    fn density_applies_at_high_rates() {
        // Two symbols of 1080 bits are 270 bytes: 15 bytes too short need three delimiters, 3 bytes too short
        // none.
        let two = |mpdu| {
            let mut s = Subframes::new(limits(&["ht40-mcs15-sgi"]));
            s.add(mpdu);
            s.add(mpdu);
            s.psdu_bytes() - 2 * (DELIMITER + mpdu) - padding(DELIMITER + mpdu)
        };
        assert_eq!([two(90), two(255), two(267), two(300)], [45 * 4, 3 * 4, 0, 0]);
    }

    #[test]
    fn limits_by_txop_peer_and_legacy_rates() {
        let best = chain(&["ht20-mcs15-sgi"]);
        let bytes = |txop_us, peer| {
            AggregateLimits::of(&best, Duration::from_micros(txop_us), MAX_FRAMES, peer).bytes()
        };
        // 3008 us less a preamble of 40: 824 symbols of 520 bits less 22.
        assert_eq!(
            [bytes(0, PEER_MAX), bytes(3_008, PEER_MAX), bytes(8_000, PEER_MAX)],
            [65_532, 53_557, 65_532]
        );
        assert_eq!([bytes(0, 8_191), bytes(20, PEER_MAX)], [8_191, 0]);
        let legacy = limits(&["ht20-mcs15-sgi", "ofdm-6"]);
        assert_eq!(fill(legacy, data_mpdu(52)).frames(), 1);
        assert_eq!(fill(AggregateLimits::of(&best, Duration::ZERO, 17, PEER_MAX), 1538).frames(), 17);
    }

    proptest! {
        #[test]
        fn aggregates_stay_within_their_duration(
            entries in prop::collection::vec((0_u8..32, any::<bool>(), any::<bool>()), 1..=4),
            mpdus in prop::collection::vec(38_u32..=1_538, 1..=64),
            txop in prop_oneof![Just(0_u64), 200_u64..5_000],
        ) {
            let names: Vec<String> = entries
                .iter()
                .map(|(mcs, wide, short)| {
                    format!("ht{}-mcs{mcs}-{}", if *wide { 40 } else { 20 }, if *short { "sgi" } else { "lgi" })
                })
                .collect();
            let chain = chain(&names.iter().map(String::as_str).collect::<Vec<_>>());
            let txop = Duration::from_micros(txop);
            let limits = AggregateLimits::of(&chain, txop, MAX_FRAMES, PEER_MAX);
            let mut s = Subframes::new(limits);
            let (mut payload, mut added) = (0, Vec::new());
            for mpdu in mpdus {
                if !s.would_fit(mpdu) {
                    break;
                }
                s.add(mpdu);
                payload += mpdu;
                added.push(mpdu);
                let ends = [added[0], mpdu];
                prop_assert_eq!(Subframes::resumed(limits, s.frames(), ends, s.psdu_bytes()), s);
            }
            prop_assert!(s.frames() >= 1 && s.frames() <= MAX_FRAMES && s.psdu_bytes() >= payload);
            if s.frames() > 1 {
                prop_assert!(s.psdu_bytes() <= limits.bytes());
                let most = if txop == Duration::ZERO { MAX_DURATION } else { txop.min(MAX_DURATION) };
                for entry in chain.entries() {
                    // The driver counts one HT-LTF too few for three streams and one encoder too few above
                    // 300 Mbit/s; rounding to 4 us may add less than 4 us.
                    let d = ppdu_duration(entry.rate, s.psdu_bytes(), Band::Ghz5);
                    prop_assert!(d <= most + Duration::from_micros(12), "{d:?} {most:?} {}", entry.rate);
                }
            }
        }
    }
}
