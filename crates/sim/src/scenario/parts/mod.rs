//! User-defined parts. A program registers them by name, and its scenarios use them like built-in parts.
//!
//! A part has a name, keys, and a function that creates an instance from the values of its keys. The reader
//! checks these keys like built-in ones. A trait in the model defines the behaviour of each kind of part.

mod check;
mod key;
mod named;
mod options;
mod part;
mod places;

use core::any::Any;
use core::fmt;
use std::sync::Arc;

use stillair_model::aqm::algorithm::AqmAlgorithm;
use stillair_model::qdisc::custom::Discipline;
use stillair_model::transport::cc::{self, Controller, CustomController};
use stillair_model::types::{PartFactory, RandomStream};
use stillair_model::wifi::driver::StationScheduler;

use super::description::{self, Family, TableSchema};
pub use key::Key;
use named::Named;
pub(crate) use named::take_left;
pub use options::{Options, Setting};
use part::Make;
pub(super) use part::{Part, Refusal, Trial};

/// The reason why a part cannot be registered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartError(String);

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PartError {}

/// A registered part, for lists.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Kind of the part, such as "congestion control".
    pub kind: &'static str,
    /// Name of the part.
    pub name: &'a str,
    /// Description of the part.
    pub about: &'a str,
    /// Keys of the part.
    pub keys: &'static [Key],
}

const CONTROL: &str = "congestion control";
const QDISC: &str = "queueing discipline";
const AQM: &str = "AQM";
const SCHEDULER: &str = "station scheduler";

/// Title of the table of a Wi-Fi interface's qdisc.
const WIFI_QDISC: &str = "Wi-Fi qdisc";

/// Reserved names: built-in qdiscs, and names for the lack of one.
const DISCIPLINES: [&str; 14] = [
    "pfifo_fast",
    "pfifo",
    "bfifo",
    "codel",
    "fq_codel",
    "cake",
    "sfq",
    "htb",
    "tbf",
    "fq",
    "pie",
    "netem",
    "noqueue",
    "mq",
];

/// Names of built-in station schedulers.
const SCHEDULERS: [&str; 4] = ["round_robin", "airtime", "airtime_as_printed", "mac80211"];

/// All user-defined parts of a program.
#[derive(Default)]
pub struct Parts {
    controls: Vec<Part<dyn CustomController, ()>>,
    qdiscs: Vec<Part<dyn Discipline + Send, RandomStream>>,
    aqms: Vec<Part<dyn AqmAlgorithm + Send, RandomStream>>,
    schedulers: Vec<Part<dyn StationScheduler + Send, usize>>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list().map(|part| (part.kind, part.name))).finish()
    }
}

