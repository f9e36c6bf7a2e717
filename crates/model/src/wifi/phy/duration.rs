//! PPDU duration: TXTIME of IEEE 802.11, exact to the nanosecond.

use super::channel::{Band, Gi};
use super::rate::{DsssRate, HtRate, OfdmRate, PhyRate, Preamble};
use super::vht_he::{HeRate, VhtRate};
use crate::types::Duration;

// spec: ieee80211-2016 17.3.2.4 and 19.3.11.3 - SERVICE field, and tail bits per convolutional encoder.
const SERVICE_BITS: u64 = 16;
const TAIL_BITS: u64 = 6;

/// Returns the duration of a PPDU that carries `psdu_bytes`, from the start of its preamble until the
/// receiver starts the SIFS: TXTIME **with** the signal extension of the 2.4 GHz band. HT rates use the
/// HT-mixed format.
// spec: ieee80211-2016 18.5.3 and 19.4.3 - TXTIME of ERP-OFDM and HT ends with the extension.
#[inline]
pub const fn ppdu_duration(rate: PhyRate, psdu_bytes: u32, band: Band) -> Duration {
    let nanos = ppdu_duration_without_extension(rate, psdu_bytes).nanos();
    // spec: ieee80211-2016 16.3.4 - DSSS and CCK have no extension.
    let extension = if matches!(rate, PhyRate::Dsss(..)) { 0 } else { band.signal_extension().nanos() };
    Duration::from_nanos(nanos + extension)
}

/// Returns the duration of a PPDU until the end indicated by its signal field, **without** the signal
/// extension. This duration is the same in all bands.
#[inline]
pub const fn ppdu_duration_without_extension(rate: PhyRate, psdu_bytes: u32) -> Duration {
    Duration::from_nanos(match rate {
        PhyRate::Ht(r) => ht_nanos(r, psdu_bytes),
        PhyRate::Ofdm(r) => ofdm_nanos(r, psdu_bytes),
        PhyRate::Dsss(r, preamble) => dsss_nanos(r, preamble, psdu_bytes),
        PhyRate::Vht(r) => vht_nanos(r, psdu_bytes),
        PhyRate::He(r) => he_nanos(r, psdu_bytes),
    })
}

const fn vht_nanos(rate: VhtRate, psdu_bytes: u32) -> u64 {
    // spec: ieee80211-2020 21.4.3 eq. 21-105 and 21.3.9 - as HT but with the VHT preamble; the short guard
    // interval still rounds up to 4 us symbols.
    // deviation: convolutional code, as in the tables - LDPC has no tail bits and may need an extra symbol.
    let bits = SERVICE_BITS + 8 * psdu_bytes as u64 + TAIL_BITS * rate.encoders() as u64;
    let data = bits.div_ceil(rate.bits_per_symbol() as u64) * rate.symbol_nanos();
    rate.preamble_nanos() + data.div_ceil(4_000) * 4_000
}

const fn he_nanos(rate: HeRate, psdu_bytes: u32) -> u64 {
    // spec: ieee80211ax-2021 27.4.3 eq. 27-135 - whole symbols, followed by the packet extension.
    // deviation: LDPC without an extra symbol, and no packet extension - the nominal padding of the receiver
    // is assumed to be 0 us.
    let bits = SERVICE_BITS + 8 * psdu_bytes as u64;
    rate.preamble_nanos() + bits.div_ceil(rate.bits_per_symbol() as u64) * rate.symbol_nanos()
}

