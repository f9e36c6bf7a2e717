use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

const M: fn(u32) -> Member = Member;

#[test]
fn caller_data_shares_the_cache_line() {
    assert_eq!((size_of::<Node<[u64; 6]>>(), size_of::<DeficitRoundRobin>()), (64, 16));
}

#[test]
fn new_before_old_and_a_head_without_deficit_moves_to_the_end() {
    let (mut drr, mut r) = (Drr::<()>::new(4), DeficitRoundRobin::default());
    assert_eq!(drr.next(&mut r, 300), None);
    for (m, to_new, deficit) in [(0, false, 300), (1, false, 300), (2, true, 300)] {
        assert!(drr.activate(&mut r, M(m), to_new));
        drr.set_deficit(M(m), deficit);
    }
    assert!(!drr.activate(&mut r, M(0), true), "listed already");
    #[rustfmt::skip]
    let table = [
        // turn   new?   charge  deficits after
        (2, true,  1514, [300, 300, -1214]),
        (0, false, 1514, [-1214, 300, -914]),   // 2 got a quantum and moved behind 1
        (1, false,  100, [-914, 200, -914]),    // so did 0
        (1, false,  200, [-914, 0, -914]),      // stays while any deficit is left
        // 2, 0 and 1 get a quantum per round; 1 is the first to reach a positive deficit
        (1, false,    1, [-614, 299, -614]),
    ];
    for (turn, is_new, charge, deficits) in table {
        assert_eq!(drr.next(&mut r, 300), Some((M(turn), is_new)));
        drr.charge(M(turn), charge);
        assert_eq!([0, 1, 2].map(|m| drr.deficit(M(m))), deficits);
    }
}

#[test]
fn an_empty_head_by_either_rule() {
    // rule, old list not empty -> whether an empty new head leaves
    for (rule, old, leaves) in [
        (EmptyNew::ToOld, false, false),
        (EmptyNew::ToOld, true, false),
        (EmptyNew::ToOldUnlessAlone, false, true),
        (EmptyNew::ToOldUnlessAlone, true, false),
    ] {
        let (mut drr, mut r) = (Drr::<()>::new(2), DeficitRoundRobin::default());
        drr.activate(&mut r, M(0), true);
        if old {
            drr.activate(&mut r, M(1), false);
        }
        assert_eq!(drr.head_empty(&mut r, rule), leaves.then_some(M(0)), "{rule:?}, old {old}");
        assert_eq!(drr.is_listed(M(0)), !leaves);
        if old {
            assert_eq!(drr.head_empty(&mut r, rule), Some(M(1)), "an empty old head always leaves");
        }
    }
}

#[test]
fn members_of_a_group_share_a_deficit() {
    // Members 0 and 1 are two TIDs of one station, 2 belongs to another.
    let (mut drr, mut r) = (Drr::<()>::new(3), DeficitRoundRobin::default());
    drr.share(M(1), M(0));
    [0, 2, 1].into_iter().for_each(|m| assert!(drr.activate(&mut r, M(m), false)));
    drr.set_deficit(M(1), 300);
    drr.set_deficit(M(2), 300);
    assert_eq!(drr.next(&mut r, 300), Some((M(0), false)));
    drr.charge(M(0), 4000);
    assert_eq!(drr.deficit(M(1)), -3700);
    assert_eq!(drr.next(&mut r, 300), Some((M(2), false)));
}

#[test]
fn rotation_is_a_round_robin() {
    let (mut drr, mut r) = (Drr::<()>::new(3), DeficitRoundRobin::default());
    [0, 1, 2].into_iter().for_each(|m| assert!(drr.activate(&mut r, M(m), m == 2)));
    let turns: Vec<_> = (0..6).map(|_| drr.rotate_head(&mut r).0).collect();
    assert_eq!(turns, [2, 0, 1, 2, 0, 1]);
}

