//! The test implementation of Bianchi's model, compared with the figures in the paper.

#[path = "common/bianchi.rs"]
mod bianchi;

use bianchi::{SlotDurations, saturation, throughput, transmission};

// paper: bianchi-2000 table II - frame parts and gaps in us, equal to bits at 1 Mbit/s.
const PAYLOAD: f64 = 8184.0;
const PHY_HEADER: f64 = 128.0;
const HEADERS: f64 = 272.0 + PHY_HEADER;
const ACK: f64 = 112.0 + PHY_HEADER;
const RTS: f64 = 160.0 + PHY_HEADER;
const CTS: f64 = 112.0 + PHY_HEADER;
const DELAY: f64 = 1.0;
const SLOT: f64 = 50.0;
const SIFS: f64 = 28.0;
const DIFS: f64 = 128.0;

// paper: bianchi-2000 eq. 14 - basic access.
const BASIC: SlotDurations = SlotDurations {
    slot: SLOT,
    success: HEADERS + PAYLOAD + SIFS + DELAY + ACK + DIFS + DELAY,
    collision: HEADERS + PAYLOAD + DIFS + DELAY,
    payload: PAYLOAD,
};

// paper: bianchi-2000 eq. 17 - with RTS and CTS.
const RTS_CTS: SlotDurations = SlotDurations {
    slot: SLOT,
    success: RTS + SIFS + DELAY + CTS + SIFS + DELAY + BASIC.success,
    collision: RTS + DIFS + DELAY,
    payload: PAYLOAD,
};

/// K of the paper: the square root of half the duration of a collision in slots.
fn k(d: SlotDurations) -> f64 {
    (d.collision / d.slot / 2.0).sqrt()
}

#[test]
fn durations_of_the_paper() {
    // paper: bianchi-2000 table III - Ts and Tc in bits.
    assert_eq!((BASIC.success, BASIC.collision), (8982.0, 8713.0));
    assert_eq!((RTS_CTS.success, RTS_CTS.collision), (9568.0, 417.0));
    // paper: bianchi-2000 sec. V.B - K = 9.334 and 2.042.
    assert_eq!(format!("{:.3} {:.3}", k(BASIC), k(RTS_CTS)), "9.334 2.042");
}

#[test]
fn without_doublings_collisions_change_nothing() {
    // paper: bianchi-2000 eq. 8 - tau = 2 / (W + 1) for m = 0, for any n.
    for (n, window) in [(1, 16), (5, 32), (50, 128)] {
        let s = saturation(n, window, 0, BASIC);
        assert!((s.tau - 2.0 / f64::from(window + 1)).abs() < 1e-12);
    }
}

#[test]
fn a_lone_station_never_collides() {
    // Mean cycle: (W - 1) / 2 idle slots, then one exchange.
    let s = saturation(1, 32, 3, BASIC);
    assert_eq!(s.p, 0.0);
    assert!((s.throughput - PAYLOAD / (15.5 * SLOT + BASIC.success)).abs() < 1e-9);
}

#[test]
fn the_optimum_does_not_depend_on_the_number_of_stations() {
    // paper: bianchi-2000 eq. 28 and 32 - with tau = 1 / (n K) and many stations the throughput approaches
    // the limit below.
    for d in [BASIC, RTS_CTS] {
        let k = k(d);
        let limit = d.payload / (d.success + d.slot * k + d.collision * (k * ((1.0 / k).exp() - 1.0) - 1.0));
        let best = throughput(1.0 / (1000.0 * k), 1000, d);
        assert!((best - limit).abs() < 1e-3 * limit, "{best} {limit}");
    }
}

#[test]
fn the_fixed_point_is_unique() {
    for n in [2, 5, 10, 20, 50] {
        for (window, stages) in [(16, 6), (32, 3), (32, 5), (128, 3)] {
            let s = saturation(n, window, stages, BASIC);
            assert!((transmission(s.p, window, stages) - s.tau).abs() < 1e-12);
            assert!(s.throughput > 0.0 && s.throughput < PAYLOAD / BASIC.success);
        }
    }
}

#[test]
fn trends_of_the_papers_figures() {
    // paper: bianchi-2000 fig. 6 and its discussion - basic access loses throughput as stations are added,
    // more with a smaller window; with RTS and CTS a collision is cheap and the loss is small.
    let loss = |window, stages, d| {
        saturation(5, window, stages, d).throughput - saturation(50, window, stages, d).throughput
    };
    assert!(loss(32, 3, BASIC) > loss(32, 5, BASIC));
    assert!(loss(32, 5, BASIC) > loss(128, 3, BASIC));
    assert!(loss(32, 3, BASIC) > 0.1);
    assert!(loss(32, 3, RTS_CTS).abs() < 0.03);
}