impl Parts {
    /// Returns an empty set of parts.
    pub fn none() -> &'static Self {
        static NONE: Parts =
            Parts { controls: Vec::new(), qdiscs: Vec::new(), aqms: Vec::new(), schedulers: Vec::new() };
        &NONE
    }

    /// Registers a congestion control for TCP and for the QUIC model. `make` creates an instance in its
    /// initial state.
    ///
    /// An error of `make`, here and in the functions below, states what is expected instead of the given
    /// options, such as `"a low below high"`. It becomes an error of the options' table. Registration creates
    /// one part with the defaults.
    pub fn congestion_control<C: Controller + Clone + fmt::Debug + Send + 'static>(
        &mut self,
        name: &'static str,
        about: &'static str,
        keys: Vec<Key>,
        make: impl Fn(&Options) -> Result<C, String> + Send + Sync + 'static,
    ) -> Result<&mut Self, PartError> {
        let taken = self.controls.iter().map(|part| part.name);
        admit(CONTROL, name, taken.chain(cc::NAMES.iter().copied()), &keys, &[])?;
        let keys: &'static [Key] = keys.leak();
        let over_quic: &'static str = format!("tcp_{name}").leak();
        let shapes =
            [name, over_quic].map(|name| table("Congestion control", name, about, keys, &[])).to_vec();
        let title = title(CONTROL, name);
        let make: Make<dyn CustomController, ()> =
            Arc::new(move |options, ()| Ok(Box::new(Named { title, part: make(options)? })));
        let part = Part { title, name, about, keys, shapes, make };
        tried(&part)?;
        self.controls.push(part);
        Ok(self)
    }

    /// Registers a queueing discipline. `make` creates an empty instance with its random stream.
    pub fn qdisc<D: Discipline + Send + 'static>(
        &mut self,
        name: &'static str,
        about: &'static str,
        keys: Vec<Key>,
        make: impl Fn(&Options, RandomStream) -> Result<D, String> + Send + Sync + 'static,
    ) -> Result<&mut Self, PartError> {
        admit(QDISC, name, self.discipline_names(), &keys, &["mq"])?;
        let keys: &'static [Key] = keys.leak();
        let shapes =
            vec![table("Qdisc", name, about, keys, &[]), table(WIFI_QDISC, name, about, keys, places::MQ)];
        let title = title(QDISC, name);
        let make: Make<dyn Discipline + Send, RandomStream> =
            Arc::new(move |options, stream| Ok(Box::new(Named { title, part: make(options, stream)? })));
        let part = Part { title, name, about, keys, shapes, make };
        tried(&part)?;
        self.qdiscs.push(part);
        Ok(self)
    }

    /// Registers an AQM algorithm. In a scenario its name means a qdisc with a single queue; with the prefix
    /// `fq_`, a qdisc with the AQM on each flow queue. It can also run on the MAC's queues. `make` creates
    /// the AQM of one queue, with its random stream.
    pub fn aqm<L: AqmAlgorithm + Send + 'static>(
        &mut self,
        name: &'static str,
        about: &'static str,
        keys: Vec<Key>,
        make: impl Fn(&Options, RandomStream) -> Result<L, String> + Send + Sync + 'static,
    ) -> Result<&mut Self, PartError> {
        let of_flows: &'static str = format!("fq_{name}").leak();
        let reserved = ["limit", "flows", "quantum", "memory_limit", "drop_batch", "mq"];
        for name in [name, of_flows] {
            admit(AQM, name, self.discipline_names(), &keys, &reserved)?;
        }
        let keys: &'static [Key] = keys.leak();
        // In the order of `AqmPlace`.
        let shapes = vec![
            table(AQM, name, about, keys, &[]),
            table("Qdisc", name, about, keys, places::LIMIT),
            table(WIFI_QDISC, name, about, keys, places::LIMIT_MQ),
            table("Qdisc", of_flows, about, keys, places::FLOWS),
            table(WIFI_QDISC, of_flows, about, keys, places::FLOWS_MQ),
        ];
        let title = title(AQM, name);
        let make: Make<dyn AqmAlgorithm + Send, RandomStream> =
            Arc::new(move |options, stream| Ok(Box::new(Named { title, part: make(options, stream)? })));
        let part = Part { title, name, about, keys, shapes, make };
        tried(&part)?;
        self.aqms.push(part);
        Ok(self)
    }

    /// Registers a station scheduler of an access point. `make` creates a scheduler for the given number of
    /// stations.
    pub fn station_scheduler<S: StationScheduler + Send + 'static>(
        &mut self,
        name: &'static str,
        about: &'static str,
        keys: Vec<Key>,
        make: impl Fn(&Options, usize) -> Result<S, String> + Send + Sync + 'static,
    ) -> Result<&mut Self, PartError> {
        let taken = self.schedulers.iter().map(|part| part.name).chain(SCHEDULERS);
        admit(SCHEDULER, name, taken, &keys, &[])?;
        let keys: &'static [Key] = keys.leak();
        let shapes = vec![table("Station scheduler", name, about, keys, &[])];
        let title = title(SCHEDULER, name);
        let make: Make<dyn StationScheduler + Send, usize> =
            Arc::new(move |options, peers| Ok(Box::new(Named { title, part: make(options, peers)? })));
        let part = Part { title, name, about, keys, shapes, make };
        tried(&part)?;
        self.schedulers.push(part);
        Ok(self)
    }

    /// Returns the names that may be used as qdiscs.
    fn discipline_names(&self) -> impl Iterator<Item = &str> {
        let aqms = self.aqms.iter().flat_map(|part| [part.name, part.shapes[3].kind()]);
        self.qdiscs.iter().map(|part| part.name).chain(aqms).chain(DISCIPLINES)
    }

    /// Returns all parts, by kind.
    pub fn list(&self) -> impl Iterator<Item = Listed<'_>> {
        let controls = self.controls.iter().map(|part| part.listed(CONTROL));
        let qdiscs = self.qdiscs.iter().map(|part| part.listed(QDISC));
        let aqms = self.aqms.iter().map(|part| part.listed(AQM));
        let schedulers = self.schedulers.iter().map(|part| part.listed(SCHEDULER));
        controls.chain(qdiscs).chain(aqms).chain(schedulers)
    }

    /// Returns the tables of the parts of a family.
    pub(super) fn shapes(&self, family: Family) -> Vec<&'static TableSchema> {
        let disciplines = |at: usize| {
            let own = self.qdiscs.iter().map(move |part| part.shapes[at]);
            own.chain(self.aqms.iter().flat_map(move |part| [part.shapes[1 + at], part.shapes[3 + at]]))
                .collect()
        };
        match family {
            Family::Control => self.controls.iter().map(|part| part.shapes[0]).collect(),
            Family::QuicControl => self.controls.iter().map(|part| part.shapes[1]).collect(),
            Family::Qdisc => disciplines(0),
            Family::WifiQdisc => disciplines(1),
            Family::Aqm => self.aqms.iter().map(|part| part.shapes[0]).collect(),
            Family::Scheduler => self.schedulers.iter().map(|part| part.shapes[0]).collect(),
        }
    }

    /// Returns the congestion control of this name.
    pub(super) fn find_control(&self, name: &str) -> Option<&Part<dyn CustomController, ()>> {
        self.controls.iter().find(|part| part.name == name)
    }

    /// Returns the scheduler of this name.
    pub(super) fn find_scheduler(&self, name: &str) -> Option<&Part<dyn StationScheduler + Send, usize>> {
        self.schedulers.iter().find(|part| part.name == name)
    }

    /// Returns the AQM algorithm of this name.
    pub(super) fn find_aqm(&self, name: &str) -> Option<&Part<dyn AqmAlgorithm + Send, RandomStream>> {
        self.aqms.iter().find(|part| part.name == name)
    }

    /// Returns the part that is used as a qdisc under this name.
    pub(super) fn find_discipline(&self, name: &str) -> Option<Found<'_>> {
        let own = self.qdiscs.iter().find(|part| part.name == name).map(Found::Custom);
        let aqm = || self.find_aqm(name).map(Found::Aqm);
        let of_flows = || self.aqms.iter().find(|part| part.shapes[3].kind() == name).map(Found::FqAqm);
        own.or_else(aqm).or_else(of_flows)
    }
}

