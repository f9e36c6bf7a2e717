//! Guarantees of all schedulers for stations with frames: a fair share, and a bounded wait.

use super::alone::{Alone, KEEPS, UNFAIR};
use super::*;
use alloc::vec;
use alloc::vec::Vec;

fn by_airtime() -> [Scheduler; 5] {
    [
        Scheduler::Airtime(ALL),
        Scheduler::AirtimeAsPrinted(ALL),
        Scheduler::Mac80211(ALL, None, Mac80211Rules::Rounds),
        Scheduler::Mac80211(ALL, None, Mac80211Rules::RoundsWithPending),
        Scheduler::Mac80211(ALL, None, Mac80211Rules::VirtualTime),
    ]
}

fn all() -> impl Iterator<Item = Scheduler> {
    by_airtime().into_iter().chain([KEEPS]).chain(UNFAIR)
}

/// Saturated stations whose PPDUs take `took` us, `room` of them per pass. Checks airtime and turns per
/// station after each pass.
fn saturated(config: Scheduler, took: &[u64], room: usize, mut check: impl FnMut(&[u64], &[u64])) {
    let mut alone = Alone::new(config, took.len());
    let (mut used, mut turns) = (vec![0; took.len()], vec![0; took.len()]);
    (0..took.len()).for_each(|s| alone.comes(be(s as u16), 2 + room as u32));
    for _ in 0..300 {
        alone.look(room);
        for tid in alone.sent.clone() {
            let station = tid.peer().index();
            alone.scheduler.charge(ms(0), tid, us(took[station]), AirtimeUse::Tx);
            used[station] += took[station];
            turns[station] += 1;
            alone.comes(tid, 1);
        }
        check(&used, &turns);
    }
}

fn spread(of: &[u64]) -> u64 {
    of.iter().max().unwrap() - of.iter().min().unwrap()
}

/// Quantum of the schedulers here, in us.
const QUANTUM: u64 = 300;

proptest! {
    // Holds at any time, so no station starves. Beyond a quantum, stations differ only by the PPDUs that a
    // pass has sent before they are charged. With virtual time, all stations that are not ahead of the global
    // clock may send, and that clock is the mean of theirs: if all others are a PPDU ahead, one station may
    // be behind by as many PPDUs as there are others.
    #[test]
    fn equal_weights_share_within_a_quantum(took in prop::collection::vec(20_u64..4_000, 2..6), room in 1_usize..4) {
        let longest = *took.iter().max().unwrap();
        for config in by_airtime() {
            let is_fluid = matches!(config, Scheduler::Mac80211(.., Mac80211Rules::VirtualTime));
            let late = longest * if is_fluid { took.len() } else { room } as u64;
            saturated(config.clone(), &took, room, |used, _| {
                assert!(spread(used) <= QUANTUM + late, "{config:?} {used:?}");
            });
        }
        saturated(KEEPS, &took, room, |_, turns| assert!(spread(turns) <= 1, "{turns:?}"));
    }

    // After any history, passes serve all stations with frames, and none waits longer than the others take to
    // use their quantum, their deficit and, with virtual time, their lag.
    #[test]
    fn no_station_is_forgotten(
        steps in prop::collection::vec((0_u16..4, 0_u32..6, 1_usize..4, 20_u64..4_000, any::<bool>()), 1..200)
    ) {
        const LONGEST: u64 = 3 * 4_000;
        for config in all() {
            let mut alone = Alone::new(config.clone(), 4);
            // Airtime used by each station since another one's last turn, or since that one had nothing to
            // send.
            let mut waited = [[0_u64; 4]; 4];
            for &(station, frames, room, took, other) in &steps {
                alone.comes(TidIndex::new(PeerId(station), if other { 3 } else { 0 }), frames);
                alone.look(room);
                for tid in alone.sent.clone() {
                    let served = tid.peer().index();
                    alone.scheduler.charge(ms(0), tid, us(took), AirtimeUse::Tx);
                    waited[served] = [0; 4];
                    waited.iter_mut().for_each(|by| by[served] += took);
                }
                for (station, by) in waited.iter_mut().enumerate() {
                    let tids = [0, 3].map(|t| TidIndex::new(PeerId(station as u16), t));
                    if !tids.iter().any(|&t| alone.has_frames(t)) {
                        *by = [0; 4];
                    }
                }
                if !UNFAIR.contains(&config) {
                    let most = waited.iter().flatten().max().unwrap();
                    prop_assert!(*most <= 20_000 + 2 * QUANTUM + 3 * LONGEST, "{config:?} {waited:?}");
                }
            }
            while { alone.look(usize::MAX); !alone.sent.is_empty() } {
                for tid in alone.sent.clone() {
                    alone.scheduler.charge(ms(0), tid, us(100), AirtimeUse::Tx);
                }
            }
            let left: Vec<u32> = (0..4 * TIDS as u32).filter(|&t| alone.has_frames(TidIndex(t))).collect();
            prop_assert!(left.is_empty(), "{config:?} {left:?}");
        }
    }
}
