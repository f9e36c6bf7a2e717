use super::*;
use crate::types::{RandomStream, Seed};
use crate::wifi::rate::table::Formats;
use crate::wifi::testing::ms;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

fn can(width: Width, short_gi: bool) -> HtCapabilities {
    HtCapabilities { streams: 1, width, short_gi, formats: Formats::Ht }
}

/// A chain as text, with `R` for RTS.
fn text(chain: &RetryChain) -> String {
    let one = |e: &RateTry| format!("{} {}{}", e.rate, e.tries, if e.rts { "R" } else { "" });
    chain.entries().iter().map(one).collect::<Vec<_>>().join(", ")
}

fn rate(name: &str) -> PhyRate {
    PhyRate::parse(name).unwrap()
}

/// A link with this rate as its ceiling.
fn at(can: HtCapabilities, name: &str) -> Ath9kHtc {
    let mut control = Ath9kHtc::new(can);
    control.ceiling = *control.valid.iter().find(|&&i| Ath9kHtc::known(i).rate == rate(name)).unwrap();
    control
}

#[test]
fn chains_step_down_with_rts() {
    let (wide, narrow) = (can(Width::Mhz40, true), can(Width::Mhz20, true));
    #[rustfmt::skip]
    let table = [
        (wide, "ht40-mcs7-sgi", "ht40-mcs7-sgi 2, ht40-mcs7-lgi 2R, ht40-mcs6-sgi 2R, ht40-mcs6-lgi 4R"),
        (can(Width::Mhz40, false), "ht40-mcs7-lgi", "ht40-mcs7-lgi 2, ht40-mcs6-lgi 2R, ht40-mcs5-lgi 2R, ht40-mcs4-lgi 4R"),
        (wide, "ht40-mcs4-lgi", "ht40-mcs4-lgi 2, ht40-mcs3-lgi 2R, ht40-mcs2-lgi 2R, ht40-mcs1-lgi 4R"),
        // At MCS 3 and below, the first entry as well. The fourth entry repeats the third instead of an
        // 802.11b rate.
        (wide, "ht40-mcs3-lgi", "ht40-mcs3-lgi 2R, ht40-mcs2-lgi 2R, ht40-mcs1-lgi 2R, ht40-mcs0-lgi 4R"),
        (wide, "ht40-mcs2-lgi", "ht40-mcs2-lgi 2R, ht40-mcs1-lgi 2R, ht40-mcs0-lgi 2R, ht40-mcs0-lgi 4R"),
        (wide, "ht40-mcs0-lgi", "ht40-mcs0-lgi 2R, cck-11 2R, cck-5.5 2R, dsss-2 4R"),
        (narrow, "ht20-mcs7-sgi", "ht20-mcs7-sgi 2, ht20-mcs7-lgi 2R, ht20-mcs6-sgi 2R, ht20-mcs6-lgi 4R"),
        (narrow, "ht20-mcs3-lgi", "ht20-mcs3-lgi 2R, ht20-mcs2-lgi 2R, ht20-mcs1-lgi 2R, ht20-mcs1-lgi 4R"),
        (narrow, "dsss-1", "dsss-1 2R, dsss-1 2R, dsss-1 2R, dsss-1 4R"),
    ];
    for (can, ceiling, chain) in table {
        assert_eq!(text(&at(can, ceiling).chain()), chain);
    }
    for (can, first) in
        [(wide, "ht40-mcs4-sgi"), (narrow, "ht20-mcs4-sgi"), (can(Width::Mhz40, false), "ht40-mcs4-lgi")]
    {
        assert_eq!(Ath9kHtc::new(can).chain().entries()[0].rate, rate(first));
    }
}

/// Reports a PPDU sent with `chain`, in which `failed` tries failed.
fn send(control: &mut Ath9kHtc, now: u64, chain: &RetryChain, failed: u8, (frames, acked): (u32, u32)) {
    let (mut left, mut tries) = (failed, Vec::new());
    for entry in chain.entries() {
        if left < entry.tries {
            tries.push(RateTry { tries: left + 1, ..*entry });
            break;
        }
        left -= entry.tries;
        tries.push(*entry);
    }
    control.sent(ms(now), TxReport { tries: &tries, frames, acked, probe: None, unsent: 0 });
}

