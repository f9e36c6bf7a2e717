//! Keys of user-defined parts.

use core::ops::RangeInclusive;

use super::super::description::{self, ValueType};
use super::super::units;
use super::Setting;

/// A key: name, type, default and meaning.
#[derive(Clone, Copy, Debug)]
pub struct Key(pub(super) description::Key);

impl Key {
    /// Creates a key for an integer within inclusive bounds.
    pub fn integer(
        name: &'static str,
        range: RangeInclusive<i64>,
        default: i64,
        about: &'static str,
    ) -> Self {
        Self::new(name, ValueType::Integer(*range.start(), *range.end()), default.to_string(), about)
    }

    /// Creates a key for a number within inclusive bounds.
    pub fn number(name: &'static str, range: RangeInclusive<f64>, default: f64, about: &'static str) -> Self {
        // `Debug` prints the decimal point, which marks the text as a floating-point number.
        Self::new(name, ValueType::Number(*range.start(), *range.end()), format!("{default:?}"), about)
    }

    /// Creates a key for a duration within bounds. Bounds and default are written as in a scenario, such as
    /// `"5 ms"`.
    pub fn duration(
        name: &'static str,
        range: [&'static str; 2],
        default: &'static str,
        about: &'static str,
    ) -> Self {
        let [least, most] = range;
        Self::new(name, ValueType::Times { least, most: Some(most), why: about }, default.to_owned(), about)
    }

    /// Creates a key for a rate, such as `"10 Mbit/s"`.
    pub fn rate(name: &'static str, default: &'static str, about: &'static str) -> Self {
        Self::new(name, ValueType::Rate, default.to_owned(), about)
    }

    /// Creates a key for a number of bytes within bounds.
    pub fn bytes(name: &'static str, range: RangeInclusive<u32>, default: u32, about: &'static str) -> Self {
        Self::new(name, ValueType::Bytes(*range.start(), *range.end()), default.to_string(), about)
    }

    /// Creates a key for a boolean.
    pub fn boolean(name: &'static str, default: bool, about: &'static str) -> Self {
        Self::new(name, ValueType::Boolean, default.to_string(), about)
    }

    /// Creates a key for one of several names.
    pub fn one_of(
        name: &'static str,
        names: &'static [&'static str],
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self::new(name, ValueType::Choice(names), default.to_owned(), about)
    }

    fn new(name: &'static str, form: ValueType, default: String, about: &'static str) -> Self {
        Self(description::Key::or(name, form, default.leak(), about))
    }

    /// Returns the name of the key.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Returns type and default of the key, as text.
    pub fn words(&'static self) -> String {
        let form = match self.0.form {
            // The reason for the bounds is part of the meaning.
            ValueType::Times { least, most: Some(most), .. } => format!("time, {least} to {most}"),
            _ => description::words(&self.0.form),
        };
        format!("{form} (default {})", self.default())
    }

    /// Returns the meaning of the key.
    pub fn about(&self) -> &'static str {
        self.0.about
    }

    /// Returns the key's name in the resolved scenario, with the unit.
    pub(super) fn resolved_name(&self) -> String {
        let name = self.0.name;
        match self.0.form {
            ValueType::Times { .. } => format!("{name}_ns"),
            ValueType::Rate => format!("{name}_bps"),
            ValueType::Bytes(..) => format!("{name}_bytes"),
            _ => name.to_owned(),
        }
    }

    /// Returns the default as written in a scenario, without quotes.
    pub(in super::super) fn default(&self) -> &'static str {
        match self.0.absent {
            description::DefaultValue::Literal(text) => text,
            _ => unreachable!("every key of a part has a default"),
        }
    }

    /// Returns the default of a valid key.
    pub(in super::super) fn default_setting(&self) -> Setting {
        let text = self.default();
        let read = match self.0.form {
            ValueType::Integer(..) => text.parse().ok().map(Setting::Integer),
            ValueType::Number(..) => text.parse().ok().map(Setting::Number),
            ValueType::Bytes(..) => text.parse().ok().map(Setting::Bytes),
            ValueType::Times { .. } => units::duration(text).ok().map(Setting::Duration),
            ValueType::Rate => units::rate(text).ok().map(Setting::Rate),
            ValueType::Boolean => text.parse().ok().map(Setting::Boolean),
            _ => Some(Setting::Name(text)),
        };
        read.expect("a key without fault has a default")
    }

    /// Returns the problem with the bounds or the default, if any.
    pub(super) fn fault(&self) -> Option<String> {
        let text = self.default();
        let beyond = |low: &dyn core::fmt::Display, high: &dyn core::fmt::Display| {
            Some(format!("its default {text} is not between {low} and {high}"))
        };
        match self.0.form {
            ValueType::Integer(low, high) => {
                let is = text.parse::<i64>().is_ok_and(|n| (low..=high).contains(&n));
                if is { None } else { beyond(&low, &high) }
            }
            ValueType::Number(low, high) => {
                let is = text.parse::<f64>().is_ok_and(|x| (low..=high).contains(&x));
                if is { None } else { beyond(&low, &high) }
            }
            ValueType::Bytes(low, high) => {
                let is = text.parse::<u32>().is_ok_and(|n| (low..=high).contains(&n));
                if is { None } else { beyond(&low, &high) }
            }
            ValueType::Times { least, most, .. } => {
                let [low, high, own] = [least, most.unwrap_or(least), text].map(units::duration);
                match (low, high, own) {
                    (Ok(low), Ok(high), Ok(own)) if (low..=high).contains(&own) => None,
                    (Ok(_), Ok(_), Ok(_)) => beyond(&least, &most.unwrap_or(least)),
                    (low, high, own) => {
                        let why = [low, high, own].into_iter().find_map(Result::err).unwrap_or_default();
                        Some(format!("its bounds and its default must be times, {why}"))
                    }
                }
            }
            ValueType::Rate => units::rate(text).err().map(|why| format!("its default {text} must be {why}")),
            ValueType::Choice(names) if !names.contains(&text) => {
                Some(format!("its default {text} is none of its names"))
            }
            _ => None,
        }
    }
}
