//! Start times of transmissions, and backoffs across busy periods.

use super::*;
use crate::types::Seed;
use alloc::string::ToString;
use alloc::vec;

const SIFS: Duration = Duration::from_micros(16);
const SLOT: Duration = Duration::from_micros(9);

fn us(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}
fn function(m: &mut Medium, aifsn: u8, cw: u16, name: &str) -> EdcafId {
    m.add(
        EdcaParams { aifsn, cw_min: cw, cw_max: 1023, txop: Duration::ZERO },
        Seed { seed: 1, run: 0 }.stream(name),
    )
}
/// Start of the next transmission, if it has not begun.
fn planned(m: &Medium) -> Option<Instant> {
    m.start.filter(|_| !m.begun)
}
fn winners(m: &mut Medium) -> Vec<EdcafId> {
    let mut w = Vec::new();
    m.winners(&mut w);
    w
}

#[test]
fn requests_after_the_start_wait() {
    let mut m = Medium::new(SIFS, SLOT);
    let (a, b) = (function(&mut m, 3, 0, "a"), function(&mut m, 3, 0, "b"));
    m.request(us(0), a);
    assert_eq!([42, 43, 60].map(|at| m.sends(us(at), a)), [false, true, true]);
    // A function that requests during a transmission waits, even with a backoff of zero.
    m.request(us(60), b);
    assert_eq!([a, b].map(|f| m.sends(us(60), f)), [true, false]);
    let mut senders = Vec::new();
    m.senders(&mut senders);
    assert_eq!(senders, vec![a]);
    m.done(us(100), a, TxOutcome::Finished, false);
    m.idle(us(100), us(100));
    assert_eq!([142, 143].map(|at| m.sends(us(at), b)), [false, true]);
}

#[test]
fn a_transmission_starts_after_aifs_or_at_the_next_boundary() {
    let mut m = Medium::new(SIFS, SLOT);
    let f = function(&mut m, 3, 0, "f");
    m.request(us(0), f);
    assert_eq!((m.start(), winners(&mut m)), (Some(us(16 + 27)), vec![f]));
    m.done(us(100), f, TxOutcome::Finished, false);
    m.idle(us(100), us(100));
    assert_eq!(m.start(), None);
    // 100 + 43 = 143 is the first boundary; the next after 200 is 143 + 7 * 9 = 206.
    m.request(us(200), f);
    assert_eq!(m.start(), Some(us(206)));
}

#[test]
fn a_request_at_a_boundary_takes_the_next_one() {
    for (at, start) in [(42, 43), (43, 52), (51, 52), (52, 61), (53, 61)] {
        let mut m = Medium::new(SIFS, SLOT);
        let f = function(&mut m, 3, 0, "f");
        m.request(us(at), f);
        assert_eq!(m.start(), Some(us(start)), "requested at {at}");
        assert!(!m.has_begun(us(at)));
    }
}

#[test]
fn a_frozen_backoff_counts_the_slot_in_which_another_starts() {
    let mut m = Medium::new(SIFS, SLOT);
    let (a, b) = (function(&mut m, 3, 0, "a"), function(&mut m, 3, 0, "b"));
    m.edcafs[1].expires = 4;
    m.request(us(0), a);
    m.request(us(0), b);
    assert_eq!(winners(&mut m), vec![a]);
    m.done(us(500), a, TxOutcome::Finished, false);
    m.idle(us(500), us(500));
    // Boundary 0 passed when `a` began: three of four are left.
    assert_eq!(m.start(), Some(us(500 + 43 + 3 * 9)));
}

#[test]
fn a_request_while_busy_draws_a_backoff_and_one_in_time_joins() {
    let mut m = Medium::new(SIFS, SLOT);
    let (a, b, c) =
        (function(&mut m, 3, 0, "a"), function(&mut m, 3, 1023, "b"), function(&mut m, 2, 0, "c"));
    m.request(us(0), a);
    m.request(us(20), c);
    assert_eq!((m.start(), winners(&mut m)), (Some(us(34)), vec![c]));
    assert!(m.has_begun(us(34)));
    m.request(us(50), b);
    m.done(us(100), c, TxOutcome::Finished, false);
    m.idle(us(100), us(100));
    assert_eq!(winners(&mut m), vec![a]);
    let left = |f: EdcafId| m.edcafs[usize::from(f.0)].expires;
    assert!(left(b) > left(a), "{:?}", m.edcafs[1]);
}

