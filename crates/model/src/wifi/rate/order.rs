//! Order in which the rates of a group are probed: columns of all places, each shuffled.

use super::table::MOST_PLACES;
use crate::types::RandomStream;

// linux: net/mac80211/rc80211_minstrel.h SAMPLE_COLUMNS (4.4).
const COLUMNS: usize = 10;

/// Ten columns of the places of a group.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    held: [u8; COLUMNS * MOST_PLACES],
    places: u8,
}

impl Order {
    /// Creates a random order of `places` places, those of the link's longest group.
    // linux: net/mac80211/rc80211_minstrel_ht.c init_sample_table (4.4) - moves each rate by a random
    // distance, to the next free place.
    // linux: net/mac80211/rc80211_minstrel_ht.h MCS_GROUP_RATES - ten places, or eight before 5.0 in a kernel
    // without VHT groups (MAC80211_RC_MINSTREL_VHT).
    // deviation: HT-only links always have eight places - with ten, two of ten draws find no rate.
    pub fn new(places: u8, stream: &mut RandomStream) -> Self {
        const FREE: u8 = u8::MAX;
        let (places, n) = (usize::from(places), places);
        let mut held = [FREE; COLUMNS * MOST_PLACES];
        for column in held.chunks_mut(places).take(COLUMNS) {
            for rate in 0..places {
                let mut at = (rate + stream.below(256) as usize) % places;
                while column[at] != FREE {
                    at = (at + 1) % places;
                }
                column[at] = rate as u8;
            }
        }
        Self { held, places: n }
    }

    /// Returns the number of places per column.
    pub const fn places(&self) -> u8 {
        self.places
    }

    /// Returns the place at a cursor.
    pub fn at(&self, cursor: u8) -> u8 {
        self.held[usize::from(cursor)]
    }

    /// Returns the next cursor.
    pub const fn after(&self, cursor: u8) -> u8 {
        if cursor + 1 == COLUMNS as u8 * self.places { 0 } else { cursor + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Seed;
    use alloc::vec::Vec;

    #[test]
    fn each_column_has_each_place_once() {
        for places in [8, 10] {
            let order = Order::new(places, &mut Seed { seed: 1, run: 0 }.stream("order"));
            let (mut cursor, mut columns) = (0, Vec::new());
            for _ in 0..COLUMNS {
                let mut column: Vec<u8> = (0..places)
                    .map(|_| {
                        let place = order.at(cursor);
                        cursor = order.after(cursor);
                        place
                    })
                    .collect();
                columns.push(column.clone());
                column.sort_unstable();
                assert_eq!(column, (0..places).collect::<Vec<_>>());
            }
            assert_eq!(cursor, 0);
            columns.dedup();
            assert!(columns.len() > 5, "columns differ: {columns:?}");
        }
    }
}
