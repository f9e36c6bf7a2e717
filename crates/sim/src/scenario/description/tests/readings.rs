//! Results of reading some ten thousand overrides: the resolved scenario or the error message.
//!
//! `readings.txt` stores a hash of the results per table. A change to the reader that should not change the
//! meaning of scenarios must leave the file unchanged. To see what changed, set `STILLAIR_READINGS` to a file
//! before and after the change and compare the two files:
//!
//! ```sh
//! STILLAIR_READINGS=/tmp/after.txt cargo test -p stillair-sim --lib readings
//! ```
//!
//! If the change is intended, copy the hashes that the failing test prints to `readings.txt`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::places::{Place, Sets, places};
use super::{SPECIMEN, company, effective, parse, probes};
use crate::scenario::description::Key;
use crate::scenario::document;

const KEPT: &str = include_str!("readings.txt");

/// Combinations of two to four overrides, in addition to single keys.
const COMBINATIONS: usize = 5_000;

/// Deterministic numbers: an xorshift generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// Hash of results (FNV-1a), and the numbers of accepted and rejected overrides.
struct Outcomes {
    hash: u64,
    accepted: usize,
    refused: usize,
}

impl Outcomes {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

/// Returns false for keys that depend on the enabled features.
fn is_the_same_everywhere(key: &Key) -> bool {
    key.name != "crypto"
}

/// Returns sets of overrides, each with the title of its table.
fn corpus() -> Vec<(&'static str, Sets)> {
    let places = places();
    let mut out = Vec::new();
    let own =
        |place: &Place, key: &Key, value: &str| (document::join(&place.path, key.name), value.to_owned());
    for place in &places {
        for key in place.shape.keys().filter(|key| is_the_same_everywhere(key)) {
            let (good, bad) = probes(&key.form);
            for value in good {
                let beside = company(place, key, &value).unwrap_or_default();
                let sets = [place.sets.clone(), effective(place, key), beside, vec![own(place, key, &value)]]
                    .concat();
                out.push((place.shape.title, sets));
            }
            for value in bad {
                out.push((place.shape.title, [place.sets.clone(), vec![own(place, key, &value)]].concat()));
            }
        }
    }
    let mut draw = Draw(0x5717_1a12);
    for _ in 0..COMBINATIONS {
        let first = draw.below(places.len());
        let mut sets = places[first].sets.clone();
        for n in 0..2 + draw.below(3) {
            // Mostly of one table; a quarter of the further overrides are elsewhere.
            let elsewhere = n > 0 && draw.below(4) == 0;
            let place = &places[if elsewhere { draw.below(places.len()) } else { first }];
            if elsewhere {
                sets.extend(place.sets.iter().cloned());
            }
            let keys: Vec<&Key> = place.shape.keys().filter(|key| is_the_same_everywhere(key)).collect();
            let key = keys[draw.below(keys.len())];
            let (good, bad) = probes(&key.form);
            let values = if draw.below(4) == 0 { bad } else { good };
            if !values.is_empty() {
                sets.push(own(place, key, &values[draw.below(values.len())]));
            }
        }
        out.push((places[first].shape.title, sets));
    }
    out
}

#[test]
fn readings_are_as_kept() {
    let mut tables: BTreeMap<&str, Outcomes> = BTreeMap::new();
    let mut all = String::new();
    let shown = std::env::var_os("STILLAIR_READINGS");
    for (title, sets) in corpus() {
        let (accepted, text) = match parse(SPECIMEN, "good.toml", &sets) {
            Ok(read) => (true, read.resolved().to_string()),
            Err(error) => (false, error.to_string()),
        };
        let table =
            tables.entry(title).or_insert(Outcomes { hash: 0xcbf2_9ce4_8422_2325, accepted: 0, refused: 0 });
        *(if accepted { &mut table.accepted } else { &mut table.refused }) += 1;
        table.add(&text);
        if shown.is_some() {
            writeln!(all, "{title}: {sets:?}\n    {}", text.replace('\n', "\n    ")).expect("a string");
        }
    }
    if let Some(file) = shown {
        std::fs::write(file, all).expect("the file of STILLAIR_READINGS can be written");
    }
    let mut found = String::new();
    for (title, Outcomes { hash, accepted, refused }) in &tables {
        writeln!(found, "{title}: {accepted} accepted, {refused} refused, {hash:016x}").expect("a string");
    }
    assert!(found == KEPT, "readings.txt should be:\n{found}");
}
