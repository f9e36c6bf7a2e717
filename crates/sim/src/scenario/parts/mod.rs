//! Parts of somebody's own: what a program registers by name, for its scenarios to use as they use what is built in.
//!
//! A part has a name, keys and a function that makes one of them from the values of its keys. The reader knows the keys as it
//! knows its own, so that a wrong one is one clear error. What a part does is said by the trait of its kind, in the model.

mod key;
mod options;

use core::fmt;
use std::sync::Arc;

use stillair_model::transport::cc::{self, Controller, OwnController};
use stillair_model::vocabulary::Own;

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

/// A part of a kind.
struct Part<T: ?Sized, A> {
    name: &'static str,
    about: &'static str,
    keys: &'static [Key],
    /// Its table, for each of the places in which it may stand.
    shapes: Vec<&'static Shape>,
    make: Make<T, A>,
}

impl<T: ?Sized + 'static, A: 'static> Part<T, A> {
    /// The part with these options.
    fn with(&self, options: Options) -> Own<T, A> {
        let make = self.make.clone();
        Own::new(self.name, &options.to_json().to_string(), move |with| make(&options, with))
    }
}

/// All parts of a program's own.
#[derive(Default)]
pub struct Parts {
    controls: Vec<Part<dyn OwnController, ()>>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list().map(|part| (part.kind, part.name))).finish()
    }
}

impl Parts {
    /// No part.
    pub fn none() -> &'static Self {
        static NONE: Parts = Parts { controls: Vec::new() };
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
        admit("congestion control", name, taken.chain(cc::NAMES.iter().copied()), &keys, &[])?;
        let keys: &'static [Key] = keys.leak();
        let shapes = vec![table("Congestion control", name, about, keys, &[])];
        let make = Arc::new(move |options: &Options, ()| Box::new(make(options)) as Box<dyn OwnController>);
        self.controls.push(Part { name, about, keys, shapes, make });
        Ok(self)
    }

    /// All parts, kind by kind.
    pub fn list(&self) -> impl Iterator<Item = Listed<'_>> {
        self.controls.iter().map(|p| Listed {
            kind: "congestion control",
            name: p.name,
            about: p.about,
            keys: p.keys,
        })
    }

    /// The tables of the parts of a family.
    pub(super) fn shapes(&self, family: Family) -> Vec<&'static Shape> {
        match family {
            Family::Control => self.controls.iter().map(|part| part.shapes[0]).collect(),
        }
    }

    /// The keys of the congestion control of that name, if there is one.
    pub(super) fn control_keys(&self, name: &str) -> Option<&'static [Key]> {
        self.controls.iter().find(|part| part.name == name).map(|part| part.keys)
    }

    /// The congestion control of that name, which there is, with these options.
    pub(super) fn control(&self, name: &str, options: Options) -> Own<dyn OwnController> {
        let part = self.controls.iter().find(|part| part.name == name);
        part.expect("it was found by its keys").with(options)
    }
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