proptest! {
    /// Backlogged members get equal shares, to within a quantum and the largest charge, whatever the charges.
    #[test]
    fn backlogged_members_share_equally(
        sizes in prop::collection::vec(1i64..3000, 2..6),
        quantum in 100i64..4000,
    ) {
        let n = sizes.len();
        let (mut drr, mut r) = (Drr::<()>::new(n as u32), DeficitRoundRobin::default());
        for m in 0..n as u32 {
            drr.activate(&mut r, M(m), true);
            drr.set_deficit(M(m), quantum);
        }
        let mut used = vec![0i64; n];
        for _ in 0..2000 {
            let (m, _) = drr.next(&mut r, quantum).unwrap();
            drr.charge(m, sizes[m.index()]);
            used[m.index()] += sizes[m.index()];
            let (low, high) = (used.iter().min().unwrap(), used.iter().max().unwrap());
            prop_assert!(high - low <= quantum + sizes.iter().max().unwrap(), "{used:?}");
        }
    }

    /// A lone member that gets its rounds at once ends up as with one round at a time.
    #[test]
    fn several_rounds_at_once_equal_single_rounds(
        ops in prop::collection::vec((0u8..4, 0u32..3, 0i64..5000), 0..300),
        quanta in prop::array::uniform3(1i64..1600),
    ) {
        let (mut drr, mut r) = (Drr::<()>::new(3), DeficitRoundRobin::default());
        let (mut new, mut old, mut deficits) = (VecDeque::new(), VecDeque::new(), [0; 3]);
        for (op, m, amount) in ops {
            if op < 2 {
                if drr.activate(&mut r, M(m), op == 0) {
                    if op == 0 { new.push_back(m) } else { old.push_back(m) }
                }
                drr.charge(M(m), amount);
                deficits[m as usize] -= amount;
                continue;
            }
            let pending = |m: u32| amount / i64::from(m + 1);
            let found = drr.next_by(&mut r, |m| quanta[m.index()], |m| pending(m.0));
            let plain = loop {
                let Some(&head) = new.front().or(old.front()) else { break None };
                if deficits[head as usize] > pending(head) {
                    break Some((M(head), !new.is_empty()));
                }
                deficits[head as usize] += quanta[head as usize];
                let head = new.pop_front().or_else(|| old.pop_front()).unwrap();
                old.push_back(head);
            };
            prop_assert_eq!(found, plain);
            prop_assert_eq!([0, 1, 2].map(|m| drr.deficit(M(m))), deficits);
            if op == 3 && !r.is_empty() {
                new.pop_front().or_else(|| old.pop_front());
                drr.remove_head(&mut r);
            }
        }
    }

    /// The lists behave like two `VecDeque`s.
    #[test]
    fn behaves_like_two_plain_queues(ops in prop::collection::vec((0u8..5, 0u32..8), 0..300)) {
        let (mut drr, mut r) = (Drr::<()>::new(8), DeficitRoundRobin::default());
        let (mut new, mut old) = (VecDeque::new(), VecDeque::new());
        for (op, m) in ops {
            let listed = new.contains(&m) || old.contains(&m);
            match op {
                0 | 1 => {
                    prop_assert_eq!(drr.activate(&mut r, M(m), op == 0), !listed);
                    if !listed {
                        if op == 0 { new.push_back(m) } else { old.push_back(m) }
                    }
                }
                _ if r.is_empty() => prop_assert!(new.is_empty() && old.is_empty()),
                2 => {
                    let head = new.pop_front().or_else(|| old.pop_front()).unwrap();
                    old.push_back(head);
                    prop_assert_eq!(drr.rotate_head(&mut r), M(head));
                }
                3 => {
                    let head = new.pop_front().or_else(|| old.pop_front());
                    prop_assert_eq!(Some(drr.remove_head(&mut r).0), head);
                }
                _ => {
                    let from_new = new.pop_front();
                    let stays = from_new.is_some() && !old.is_empty();
                    let head = from_new.or_else(|| old.pop_front());
                    if stays {
                        old.push_back(head.unwrap());
                    }
                    let left = drr.head_empty(&mut r, EmptyNew::ToOldUnlessAlone).map(|m| m.0);
                    prop_assert_eq!(left, if stays { None } else { head });
                }
            }
            prop_assert_eq!(drr.lengths(&r), (new.len() as u32, old.len() as u32));
            let head = new.front().map(|&m| (M(m), true)).or(old.front().map(|&m| (M(m), false)));
            prop_assert_eq!(r.head(), head);
        }
    }
}
