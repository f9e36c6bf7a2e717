//! User-defined station schedulers: one that violates the contract ends the run with a message, and weights
//! need a scheduler that supports them.

use std::sync::Mutex;

use stillair_model::types::{Ac, Duration, Instant, PeerId, Seed};
use stillair_model::wifi::driver::{AirtimeUse, DeviceView, StationScheduler};
use stillair_model::wifi::tx::transmitter::{Attempt, TidIndex};
use stillair_sim::batch::{self, Batch, News};
use stillair_sim::parts::{Key, Options, Parts};
use stillair_sim::run::run_once;
use stillair_sim::scenario::{NoFiles, Reader, Scenario};

/// Always selects the first station's best effort, or a TID that the device does not have.
#[derive(Debug)]
struct Stuck {
    beyond: bool,
    weights: bool,
    panics: bool,
}

impl StationScheduler for Stuck {
    fn has_weights(&self) -> bool {
        self.weights
    }
    fn weigh(&mut self, _: PeerId, _: u32) {}
    fn schedule(&mut self, _: Instant, _: TidIndex) {}
    fn charge(&mut self, _: Instant, _: TidIndex, _: Duration, _: AirtimeUse) {}
    fn start(&mut self, _: Ac) {}
    fn next(&mut self, _: Instant, ac: Ac, _: &DeviceView<'_>) -> Option<TidIndex> {
        assert!(!self.panics, "out of ideas");
        (ac == Ac::Be).then(|| TidIndex::new(PeerId(if self.beyond { 9 } else { 0 }), 0))
    }
    fn done(&mut self, _: Instant, _: TidIndex, _: Attempt, _: &DeviceView<'_>) -> bool {
        true
    }
}

fn read(options: &str, station: &str) -> Result<Scenario, String> {
    let (parts, text) = (parts(), text(options, station));
    Reader { parts: &parts, files: &NoFiles }.parse(&text, "stuck.toml", &[]).map_err(|e| e.to_string())
}

fn parts() -> Parts {
    let mut parts = Parts::default();
    let keys = vec![
        Key::boolean("beyond", false, "names what is not there"),
        Key::boolean("weights", false, "heeds weights"),
        Key::boolean("panics", false, "gives up"),
    ];
    let make = |o: &Options, _| {
        Ok(Stuck { beyond: o.boolean("beyond"), weights: o.boolean("weights"), panics: o.boolean("panics") })
    };
    parts.station_scheduler("stuck", "never ends", keys, make).expect("a part");
    parts
}

fn text(options: &str, station: &str) -> String {
    format!(
        r#"
name = "stuck"
duration = "100 ms"
channel.air = {{ band = "5 GHz", width = "20 MHz" }}
[node.ap]
profile = "linux-6.12"
interface.wlan0 = {{ channel = "air", role = "ap", address = "10.0.0.1", scheme = {{ kind = "fq_mac", scheduler = {{ kind = "stuck"{options} }} }} }}
[node.sta]
profile = "linux-6.12"
interface.wlan0 = {{ channel = "air", role = "station", ap = "ap.wlan0", address = "10.0.0.2", rate = "ht20-mcs7-lgi"{station} }}
[[flow]]
kind = "udp"
from = "ap"
to = "sta"
rate = "5 Mbit/s"
"#
    )
}

/// Returns the error of a run with these options.
fn ends(options: &str) -> String {
    run_once(&read(options, "").expect("a good scenario"), Seed { seed: 7, run: 3 }).expect_err("it breaks")
}

#[test]
fn endless_selection_is_reported() {
    let says = ends("");
    let what = "station scheduler \"stuck\": has named 33 identifiers in a row that could not send";
    assert!(says.starts_with("run 3, seed 7: panicked: ") && says.contains(what), "{says}");
}

#[test]
fn unknown_tid_is_reported() {
    let says = ends(", beyond = true");
    assert!(says.contains("station scheduler \"stuck\": names identifier 72"), "{says}");
}

/// A panic in a part is reported with the part and the run.
#[test]
fn panic_names_run_seed_and_part() {
    let says = ends(", panics = true");
    assert_eq!(says, "run 3, seed 7: station scheduler \"stuck\" panicked: out of ideas");
}

/// A failing variant is reported once, and the others run.
#[test]
fn failing_variant_does_not_stop_others() {
    let parts = parts();
    let scheme = |value: &str| vec![("node.ap.interface.wlan0.scheme".to_owned(), value.to_owned())];
    let broken = "{ kind = \"fq_mac\", scheduler = { kind = \"stuck\", panics = true } }";
    let variants = vec![scheme(broken), scheme("fifo"), scheme("fq_mac")];
    let (text, file) = (text("", ""), "stuck.toml".to_owned());
    for jobs in [1, 3] {
        let told = Mutex::new(Vec::new());
        let batch = Batch {
            text: text.clone(),
            file: file.clone(),
            variants: variants.clone(),
            seed: Some(7),
            runs: 2,
            jobs,
        };
        let ended = batch::run_by(&Reader { parts: &parts, files: &NoFiles }, &batch, &|news| {
            match news {
                News::Runs(_) => {}
                News::Variant(nth, _) => told.lock().unwrap().push((nth, String::new())),
                News::Failed(nth, why) => told.lock().unwrap().push((nth, why.replacen("run 1", "run 0", 1))),
            }
            true
        });
        assert_eq!(ended, Ok(()));
        let mut told = told.into_inner().unwrap();
        told.sort();
        let why = "run 0, seed 7: station scheduler \"stuck\" panicked: out of ideas".to_owned();
        assert_eq!(told, [(0, why), (1, String::new()), (2, String::new())]);
    }
}

#[test]
fn weights_need_a_scheduler_that_supports_them() {
    let refused = read("", ", airtime_weight = 512").expect_err("a key without effect");
    assert!(
        refused.contains("airtime_weight: found 512, while the scheme of \"ap.wlan0\" has no weights"),
        "{refused}"
    );
    assert!(read(", weights = true", ", airtime_weight = 512").is_ok());
}
