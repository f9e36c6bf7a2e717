//! The order in which the rates of a group are probed: columns of eight, each shuffled.

use super::table::GROUP_RATES;
use crate::vocabulary::RandomStream;

// linux: net/mac80211/rc80211_minstrel.h SAMPLE_COLUMNS (4.4).
const COLUMNS: usize = 10;

/// Ten columns of the eight places of a group.
#[derive(Clone, Copy, Debug)]
pub struct Order([u8; COLUMNS * GROUP_RATES]);

impl Order {
    /// A new order.
    // linux: net/mac80211/rc80211_minstrel_ht.c init_sample_table (4.4) - each rate is moved by a random distance, to the next
    // place that is free.
    pub fn new(stream: &mut RandomStream) -> Self {
        const FREE: u8 = u8::MAX;
        let mut all = [FREE; COLUMNS * GROUP_RATES];
        for column in all.chunks_mut(GROUP_RATES) {
            for rate in 0..GROUP_RATES {
                let mut at = (rate + stream.below(256) as usize) % GROUP_RATES;
                while column[at] != FREE {
                    at = (at + 1) % GROUP_RATES;
                }
                column[at] = rate as u8;
            }
        }
        Self(all)
    }

    /// The place that is probed at a cursor.
    pub fn at(&self, cursor: u8) -> u8 {
        self.0[usize::from(cursor)]
    }

    /// The cursor after another.
    pub const fn after(cursor: u8) -> u8 {
        (cursor + 1) % (COLUMNS * GROUP_RATES) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Seed;
    use alloc::vec::Vec;

    #[test]
    fn each_column_has_each_place_once() {
        let order = Order::new(&mut Seed { seed: 1, run: 0 }.stream("order"));
        let (mut cursor, mut columns) = (0, Vec::new());
        for _ in 0..COLUMNS {
            let mut column: Vec<u8> = (0..GROUP_RATES)
                .map(|_| {
                    let place = order.at(cursor);
                    cursor = Order::after(cursor);
                    place
                })
                .collect();
            columns.push(column.clone());
            column.sort_unstable();
            assert_eq!(column, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
        assert_eq!(cursor, 0);
        columns.dedup();
        assert!(columns.len() > 5, "columns differ: {columns:?}");
    }
}
