//! A cursor over one table that hands out typed values and knows which keys nobody asked for.

use core::ops::RangeInclusive;

use stillair_model::vocabulary::{Duration, Rate};

use super::document::{Item, Table, Value, join};
use super::error::{Fault, Origin, nearest, suggest};
use super::units;

/// One table being read. Every key that is asked for is remembered; [`Section::finish`] refuses the others.
pub(super) struct Section<'a> {
    path: String,
    origin: Origin,
    table: &'a Table,
    known: Vec<String>,
}

/// A value that is there, with its path for messages.
#[derive(Clone)]
pub(super) struct Field<'a> {
    pub path: String,
    pub item: &'a Item,
}

impl<'a> Section<'a> {
    pub(super) fn new(path: impl Into<String>, origin: Origin, table: &'a Table) -> Self {
        Self { path: path.into(), origin, table, known: Vec::new() }
    }

    /// The value of `key`, if given.
    pub(super) fn get(&mut self, key: &str) -> Option<Field<'a>> {
        self.known.push(key.to_owned());
        self.table.get(key).map(|item| Field { path: join(&self.path, key), item })
    }

    /// The value of `key`, read by `read`, or `default`.
    pub(super) fn or<T>(
        &mut self,
        key: &str,
        default: T,
        read: impl FnOnce(&Field<'a>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.get(key).map_or(Ok(default), |field| read(&field))
    }

    /// The value of `key`, which must be there; `expected` says what it is.
    pub(super) fn need(&mut self, key: &str, expected: &str) -> Result<Field<'a>, Fault> {
        if let Some(field) = self.get(key) {
            return Ok(field);
        }
        // A misspelt key is the likelier mistake, and naming it is of more use.
        let strangers = self.table.0.iter().filter(|(k, _)| !self.known.contains(k));
        for (stranger, item) in strangers {
            if nearest(stranger, &[key]).is_some() {
                return Err(unknown(&self.path, stranger, item, &[key]));
            }
        }
        Err(Fault::new(self.origin, join(&self.path, key), "nothing", expected))
    }

    /// A mistake of the table as a whole.
    pub(super) fn wrong(&self, found: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault::new(self.origin, &*self.path, found, expected)
    }

    /// Whether `key` is given; it does not count as asked for.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Refuses keys that were not asked for.
    pub(super) fn finish(self) -> Result<(), Fault> {
        let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        match self.table.0.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            Some((key, item)) => Err(unknown(&self.path, key, item, &known)),
            None => Ok(()),
        }
    }
}

fn unknown(path: &str, key: &str, item: &Item, known: &[&str]) -> Fault {
    Fault::new(item.origin, join(path, key), "an unknown key", suggest(key, known))
}

impl<'a> Field<'a> {
    /// A mistake of this value.
    pub(super) fn wrong(&self, expected: impl Into<String>) -> Fault {
        self.found(self.item.value.describe(), expected)
    }

    /// A mistake of this value, in other words than the value itself.
    pub(super) fn found(&self, found: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault::new(self.item.origin, &*self.path, found, expected)
    }