const fn ht_nanos(rate: HtRate, psdu_bytes: u32) -> u64 {
    // spec: ieee80211-2016 19.3.9 - L-STF 8, L-LTF 8, L-SIG 4, HT-SIG 8, HT-STF 4 us, then 4 us per HT-LTF;
    // three streams need four HT-LTFs (table 19-13).
    let ht_ltfs = match rate.streams() {
        1 => 1,
        2 => 2,
        _ => 4,
    };
    let preamble = 32_000 + 4_000 * ht_ltfs;
    // spec: ieee80211-2016 19.3.11.3 eq. 19-32 - symbols of the data field without STBC.
    let bits = SERVICE_BITS + 8 * psdu_bytes as u64 + TAIL_BITS * rate.encoders() as u64;
    let data = bits.div_ceil(rate.bits_per_symbol() as u64) * rate.symbol_nanos();
    // spec: ieee80211-2016 19.4.3 eq. 19-90 - with the short guard interval, TXTIME is rounded up to 4 us
    // symbols, the resolution of the L-SIG length.
    preamble
        + match rate.gi {
            Gi::Long => data,
            Gi::Short => data.div_ceil(4_000) * 4_000,
        }
}

const fn ofdm_nanos(rate: OfdmRate, psdu_bytes: u32) -> u64 {
    // spec: ieee80211-2016 17.4.3 eq. 17-29 - preamble 16 us, SIGNAL 4 us, then symbols of 4 us.
    let bits = SERVICE_BITS + 8 * psdu_bytes as u64 + TAIL_BITS;
    20_000 + 4_000 * bits.div_ceil(rate.bits_per_symbol() as u64)
}

/// Returns the duration of the preamble and header of a DSSS or CCK PPDU, in ns.
// spec: ieee80211-2016 16.2.2.2 and 16.2.2.3 - long: 144 and 48 bits at 1 Mbit/s; short: 72 bits at 1 Mbit/s
// and 48 bits at 2 Mbit/s.
pub const fn dsss_preamble_nanos(preamble: Preamble) -> u64 {
    match preamble {
        Preamble::Long => 192_000,
        Preamble::Short => 96_000,
    }
}

