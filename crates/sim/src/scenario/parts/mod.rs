//! Parts of somebody's own: what a program registers by name, for its scenarios to use as they use what is built in.
//!
//! A part has a name, keys and a function that makes one of them from the values of its keys. The reader knows the keys as it
//! knows its own, so that a wrong one is one clear error. What a part does is said by the trait of its kind, in the model.

mod check;
mod key;
mod options;
mod places;

use core::fmt;
use std::sync::Arc;

use stillair_model::aqm::law::Law;
use stillair_model::qdisc::custom::Discipline;
use stillair_model::transport::cc::{self, Controller, CustomController};
use stillair_model::vocabulary::{PartFactory, Stream};
use stillair_model::wifi::driver::StationScheduler;

use super::contract::{self, Family, Shape};
pub use key::Key;
pub use options::{Options, Setting};

/// Makes parts from the values of their keys and what the world gives besides.
type Make<T, A> = Arc<dyn Fn(&Options, A) -> Box<T> + Send + Sync>;

/// Why a part cannot be registered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartError(String);

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PartError {}

/// A part that was registered, as a list of them shows it.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// What it is, such as "congestion control".
    pub kind: &'static str,
    /// Its name.
    pub name: &'a str,
    /// What it does.
    pub about: &'a str,
    /// Its keys.
    pub keys: &'static [Key],
}

const CONTROL: &str = "congestion control";
const QDISC: &str = "queueing discipline";
const LAW: &str = "AQM law";
const SCHEDULER: &str = "station scheduler";

/// Names of disciplines that are built in, and of what is none.
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

/// Names by which stations are served that are built in.
const SCHEDULERS: [&str; 4] = ["round_robin", "airtime", "airtime_as_printed", "mac80211"];

/// A part of a kind.
pub(super) struct Part<T: ?Sized, A> {
    name: &'static str,
    about: &'static str,
    pub(super) keys: &'static [Key],
    /// Its table, for each of the places in which it may stand.
    shapes: Vec<&'static Shape>,
    make: Make<T, A>,
}

impl<T: ?Sized + 'static, A: 'static> Part<T, A> {
    fn listed(&self, kind: &'static str) -> Listed<'_> {
        Listed { kind, name: self.name, about: self.about, keys: self.keys }
    }

    /// The part with the defaults of its keys.
    fn by_default(&self) -> PartFactory<T, A> {
        self.with(Options(self.keys.iter().map(|key| (key.name(), key.default_setting())).collect()))
    }

    /// The part with these options.
    pub(super) fn with(&self, options: Options) -> PartFactory<T, A> {
        let make = self.make.clone();
        PartFactory::new(self.name, &options.to_json().to_string(), move |with| make(&options, with))
    }
}

/// All parts of a program's own.
#[derive(Default)]
pub struct Parts {
    controls: Vec<Part<dyn CustomController, ()>>,
    qdiscs: Vec<Part<dyn Discipline + Send, Stream>>,
    laws: Vec<Part<dyn Law + Send, Stream>>,
    schedulers: Vec<Part<dyn StationScheduler + Send, usize>>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list().map(|part| (part.kind, part.name))).finish()
    }
}