#[test]
fn responses_to_an_exchange_draw_a_backoff() {
    let mut m = Medium::new(SIFS, SLOT);
    let sender = function(&mut m, 3, 0, "sender");
    let [early, late] = ["early", "late"].map(|name| function(&mut m, 3, 1023, name));
    m.request(us(0), sender);
    m.done(us(100), sender, TxOutcome::Finished, false);
    m.idle(us(100), us(100));
    // At the end of the acknowledgement the medium is still busy, 1 us later it is idle.
    m.request(us(100), early);
    m.request(us(101), late);
    // A function that has just sent has already drawn a backoff, here of zero.
    m.request(us(100), sender);
    let left = |f: EdcafId| m.edcafs[usize::from(f.0)].expires - m.passed[3];
    assert!(left(early) > 0, "{:?}", m.edcafs[1]);
    assert_eq!([left(sender), left(late)], [0, 0]);
    assert_eq!(m.start(), Some(us(143)));
}

#[test]
fn without_busy_backoff_waiting_functions_collide() {
    // Start and number of the first senders among three functions that request during a transmission and have
    // not sent before.
    let first = |mut m: Medium| {
        let sender = function(&mut m, 3, 0, "sender");
        let three = ["a", "b", "c"].map(|name| function(&mut m, 3, 1023, name));
        m.request(us(0), sender);
        m.begin(us(43));
        three.iter().for_each(|&f| m.request(us(60), f));
        m.done(us(100), sender, TxOutcome::Finished, false);
        m.idle(us(100), us(100));
        (m.start().unwrap(), winners(&mut m).len())
    };
    assert_eq!(first(Medium::new(SIFS, SLOT).without_busy_backoff()), (us(143), 3));
    let (start, winners) = first(Medium::new(SIFS, SLOT));
    assert!(start > us(143) && winners == 1, "{winners} at {start:?}");
}

#[test]
fn post_backoff_is_drawn_once() {
    // CWmin 1: after a single draw, half of the functions have no backoff. A second draw in case of zero
    // would leave a quarter.
    let mut m = Medium::new(SIFS, SLOT);
    let functions: Vec<_> = (0..400).map(|n| function(&mut m, 3, 1, &n.to_string())).collect();
    functions.iter().for_each(|&f| m.request(us(0), f));
    m.begin(us(43));
    functions.iter().for_each(|&f| m.done(us(100), f, TxOutcome::Finished, false));
    m.idle(us(100), us(100));
    functions.iter().for_each(|&f| m.request(us(100), f));
    let none = m.edcafs.iter().filter(|f| f.expires == m.passed[3]).count();
    assert!((160..240).contains(&none), "{none}");
}

#[test]
fn equal_counts_collide_and_the_windows_double() {
    let mut m = Medium::new(SIFS, SLOT);
    let (a, b) = (function(&mut m, 3, 0, "a"), function(&mut m, 2, 0, "b"));
    m.edcafs[1].expires = 1;
    m.request(us(0), a);
    m.request(us(0), b);
    assert_eq!(winners(&mut m), vec![a, b]);
    for f in [a, b] {
        m.done(us(400), f, TxOutcome::Failed, true);
    }
    assert_eq!((m.edcafs[0].cw, m.edcafs[1].cw), (1, 1));
    m.idle(us(400), us(460));
    assert!(m.start().unwrap() >= us(460 + 34));
}

#[test]
fn interruption_in_the_middle_of_a_slot() {
    // It would start at the seventh boundary, 97: by 42 none has passed, by 52 and by 60 two, by 96 six.
    for (busy, left) in [(0, 6), (30, 6), (42, 6), (43, 5), (52, 4), (60, 4), (96, 0)] {
        let mut m = Medium::new(SIFS, SLOT);
        let f = function(&mut m, 3, 0, "f");
        m.edcafs[0].expires = 6;
        m.request(us(0), f);
        assert_eq!(planned(&m), Some(us(43 + 6 * 9)));
        m.interrupt(us(busy));
        assert_eq!((planned(&m), m.start(), m.is_wanted()), (None, None, true));
        // A second interruption of a busy medium counts nothing.
        m.interrupt(us(busy + 100));
        m.idle(us(1_000), us(1_000));
        assert_eq!(planned(&m), Some(us(1_000 + 43 + 9 * left)), "busy from {busy}");
    }
}

#[test]
fn a_postponed_idle_period_counts_from_its_later_start() {
    let mut m = Medium::new(SIFS, SLOT);
    let f = function(&mut m, 3, 0, "f");
    m.edcafs[0].expires = 2;
    m.request(us(0), f);
    m.interrupt(us(10));
    m.idle(us(100), us(500));
    assert_eq!(planned(&m), Some(us(500 + 43 + 18)));
    // A NAV reservation that is reset early.
    m.idle(us(200), us(200));
    assert_eq!(planned(&m), Some(us(200 + 43 + 18)));
    m.interrupt(us(210));
    m.idle(us(300), us(300));
    assert_eq!(planned(&m), Some(us(300 + 43 + 18)));
}
