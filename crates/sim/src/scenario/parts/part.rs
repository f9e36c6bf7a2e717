//! A registered part, and the instances that it creates from its options.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use stillair_model::types::{PartFactory, RandomStream, Seed};

use super::super::description::TableSchema;
use super::{Key, Listed, Options, words_of};

/// Creates a part from the values of its keys and an argument from the world. An error states what is
/// expected of the values.
pub(super) type Make<T, A> = Arc<dyn Fn(&Options, A) -> Result<Box<T>, String> + Send + Sync>;

/// A registered part.
pub(in super::super) struct Part<T: ?Sized, A> {
    /// Kind and name for messages.
    pub(super) title: &'static str,
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(in super::super) keys: &'static [Key],
    /// Tables of the part, one for each place in which it may be used.
    pub(super) shapes: Vec<&'static TableSchema>,
    pub(super) make: Make<T, A>,
}

/// Reason why a part cannot be created with some options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) struct Refusal {
    /// What was found.
    pub found: String,
    /// What is expected.
    pub expected: String,
}

/// Creates a substitute argument, for checking whether a part accepts its options.
pub(in super::super) trait Trial {
    /// Returns an argument that any place may supply.
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

/// A number of stations.
impl Trial for usize {
    fn trial() -> Self {
        1
    }
}

impl<T: ?Sized + 'static, A: Trial + 'static> Part<T, A> {
    pub(super) fn listed(&self, kind: &'static str) -> Listed<'_> {
        Listed { kind, name: self.name, about: self.about, keys: self.keys }
    }

    /// Returns a factory of the part with the defaults of its keys.
    pub(super) fn by_default(&self) -> Result<PartFactory<T, A>, Refusal> {
        self.with(Options(self.keys.iter().map(|key| (key.name(), key.default_setting())).collect()))
    }

    /// Returns a factory of the part with these options. Creates one part immediately, so that errors appear
    /// before the first run.
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