#[test]
fn a_probe_has_one_try_and_no_rts_after_it() {
    let mut control = at(can(Width::Mhz40, true), "ht40-mcs6-lgi");
    assert_eq!(control.probe(ms(500)), None, "nothing has gone well yet");
    let chain = control.chain();
    send(&mut control, 500, &chain, 0, (17, 17));
    assert_eq!(control.probe(ms(100)), None, "more than 100 ms after the last");
    let probe = control.probe(ms(501)).expect("a probe");
    assert_eq!(control.probe(ms(700)), None, "nothing since");
    let chain = control.probe_chain(probe.rate);
    assert_eq!(text(&chain), "ht40-mcs6-sgi 1, ht40-mcs6-lgi 2, ht40-mcs5-sgi 2R, ht40-mcs5-lgi 4R");
    // The probe succeeded and is the ceiling. After 50 ms and a good frame, the next probe follows.
    send(&mut control, 502, &chain, 0, (1, 1));
    assert_eq!((control.chain().entries()[0].rate, control.clean), (probe.rate, 1));
    assert_eq!(
        [552, 553].map(|at| control.probe(ms(at)).map(|p| p.rate)),
        [None, Some(rate("ht40-mcs7-lgi"))]
    );
    // The next probe fails: its error rate is 1/8, reduced by 1/8 after 50 ms, and the ceiling stays.
    let chain = control.probe_chain(rate("ht40-mcs7-lgi"));
    send(&mut control, 554, &chain, 1, (1, 1));
    assert_eq!((control.chain().entries()[0].rate, control.per(43)), (rate("ht40-mcs6-sgi"), 10));
}

#[test]
fn error_rates_step_by_step() {
    let mut control = at(can(Width::Mhz40, true), "ht40-mcs7-sgi");
    let top = |control: &Ath9kHtc| (control.per(43), control.per(44));
    let chain = control.chain();
    // (failed tries, frames, acknowledged) and the error rates of MCS 7 with the long and the short guard
    // interval.
    #[rustfmt::skip]
    let table = [
        ((1, 17, 17), (0, 3)), // one of two tries failed: 25 / 8
        ((1, 17, 9), (0, 12)), // 100 * (17 + 8) / 34 = 73, and all of 3, since 3 / 8 rounds to 0
        ((0, 17, 1), (0, 22)),    // 94 / 8, and 12 - 1
        ((2, 17, 17), (0, 32)), // the first rate has failed entirely, 100 / 8; the second has no errors
        ((10, 17, 0), (30, 62)), // all four rates have failed: 30 more
    ];
    for ((failed, frames, acked), pers) in table {
        send(&mut control, 1, &chain, failed, (frames, acked));
        assert_eq!(top(&control), pers, "{failed} {frames} {acked}");
    }
    // 55 is too much, also for the next rate: MCS 7 with the long guard interval.
    assert_eq!(control.chain().entries()[0].rate, rate("ht40-mcs7-lgi"));
    // Decays by 1/8 every 50 ms.
    send(&mut control, 51, &chain, 3, (17, 17));
    assert_eq!(control.decay_at, 51);
}

/// Sends an aggregate of 17 frames in each of 5,000 ms, over a link with a loss probability by rate.
fn converge(stream: &mut RandomStream, lost: impl Fn(PhyRate) -> f64) -> PhyRate {
    let mut control = Ath9kHtc::new(can(Width::Mhz40, true));
    for now in 0..5_000 {
        let probe = control.probe(ms(now));
        let chain = probe.map_or_else(|| control.chain(), |p| control.probe_chain(p.rate));
        let frames = if probe.is_some() { 1 } else { 17 };
        let mut tries: Vec<RateTry> = Vec::new();
        let mut acked = 0;
        'chain: for entry in chain.entries() {
            tries.push(RateTry { tries: 0, ..*entry });
            for _ in 0..entry.tries {
                tries.last_mut().expect("just pushed").tries += 1;
                acked = (0..frames).filter(|_| !stream.chance(lost(entry.rate))).count() as u32;
                if acked > 0 {
                    break 'chain;
                }
            }
        }
        control.sent(ms(now), TxReport { tries: &tries, frames, acked, probe, unsent: 0 });
    }
    control.chain().entries()[0].rate
}

#[test]
fn finds_the_fastest_rate_that_works() {
    let mut stream = Seed { seed: 3, run: 0 }.stream("air");
    assert_eq!(converge(&mut stream, |_| 0.0), rate("ht40-mcs7-sgi"));
    // 11 % of collisions have no effect.
    assert_eq!(converge(&mut stream, |_| 0.11), rate("ht40-mcs7-sgi"));
    // If MCS 6 and 7 lose 95 % of frames, the best rate is near MCS 5, or briefly the probe above it.
    let fast = |r: PhyRate| if matches!(r, PhyRate::Ht(r) if r.mcs >= 6) { 0.95 } else { 0.01 };
    assert!(matches!(converge(&mut stream, fast), PhyRate::Ht(r) if r.mcs <= 6 && r.mcs >= 4));
}