impl Parts {
    /// No part.
    pub fn none() -> &'static Self {
        static NONE: Parts =
            Parts { controls: Vec::new(), qdiscs: Vec::new(), laws: Vec::new(), schedulers: Vec::new() };
        &NONE
    }

    /// Registers a congestion control for TCP and for the model of QUIC. `make` makes one, in its initial state.
    pub fn congestion_control<C: Controller + Clone + fmt::Debug + Send + 'static>(
        &mut self,
        name: &'static str,
        about: &'static str,
        keys: Vec<Key>,
        make: impl Fn(&Options) -> C + Send + Sync + 'static,
    ) -> Result<&mut Self, PartError> {
        let taken = self.controls.iter().map(|part| part.name);
        admit(CONTROL, name, taken.chain(cc::NAMES.iter().copied()), &keys, &[])?;
        let keys: &'static [Key] = keys.leak();
        let over_quic: &'static str = format!("tcp_{name}").leak();
        let shapes =
            [name, over_quic].map(|name| table("Congestion control", name, about, keys, &[])).to_vec();
        let make =
            Arc::new(move |options: &Options, ()| Box::new(make(options)) as Box<dyn CustomController>);
        self.controls.push(Part { name, about, keys, shapes, make });
        Ok(self)
    }

    /// Registers a queueing discipline. `make` makes an empty one; the stream is for what it leaves to chance.
    pub fn qdisc<D: Discipline + Send + 'static>(
        &mut self,
        name: &'static str,
        about: &'static str,
        keys: Vec<Key>,
        make: impl Fn(&Options, Stream) -> D + Send + Sync + 'static,
    ) -> Result<&mut Self, PartError> {
        admit(QDISC, name, self.discipline_names(), &keys, &["mq"])?;
        let keys: &'static [Key] = keys.leak();
        let shapes = [&[][..], places::MQ].map(|more| table("Qdisc", name, about, keys, more)).to_vec();
        let make = Arc::new(move |options: &Options, stream| {
            Box::new(make(options, stream)) as Box<dyn Discipline + Send>
        });
        self.qdiscs.push(Part { name, about, keys, shapes, make });
        Ok(self)
    }

    /// Registers a control law. It stands by its name as a discipline of one queue, with `fq_` before it as one of flow queues with
    /// the law on each, and in the queues of the MAC. `make` makes one for a queue; the stream is for what it leaves to chance.
    pub fn law<L: Law + Send + 'static>(
        &mut self,
        name: &'static str,
        about: &'static str,
        keys: Vec<Key>,
        make: impl Fn(&Options, Stream) -> L + Send + Sync + 'static,
    ) -> Result<&mut Self, PartError> {
        let of_flows: &'static str = format!("fq_{name}").leak();
        let reserved = ["limit", "flows", "quantum", "memory_limit", "drop_batch", "mq"];
        for name in [name, of_flows] {
            admit(LAW, name, self.discipline_names(), &keys, &reserved)?;
        }
        let keys: &'static [Key] = keys.leak();
        // In the order of `LawPlace`.
        let shapes = vec![
            table("Law", name, about, keys, &[]),
            table("Qdisc", name, about, keys, places::LIMIT),
            table("Qdisc", name, about, keys, places::LIMIT_MQ),
            table("Qdisc", of_flows, about, keys, places::FLOWS),
            table("Qdisc", of_flows, about, keys, places::FLOWS_MQ),
        ];
        let make =
            Arc::new(move |options: &Options, stream| Box::new(make(options, stream)) as Box<dyn Law + Send>);
        self.laws.push(Part { name, about, keys, shapes, make });
        Ok(self)
    }

    /// Registers a scheduler of an access point's stations. `make` makes one for so many of them.
    pub fn station_scheduler<S: StationScheduler + Send + 'static>(
        &mut self,
        name: &'static str,
        about: &'static str,
        keys: Vec<Key>,
        make: impl Fn(&Options, usize) -> S + Send + Sync + 'static,
    ) -> Result<&mut Self, PartError> {
        let taken = self.schedulers.iter().map(|part| part.name).chain(SCHEDULERS);
        admit(SCHEDULER, name, taken, &keys, &[])?;
        let keys: &'static [Key] = keys.leak();
        let shapes = vec![table("Station scheduler", name, about, keys, &[])];
        let make = Arc::new(move |options: &Options, peers| {
            Box::new(make(options, peers)) as Box<dyn StationScheduler + Send>
        });
        self.schedulers.push(Part { name, about, keys, shapes, make });
        Ok(self)
    }

    /// Names that stand for disciplines.
    fn discipline_names(&self) -> impl Iterator<Item = &str> {
        let laws = self.laws.iter().flat_map(|part| [part.name, part.shapes[3].kind()]);
        self.qdiscs.iter().map(|part| part.name).chain(laws).chain(DISCIPLINES)
    }

    /// All parts, kind by kind.
    pub fn list(&self) -> impl Iterator<Item = Listed<'_>> {
        let controls = self.controls.iter().map(|part| part.listed(CONTROL));
        let qdiscs = self.qdiscs.iter().map(|part| part.listed(QDISC));
        let laws = self.laws.iter().map(|part| part.listed(LAW));
        let schedulers = self.schedulers.iter().map(|part| part.listed(SCHEDULER));
        controls.chain(qdiscs).chain(laws).chain(schedulers)
    }

    /// The tables of the parts of a family.
    pub(super) fn shapes(&self, family: Family) -> Vec<&'static Shape> {
        let disciplines = |at: usize| {
            let own = self.qdiscs.iter().map(move |part| part.shapes[at]);
            own.chain(self.laws.iter().flat_map(move |part| [part.shapes[1 + at], part.shapes[3 + at]]))
                .collect()
        };
        match family {
            Family::Control => self.controls.iter().map(|part| part.shapes[0]).collect(),
            Family::QuicControl => self.controls.iter().map(|part| part.shapes[1]).collect(),
            Family::Qdisc => disciplines(0),
            Family::WifiQdisc => disciplines(1),
            Family::Law => self.laws.iter().map(|part| part.shapes[0]).collect(),
            Family::Scheduler => self.schedulers.iter().map(|part| part.shapes[0]).collect(),
        }
    }

    /// The congestion control of that name.
    pub(super) fn find_control(&self, name: &str) -> Option<&Part<dyn CustomController, ()>> {
        self.controls.iter().find(|part| part.name == name)
    }

    /// The scheduler of that name.
    pub(super) fn find_scheduler(&self, name: &str) -> Option<&Part<dyn StationScheduler + Send, usize>> {
        self.schedulers.iter().find(|part| part.name == name)
    }

    /// The law of that name.
    pub(super) fn find_law(&self, name: &str) -> Option<&Part<dyn Law + Send, Stream>> {
        self.laws.iter().find(|part| part.name == name)
    }

    /// What stands for a discipline by that name.
    pub(super) fn find_discipline(&self, name: &str) -> Option<Found<'_>> {
        let own = self.qdiscs.iter().find(|part| part.name == name).map(Found::Custom);
        let law = || self.find_law(name).map(Found::Law);
        let of_flows = || self.laws.iter().find(|part| part.shapes[3].kind() == name).map(Found::FqLaw);
        own.or_else(law).or_else(of_flows)
    }
}