    pub(super) fn text(&self, expected: &str) -> Result<&'a str, Fault> {
        match &self.item.value {
            Value::String(s) => Ok(s),
            _ => Err(self.wrong(expected)),
        }
    }

    /// Text read by a function of [`units`].
    pub(super) fn unit<T>(&self, read: impl Fn(&str) -> Result<T, units::Expected>) -> Result<T, Fault> {
        let result = match &self.item.value {
            Value::String(s) => read(s),
            // A bare number fails for its missing unit: the reader says which are right.
            other => read(&other.describe()),
        };
        result.map_err(|expected| self.wrong(expected))
    }

    pub(super) fn duration(&self) -> Result<Duration, Fault> {
        self.unit(units::duration)
    }

    /// A time above zero.
    pub(super) fn period(&self) -> Result<Duration, Fault> {
        let d = self.duration()?;
        if d == Duration::ZERO { Err(self.wrong("a time above zero")) } else { Ok(d) }
    }

    pub(super) fn rate(&self) -> Result<Rate, Fault> {
        self.unit(units::rate)
    }

    pub(super) fn boolean(&self) -> Result<bool, Fault> {
        match self.item.value {
            Value::Boolean(b) => Ok(b),
            _ => Err(self.wrong("true or false")),
        }
    }

    /// A whole number in `range`.
    pub(super) fn integer<T>(&self, range: RangeInclusive<T>) -> Result<T, Fault>
    where
        T: Copy + PartialOrd + TryFrom<i64> + core::fmt::Display,
    {
        let number = match self.item.value {
            Value::Integer(i) => T::try_from(i).ok(),
            _ => None,
        };
        number
            .filter(|n| range.contains(n))
            .ok_or_else(|| self.wrong(format!("a whole number from {} to {}", range.start(), range.end())))
    }

    /// A number of bytes in `range`, plain or with a unit.
    pub(super) fn bytes(&self, range: RangeInclusive<u32>) -> Result<u32, Fault> {
        let number = match &self.item.value {
            Value::Integer(i) => u64::try_from(*i).ok(),
            _ => Some(self.unit(units::bytes)?),
        };
        number
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| range.contains(n))
            .ok_or_else(|| self.wrong(format!("{} to {} bytes", range.start(), range.end())))
    }

    /// A probability.
    pub(super) fn fraction(&self) -> Result<f64, Fault> {
        let number = match self.item.value {
            Value::Float(x) => x,
            Value::Integer(i @ 0..=1) => i as f64,
            _ => f64::NAN,
        };
        if (0.0..=1.0).contains(&number) { Ok(number) } else { Err(self.wrong("a fraction from 0 to 1")) }
    }

    /// One of some names.
    pub(super) fn choice<T: Copy>(&self, names: &[(&str, T)]) -> Result<T, Fault> {
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let found = match &self.item.value {
            Value::String(s) => s,
            _ => return Err(self.wrong(suggest("", &known))),
        };
        names
            .iter()
            .find(|(name, _)| name == found)
            .map(|(_, value)| *value)
            .ok_or_else(|| self.wrong(suggest(found, &known)))
    }

    /// The elements of a list; a single value is a list of one.
    pub(super) fn list(&self) -> Vec<Self> {
        match &self.item.value {
            Value::Array(items) => {
                let one =
                    |(i, item): (usize, &'a Item)| Field { path: join(&self.path, &i.to_string()), item };
                items.iter().enumerate().map(one).collect()
            }
            _ => vec![self.clone()],
        }
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.item.value, Value::Array(_))
    }

    pub(super) fn table(&self, expected: &str) -> Result<&'a Table, Fault> {
        match &self.item.value {
            Value::Table(table) => Ok(table),
            _ => Err(self.wrong(expected)),
        }
    }

    pub(super) fn section(&self, expected: &str) -> Result<Section<'a>, Fault> {
        Ok(Section::new(&*self.path, self.item.origin, self.table(expected)?))
    }

    /// A kind with options: the name alone, or a table with `kind` and options. Without options the second part is none.
    pub(super) fn kind(&self, names: &[&str]) -> Result<(&'a str, Option<Section<'a>>), Fault> {
        let (field, section) = match &self.item.value {
            Value::Table(table) => {
                let mut section = Section::new(&*self.path, self.item.origin, table);
                (section.need("kind", &suggest("", names))?, Some(section))
            }
            _ => (self.clone(), None),
        };
        let text = field.text(&suggest("", names))?;
        if names.contains(&text) { Ok((text, section)) } else { Err(field.wrong(suggest(text, names))) }
    }

    /// Entries of a table of named things, each with its section.
    pub(super) fn named(&self, what: &str) -> Result<Vec<(&'a str, Field<'a>)>, Fault> {
        let table = self.table(&format!("a table of {what}s by name"))?;
        let mut out = Vec::new();
        for (name, item) in &table.0 {
            let field = Field { path: join(&self.path, name), item };
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
                let expected = format!("a {what}'s name of up to 64 letters, digits, \"_\" and \"-\"");
                return Err(Fault::new(item.origin, &*self.path, format!("{name:?}"), expected));
            }
            out.push((name.as_str(), field));
        }
        Ok(out)
    }
}

/// Table entries with dotted keys written out: `a.b = 1` and `"a.b" = 1` are both `a.b`.
pub(super) fn flatten<'a>(path: &str, prefix: &str, table: &'a Table, out: &mut Vec<(String, Field<'a>)>) {
    for (key, item) in &table.0 {
        let name = join(prefix, key);
        match &item.value {
            Value::Table(below) => flatten(path, &name, below, out),
            _ => out.push((name.clone(), Field { path: join(path, &name), item })),
        }
    }
}