/// A part used as a qdisc.
pub(super) enum Found<'a> {
    /// A user-defined qdisc.
    Custom(&'a Part<dyn Discipline + Send, RandomStream>),
    /// An AQM on a single queue.
    Aqm(&'a Part<dyn AqmAlgorithm + Send, RandomStream>),
    /// An AQM on each flow queue.
    FqAqm(&'a Part<dyn AqmAlgorithm + Send, RandomStream>),
}

/// Rejects names and keys that a part may not have.
fn admit<'a>(
    kind: &str,
    name: &str,
    mut taken: impl Iterator<Item = &'a str>,
    keys: &[Key],
    reserved: &[&str],
) -> Result<(), PartError> {
    let wrong = |why: String| Err(PartError(format!("{kind} {name:?}: {why}")));
    if !is_name(name) {
        return wrong("its name must be of up to 64 letters, digits, \"_\" and \"-\"".to_owned());
    }
    if taken.any(|other| other.eq_ignore_ascii_case(name)) {
        return wrong("there is one of that name already, so that it must have another".to_owned());
    }
    for (nth, key) in keys.iter().enumerate() {
        let own = key.0.name;
        if !is_name(own) {
            return wrong(format!(
                "the name of key {own:?} must be of up to 64 letters, digits, \"_\" and \"-\""
            ));
        }
        if own == "kind" || reserved.contains(&own) {
            return wrong(format!("a key {own:?} is there already, so that its own must have another name"));
        }
        if keys[..nth].iter().any(|other| other.0.name == own) {
            return wrong(format!("key {own:?} is there a second time"));
        }
        let resolved = key.resolved_name();
        if let Some(other) = keys[..nth].iter().find(|other| other.resolved_name() == resolved) {
            return wrong(format!(
                "keys {:?} and {own:?} would both be {resolved:?} in the resolved scenario, so that one must have another name",
                other.0.name
            ));
        }
        if let Some(why) = key.fault() {
            return wrong(format!("key {own:?}: {why}"));
        }
    }
    Ok(())
}

/// Returns a part's kind and name for messages. Leaked, like the tables of the part.
fn title(kind: &str, name: &str) -> &'static str {
    format!("{kind} {name:?}").leak()
}

/// Creates the factory of the part with the defaults of its keys.
fn tried<T: ?Sized + 'static, A: Trial + 'static>(part: &Part<T, A>) -> Result<PartFactory<T, A>, PartError> {
    part.by_default().map_err(|Refusal { found, expected }| {
        let title = part.title;
        PartError(format!("{title}, with the defaults of its keys: found {found}, expected {expected}"))
    })
}

/// Returns the message of a panic.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words")
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(plain)
}

/// Returns the table of a part: its kind, its own keys, and those common to its family at this place.
///
/// Leaks the table, as a program registers its parts only once.
fn table(
    family: &str,
    name: &'static str,
    about: &'static str,
    keys: &'static [Key],
    others: &'static [description::Key],
) -> &'static TableSchema {
    let tag: &'static [description::Key] = vec![description::Key::tag("kind", name)].leak();
    let own: &'static [description::Key] = keys.iter().map(|key| key.0).collect::<Vec<_>>().leak();
    let groups: &'static [&'static [description::Key]] = vec![tag, own, others].leak();
    Box::leak(Box::new(TableSchema { title: format!("{family} {name}").leak(), about, groups }))
}

#[cfg(test)]
mod tests;
