//! Two devices over a channel with arbitrary losses: order, packet accounts, charges and wake-ups.

#[path = "common/pair.rs"]
mod pair;

use pair::{End, Pair, Try};
use proptest::prelude::*;
use stillair_model::types::{Duration, Reason};
use stillair_model::wifi::air::ppdu::Content;
use stillair_model::wifi::config::{
    AirtimeParams, AqlParams, DriverConfig, HtcParams, LegacyParams, Mac80211Rules, MacFqParams, Scheduler,
    WhenFull,
};

fn drivers() -> impl Strategy<Value = DriverConfig> {
    let airtime = AirtimeParams::default();
    prop_oneof![
        (1_u32..40).prop_map(|qlen| DriverConfig::Legacy(LegacyParams { qlen })),
        (1_u32..40, 1_u32..20).prop_map(|(limit, target_buffers)| {
            DriverConfig::Htc(HtcParams { limit, target_buffers, max_frames: 17, usb: None })
        }),
        Just(DriverConfig::Fq(MacFqParams::default(), Scheduler::RoundRobin(WhenFull::LosesTurn))),
        Just(DriverConfig::Fq(MacFqParams::default(), Scheduler::RoundRobin(WhenFull::KeepsTurn))),
        Just(DriverConfig::Fq(MacFqParams::default(), Scheduler::Airtime(airtime))),
        Just(DriverConfig::Fq(MacFqParams::default(), Scheduler::AirtimeAsPrinted(airtime))),
        (
            prop::bool::ANY,
            prop_oneof![
                Just(Mac80211Rules::Rounds),
                Just(Mac80211Rules::VirtualTime),
                Just(Mac80211Rules::RoundsWithPending),
            ]
        )
            .prop_map(move |(limited, rules)| {
                let aql = limited.then(AqlParams::default);
                DriverConfig::Fq(MacFqParams::default(), Scheduler::Mac80211(airtime, aql, rules))
            }),
    ]
}

fn tries() -> impl Strategy<Value = Try> {
    let mask = prop_oneof![
        Just(0),
        Just(u64::MAX),
        any::<u64>(),
        (any::<u64>(), any::<u64>()).prop_map(|(a, b)| a & b)
    ];
    let pause = prop_oneof![6 => Just(0_u64), 1 => 1_u64..60_000];
    (mask, any::<bool>(), pause).prop_map(|(whole, acked, pause)| Try {
        whole,
        acked,
        pause: Duration::from_micros(pause),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_is_delivered_once_and_in_order_or_dropped_for_a_reason(
        driver in drivers(),
        slow in any::<bool>(),
        windows in prop::array::uniform2(prop_oneof![2 => Just(64_u16), 1 => 1_u16..=256, 1 => Just(256)]),
        retry_limit in prop_oneof![Just(0_u8), Just(10), Just(30)],
        air in prop::collection::vec(tries(), 0..400),
        offers in prop::collection::vec((0_usize..2, prop::sample::select(vec![0_u8, 0, 0, 3, 1, 5, 6]), 1_usize..40, 0_u32..6), 1..12),
    ) {
        let rates: &[&str] = if slow { &["ht20-mcs0-sgi"] } else { &["ht20-mcs15-sgi", "ht20-mcs5-sgi"] };
        // Larger windows need HE, whose aggregates are not limited to 32 frames.
        let wide = windows.iter().any(|&frames| frames != 64);
        let mut pair = match wide {
            true => Pair::new(driver, &["he40-mcs11-nss2-gi0.8", "he40-mcs5-nss1-gi0.8"], retry_limit).with_windows(windows),
            false => Pair::new(driver, rates, retry_limit),
        };
        pair.air = air.into();
        for (side, tid, packets, steps) in offers {
            let packets = if wide { 8 * packets } else { packets };
            (0..packets).for_each(|_| { pair.offer(side, tid, 1500); });
            pair.run(steps);
        }
        prop_assert_eq!(pair.run(20_000), End::Drained);
        pair.check_drained();
        let most = usize::from(windows[0].min(windows[1]));
        prop_assert!(!wide || pair.seen.iter().all(|s| s.frames <= most), "no PPDU beyond the window");
        for side in 0..2 {
            for tid in 0..8 {
                let up = pair.up(side, tid);
                prop_assert!(up.is_sorted_by(|a, b| a < b), "{side} {tid}: {up:?}");
            }
        }
        for &(seq, reason, _) in &pair.drops.0 {
            match reason {
                Reason::RetryLimit | Reason::Codel => {}
                // This number of packets of 2,304 bytes exceeds the memory limit of the flow queues.
                Reason::Overlimit if wide => {}
                // A frame that is intact for the first time is old only if its hole was given up before: by
                // the receiver, or by the sender, whose Block Ack request starts after a later frame that it
                // gave up.
                Reason::OldOrDuplicate => {
                    let given_up = pair.seen.iter().any(|s| matches!(s.content, Content::Bar { .. }));
                    prop_assert!(pair.timeouts > 0 || given_up, "{seq} was lost in the receiver");
                }
                _ => prop_assert!(false, "{seq}: {reason:?}"),
            }
        }
    }
}
