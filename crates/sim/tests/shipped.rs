//! Shipped scenario files, and sweeps as a whole.

use std::fs;
use std::path::Path;

use stillair_sim::scenario;

const GOOD: &str = include_str!("scenario/good.toml");

/// Every file below `scenarios/` is read, on its own and with each combination of its sweep.
#[test]
fn every_shipped_file_and_its_sweep() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let (mut folders, mut files) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut swept = 0;
    for path in &files {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
        assert!(name.ends_with(".toml"), "{name} is no scenario");
        let text = fs::read_to_string(path).unwrap();
        let sets = scenario::sweep(&text, name, &[]).unwrap_or_else(|e| panic!("{e}"));
        swept += usize::from(sets.len() > 1);
        for set in [Vec::new()].iter().chain(&sets) {
            scenario::parse(&text, name, set).unwrap_or_else(|e| panic!("{e} {set:?}"));
        }
    }
    assert!(files.len() >= 6 && swept >= 1, "{} files, {swept} of them swept", files.len());
}

/// Overrides are applied before the sweep's settings, whose values depend on them.
#[test]
fn sweep_with_overrides() {
    let text = GOOD.replacen(
        "\"node.ap.interface.wlan0.scheme\" = [\"fifo\", \"fq_codel\", \"fq_mac\", \"airtime\"]",
        "warm_up = [\"40 s\"]",
        1,
    );
    let sweep = |sets: &[(String, String)]| scenario::sweep(&text, "good.toml", sets);
    assert_eq!(
        sweep(&[]).unwrap_err().to_string(),
        "good.toml:52: sweep.warm_up.0: found \"40 s\", expected a time shorter than duration"
    );
    let longer = [("duration".to_owned(), "50 s".to_owned())];
    assert_eq!(sweep(&longer), Ok(vec![vec![("warm_up".to_owned(), "40 s".to_owned())]]));
}
