//! A registered part of a kind, and the instance that it creates from its options.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use stillair_model::types::{PartFactory, RandomStream, Seed};

use super::super::description::TableSchema;
use super::{Key, Listed, Options, words_of};

/// Makes parts from the values of their keys and what the world gives besides; an error says what is expected
/// of the values.
pub(super) type Make<T, A> = Arc<dyn Fn(&Options, A) -> Result<Box<T>, String> + Send + Sync>;

/// A part of a kind.
pub(in super::super) struct Part<T: ?Sized, A> {
    /// Its kind and its name in messages.
    pub(super) title: &'static str,
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(in super::super) keys: &'static [Key],
    /// Its table, for each of the places in which it may stand.
    pub(super) shapes: Vec<&'static TableSchema>,
    pub(super) make: Make<T, A>,
}

/// Why a part is not made with some options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) struct Refusal {
    /// What was found.
    pub found: String,
    /// What is expected.
    pub expected: String,
}

/// What a part is given beside its options, when it is made only to see whether it takes these.
pub(in super::super) trait Trial {
    /// Something that any place may give.
    fn trial() -> Self;
}

impl Trial for () {
    fn trial() -> Self {}
}

impl Trial for RandomStream {
    fn trial() -> Self {
        Seed { seed: 0, run: 0 }.stream("trial")
    }
}

/// A number of peers.
impl Trial for usize {
    fn trial() -> Self {
        1
    }
}

impl<T: ?Sized + 'static, A: Trial + 'static> Part<T, A> {
    pub(super) fn listed(&self, kind: &'static str) -> Listed<'_> {
        Listed { kind, name: self.name, about: self.about, keys: self.keys }
    }

    /// The part with the defaults of its keys.
    pub(super) fn by_default(&self) -> Result<PartFactory<T, A>, Refusal> {
        self.with(Options(self.keys.iter().map(|key| (key.name(), key.default_setting())).collect()))
    }

    /// The part with these options. One is made at once, so that a mistake is not told by the first run.
    pub(in super::super) fn with(&self, options: Options) -> Result<PartFactory<T, A>, Refusal> {
        let name = self.name;
        match catch_unwind(AssertUnwindSafe(|| (self.make)(&options, A::trial()))) {
            Ok(Ok(_)) => {}
            Ok(Err(expected)) => {
                return Err(Refusal { found: format!("options that {name:?} refuses"), expected });
            }
            Err(panic) => {
                let found = format!("options with which {name:?} panics ({})", words_of(&*panic));
                return Err(Refusal { found, expected: "options with which it can be made".to_owned() });
            }
        }
        let (title, make) = (self.title, self.make.clone());
        Ok(PartFactory::new(name, &options.to_json().to_string(), move |with| match make(&options, with) {
            Ok(part) => part,
            Err(expected) => {
                panic!("{title} took its options once and refuses them now: expected {expected}")
            }
        }))
    }
}
