//! Values of the keys of a part.

use serde_json::{Map, Value, json};
use stillair_model::types::{Duration, Rate};

/// The value of a key.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Setting {
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A time.
    Duration(Duration),
    /// A rate.
    Rate(Rate),
    /// A number of bytes.
    Bytes(u32),
    /// A boolean.
    Boolean(bool),
    /// One of several names.
    Name(&'static str),
}

/// Values of all keys of a part, set or default.
///
/// # Panics
///
/// Panics if the part has not declared the key with this type. One part is created at registration, so such a
/// bug ends the program there, with the part's name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Options(pub(in super::super) Vec<(&'static str, Setting)>);

macro_rules! settings {
    ($($(#[$doc:meta])* $function:ident: $variant:ident -> $type:ty;)*) => {
        $($(#[$doc])*
        #[track_caller]
        pub fn $function(&self, key: &str) -> $type {
            match self.get(key) {
                Setting::$variant(value) => value,
                other => panic!("key {key:?} was declared as another kind of key: it is {other:?}"),
            }
        })*
    };
}

impl Options {
    settings! {
        /// An integer.
        integer: Integer -> i64;
        /// A number.
        number: Number -> f64;
        /// A time.
        duration: Duration -> Duration;
        /// A rate.
        rate: Rate -> Rate;
        /// A number of bytes.
        bytes: Bytes -> u32;
        /// A boolean.
        boolean: Boolean -> bool;
        /// One of several names.
        name: Name -> &'static str;
    }

    #[track_caller]
    fn get(&self, key: &str) -> Setting {
        match self.0.iter().find(|(name, _)| *name == key) {
            Some((_, setting)) => *setting,
            None => {
                let declared: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
                panic!("key {key:?} was not declared; declared are {declared:?}")
            }
        }
    }

    /// Returns all options as one JSON object, with units in the names.
    pub(super) fn to_json(&self) -> Value {
        let one = |&(key, setting): &(&str, Setting)| match setting {
            Setting::Integer(n) => (key.to_owned(), json!(n)),
            Setting::Number(x) => (key.to_owned(), json!(x)),
            Setting::Duration(time) => (format!("{key}_ns"), json!(time.nanos())),
            Setting::Rate(rate) => (format!("{key}_bps"), json!(rate.bps())),
            Setting::Bytes(n) => (format!("{key}_bytes"), json!(n)),
            Setting::Boolean(b) => (key.to_owned(), json!(b)),
            Setting::Name(name) => (key.to_owned(), json!(name)),
        };
        Value::Object(self.0.iter().map(one).collect::<Map<_, _>>())
    }
}