const fn dsss_nanos(rate: DsssRate, preamble: Preamble, psdu_bytes: u32) -> u64 {
    // spec: ieee80211-2016 16.3.4 - rounds the PSDU up to a microsecond.
    let micros = (2 * 8 * psdu_bytes as u64).div_ceil(rate.bits_in_2_micros() as u64);
    dsss_preamble_nanos(preamble) + 1_000 * micros
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::phy::Width;
    use crate::wifi::phy::golden::{GOLDEN, SIZES};
    use proptest::prelude::*;

    fn micros(name: &str, bytes: u32) -> u64 {
        let d = ppdu_duration(PhyRate::parse(name).unwrap(), bytes, Band::Ghz5).nanos();
        assert_eq!(d % 1_000, 0);
        d / 1_000
    }

    #[test]
    fn published_durations() {
        // spec: ieee80211-2016 annex I.1 - worked example: 100 bytes at 36 Mbit/s are six data symbols.
        assert_eq!(micros("ofdm-36", 100), 20 + 6 * 4);
        // Gast, "When is 54 not equal to 54?" (O'Reilly 2003), as quoted by ns-3
        // src/wifi/test/tx-duration-test.cc: MPDUs of a full segment, a TCP ACK and an ACK frame at 54
        // Mbit/s.
        assert_eq!([1536, 76, 14].map(|n| micros("ofdm-54", n)), [248, 32, 24]);
        // ns-3 src/wifi/test/tx-duration-test.cc, 802.11n in mixed format, long guard interval.
        assert_eq!([1536, 76, 14].map(|n| micros("ht20-mcs7-lgi", n)), [228, 48, 40]);
        assert_eq!([1536, 76, 14].map(|n| micros("ht40-mcs7-lgi", n)), [128, 44, 40]);
    }

    #[test]
    fn short_guard_interval_rounds_up_to_4_us() {
        // deviation: rounds up to 4 us by eq. 19-90 - ns-3 src/wifi/test/tx-duration-test.cc does not round:
        // 1742.4, 126.0, 57.6 (MCS0), 226.8, 46.8, 39.6 (MCS6), 118.8, 43.2, 39.6 (40 MHz, MCS7) us.
        assert_eq!([1536, 76, 14].map(|n| micros("ht20-mcs0-sgi", n)), [1744, 128, 60]);
        assert_eq!([1536, 76, 14].map(|n| micros("ht20-mcs6-sgi", n)), [228, 48, 40]);
        assert_eq!([1536, 76, 14].map(|n| micros("ht40-mcs7-sgi", n)), [120, 44, 40]);
    }

    #[test]
    fn signal_extension_at_2_4_ghz() {
        // ns-3 src/wifi/test/tx-duration-test.cc, 802.11g: the 802.11a durations plus 6 us.
        let us = |bytes| ppdu_duration(PhyRate::Ofdm(OfdmRate::M54), bytes, Band::Ghz2).nanos() / 1_000;
        assert_eq!([1536, 76, 14].map(us), [254, 38, 30]);
    }

    #[test]
    fn rates_of_802_11b() {
        // ns-3 src/wifi/test/tx-duration-test.cc: 1536, 76 and 14 bytes at 11 Mbit/s, long and short
        // preamble. The signal extension does not apply.
        let us = |name: &str| {
            [1536, 76, 14]
                .map(|n| ppdu_duration(PhyRate::parse(name).unwrap(), n, Band::Ghz2).nanos() / 1_000)
        };
        assert_eq!(us("cck-11"), [1310, 248, 203]);
        assert_eq!(us("cck-11-short"), [1214, 152, 107]);
        assert_eq!(us("cck-5.5"), [2427, 303, 213]);
        assert_eq!(us("dsss-1"), [12_480, 800, 304]);
        assert_eq!(us("dsss-2-short"), [6_240, 400, 152]);
    }

    #[test]
    fn encoders_and_training_fields() {
        // 2160 bits per symbol. With one encoder, 1617 bytes would end within symbol 6 (12958 of 12960 bits);
        // the second encoder's tail needs a seventh.
        assert_eq!([1616, 1617].map(|n| micros("ht40-mcs31-lgi", n)), [48 + 24, 48 + 28]);
        // Three streams also need four HT-LTFs: 16 + 6 + 8 * 100 = 822 bits at 78 per symbol are 11 symbols.
        assert_eq!(micros("ht20-mcs16-lgi", 100), 48 + 44);
    }

    fn nanos(name: &str) -> [u64; 3] {
        [1536, 76, 14].map(|n| ppdu_duration(PhyRate::parse(name).unwrap(), n, Band::Ghz5).nanos())
    }

    #[test]
    fn published_durations_of_vht() {
        // ns-3 src/wifi/test/tx-duration-test.cc, 802.11ac, long guard interval, in us.
        // deviation: includes the 4 us of VHT-SIG-B, by equation 21-105 - ns-3 omits them.
        for (name, want) in [
            ("vht20-mcs8-nss1-lgi", [196, 48, 40]),
            ("vht40-mcs9-nss1-lgi", [108, 40, 40]),
            ("vht80-mcs0-nss1-lgi", [460, 60, 44]),
            ("vht80-mcs9-nss1-lgi", [68, 40, 40]),
            ("vht160-mcs8-nss1-lgi", [56, 40, 40]),
        ] {
            assert_eq!(nanos(name), want.map(|us: u64| (us + 4) * 1_000), "{name}");
        }
        // deviation: rounds up to 4 us with the short guard interval - ns-3 does not: 180, 46.8 and 39.6,
        // 417.6, 57.6 and 43.2, 64.8 us.
        assert_eq!(nanos("vht20-mcs8-nss1-sgi"), [184_000, 52_000, 44_000]);
        assert_eq!(nanos("vht80-mcs0-nss1-sgi"), [424_000, 64_000, 48_000]);
        assert_eq!(nanos("vht80-mcs9-nss1-sgi")[0], 72_000);
        // Four streams need four VHT-LTFs; 12,322 bits at 6,240 per symbol are two symbols.
        assert_eq!(nanos("vht80-mcs9-nss4-lgi")[0], 52_000 + 8_000);
    }

    #[test]
    fn published_durations_of_he() {
        // ns-3 src/wifi/test/tx-duration-test.cc, 802.11ax single user, guard interval of 1.6 us.
        for (name, want) in [
            ("he20-mcs0-nss1-gi1.6", [1_570_400, 130_400, 72_800]),
            ("he40-mcs0-nss1-gi1.6", [807_200, 87_200, 58_400]),
            ("he80-mcs0-nss1-gi1.6", [418_400, 72_800, 58_400]),
            ("he160-mcs0-nss1-gi1.6", [231_200, 58_400, 58_400]),
            ("he20-mcs11-nss1-gi1.6", [144_800, 58_400, 58_400]),
            ("he40-mcs11-nss1-gi1.6", [101_600, 58_400, 58_400]),
            ("he80-mcs11-nss1-gi1.6", [72_800, 58_400, 58_400]),
        ] {
            assert_eq!(nanos(name), want, "{name}");
        }
        // deviation: HE-LTFs of 7.2 us with a guard interval of 0.8 us and 16 us with 3.2 us, as in the
        // standard - ns-3 uses 8 us for all guard intervals (1485.6 and 139.2 us for 0.8 us, 1740 and 156 us
        // for 3.2 us).
        assert_eq!(nanos("he20-mcs0-nss1-gi0.8")[0], 1_485_600 - 800);
        assert_eq!(nanos("he20-mcs11-nss1-gi0.8")[0], 139_200 - 800);
        assert_eq!(nanos("he20-mcs0-nss1-gi3.2")[0], 1_740_000 + 8_000);
        assert_eq!(nanos("he20-mcs11-nss1-gi3.2")[0], 156_000 + 8_000);
        // 2.4 GHz adds the signal extension.
        let low = ppdu_duration(PhyRate::parse("he20-mcs0-nss1-gi1.6").unwrap(), 14, Band::Ghz2);
        assert_eq!(low.nanos(), 72_800 + 6_000);
    }

    #[test]
    fn golden_table() {
        for (width, gi, rows) in GOLDEN {
            for (mcs, want) in (0..).zip(rows) {
                let rate = PhyRate::Ht(HtRate { mcs, width, gi });
                let got = SIZES.map(|n| ppdu_duration(rate, n, Band::Ghz5));
                assert_eq!(got, want.map(Duration::from_micros), "{rate}");
            }
        }
    }

    proptest! {
        #[test]
        fn duration_grows_with_length_and_shrinks_with_mcs(mcs in 0_u8..32, bytes in 0_u32..65_535) {
            let ht = |mcs, width, gi, n| {
                ppdu_duration_without_extension(PhyRate::Ht(HtRate { mcs, width, gi }), n)
            };
            let d = ht(mcs, Width::Mhz20, Gi::Long, bytes);
            prop_assert!(ht(mcs, Width::Mhz20, Gi::Long, bytes + 1) >= d);
            prop_assert!(ht(mcs, Width::Mhz20, Gi::Short, bytes) <= d);
            prop_assert!(ht(mcs, Width::Mhz40, Gi::Long, bytes) <= d);
            if mcs % 8 != 7 {
                prop_assert!(ht(mcs + 1, Width::Mhz20, Gi::Long, bytes) <= d);
            }
            // The data field carries its bits at the nominal rate, rounded up to a symbol and then to 4 us.
            let rate = HtRate { mcs, width: Width::Mhz20, gi: Gi::Short };
            let preamble = 32_000 + [4_000, 8_000, 16_000, 16_000][usize::from(mcs / 8)];
            let data = ht(mcs, Width::Mhz20, Gi::Short, bytes).nanos() - preamble;
            let bits = u64::from(bytes) * 8 + 22;
            let least = bits * 3_600 / u64::from(rate.bits_per_symbol());
            prop_assert!(least <= data && data <= least + 3_600 + 4_000);
            prop_assert_eq!(data % 4_000, 0);
        }
    }
}
