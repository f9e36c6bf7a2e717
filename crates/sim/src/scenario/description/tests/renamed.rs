//! Former names of keys and values are rejected with the current name, wherever they appear.

use super::places::{Place, places};
use super::{SPECIMEN, parse, read};
use crate::scenario::document::join;
use crate::scenario::renamed::{RENAMED, conversion};
use crate::scenario::sweep;

/// The only renamed value; all others are keys.
const VALUE: &str = "outside";

fn says(sets: &[(&str, &str)]) -> String {
    let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    read(&sets).expect_err("a former name")
}

#[test]
fn of_each_key() {
    let all = places();
    for (old, new) in RENAMED.iter().filter(|(old, _)| *old != VALUE) {
        let of_it = |place: &&Place| place.shape.key(new).is_some() && place.shape.key(old).is_none();
        let places: Vec<&Place> = all.iter().filter(of_it).collect();
        assert!(!places.is_empty(), "{new} is the key of no table");
        for place in places {
            let path = join(&place.path, old);
            let sets = [place.sets.clone(), vec![(path.clone(), "1".to_owned())]].concat();
            let said = read(&sets).expect_err("a former name");
            let converted = conversion(old);
            let expected =
                format!("{path}: found an unknown key, expected {new:?}, the new name of {old:?}{converted}");
            assert!(said.contains(&expected), "{path}: {said}");
        }
    }
}

#[test]
fn of_a_value() {
    assert_eq!(
        says(&[("node.server.host", VALUE)]),
        "--set: node.server.host: found \"outside\", expected \"external\", the new name of \"outside\""
    );
}

#[test]
fn former_names_in_file_step_and_sweep() {
    let text = SPECIMEN.replacen("inherits = ", "like = ", 1);
    assert_eq!(
        parse(&text, "good.toml", &[]).expect_err("a former name").to_string(),
        "good.toml:25: node.fast2.like: found an unknown key, expected \"inherits\", the new name of \"like\""
    );
    assert_eq!(
        says(&[("step", "[{ at = \"1 s\", set = [\"node.slow.interface.wlan0.unheard_rate=0.1\"] }]")]),
        "--set: step.0.set.0: found node.slow.interface.wlan0.unheard_rate, which cannot change while a run goes on, \
         expected \"preamble_loss_rate\", the new name of \"unheard_rate\""
    );
    let swept = format!("{SPECIMEN}\"flow.0.mark\" = [\"EF\"]\n");
    assert_eq!(
        sweep(&swept, "good.toml", &[]).expect_err("a former name").to_string(),
        "good.toml:53: sweep.flow.0.mark.0: found an unknown key, expected \"dscp\", the new name of \"mark\""
    );
}