/// What stands for a discipline.
pub(super) enum Found<'a> {
    /// One of somebody's own.
    Custom(&'a Part<dyn Discipline + Send, Stream>),
    /// A law on one queue.
    Law(&'a Part<dyn Law + Send, Stream>),
    /// A law on each of the queues of flows.
    FqLaw(&'a Part<dyn Law + Send, Stream>),
}

/// Refuses a name or keys that a part may not have.
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
    if taken.any(|other| other == name) {
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
        if let Some(why) = key.fault() {
            return wrong(format!("key {own:?}: {why}"));
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(plain)
}

/// The table of a part: its kind, its own keys, and what all of its family have in a place.
///
/// Tables stay in memory for good, as those of built-in parts do: a program registers its parts once.
fn table(
    family: &str,
    name: &'static str,
    about: &'static str,
    keys: &'static [Key],
    others: &'static [contract::Key],
) -> &'static Shape {
    let tag: &'static [contract::Key] = vec![contract::Key::tag("kind", name)].leak();
    let own: &'static [contract::Key] = keys.iter().map(|key| key.0).collect::<Vec<_>>().leak();
    let groups: &'static [&'static [contract::Key]] = vec![tag, own, others].leak();
    Box::leak(Box::new(Shape { title: format!("{family} {name}").leak(), about, groups }))
}

#[cfg(test)]
mod tests;
