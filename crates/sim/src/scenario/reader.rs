//! A cursor over one table, which returns values by their description and records which keys were read.

use stillair_model::types::{Duration, Rate};

use super::description::{TableSchema, ValueType, byte_bounds, numbers, rate_bound, time_bounds};
use super::document::{Item, Table, Value, join};
use super::error::{Diagnostic, Origin, UNKNOWN, gather, nearest, suggest};
use super::parts::Parts;
use super::units;

/// A table that is being read. [`Section::finish`] rejects all keys that were not read.
pub(super) struct Section<'a> {
    path: String,
    origin: Origin,
    table: &'a Table,
    shape: &'static TableSchema,
    parts: &'a Parts,
    known: Vec<&'static str>,
    /// Keys that have been reported as misspelt.
    misspelt: Vec<&'a str>,
}

/// A value, with its path for messages and its type.
#[derive(Clone)]
pub(super) struct Field<'a> {
    pub path: String,
    pub item: &'a Item,
    pub form: &'static ValueType,
    /// User-defined parts that names may refer to.
    pub parts: &'a Parts,
}

/// Conversion of a value, within the bounds of its type.
pub(super) trait Typed: Sized {
    fn read(field: &Field<'_>) -> Result<Self, Diagnostic>;
}

impl<'a> Section<'a> {
    pub(super) fn new(
        path: impl Into<String>,
        origin: Origin,
        table: &'a Table,
        shape: &'static TableSchema,
        parts: &'a Parts,
    ) -> Self {
        Self { path: path.into(), origin, table, shape, parts, known: Vec::new(), misspelt: Vec::new() }
    }

    /// Selects one of the table's alternatives for further reading.
    pub(super) fn narrow(&mut self, shape: &'static TableSchema) {
        self.shape = shape;
    }

    /// Returns the value of `key`, if given.
    pub(super) fn get(&mut self, key: &str) -> Option<Field<'a>> {
        let Some(key) = self.shape.key(key) else { unreachable!("{key} is no key of {}", self.shape.title) };
        if !self.known.contains(&key.name) {
            self.known.push(key.name);
        }
        let field =
            |item| Field { path: join(&self.path, key.name), item, form: &key.form, parts: self.parts };
        self.table.get(key.name).map(field)
    }

    /// Returns the converted value of `key`, if given.
    pub(super) fn find<T: Typed>(&mut self, key: &str) -> Result<Option<T>, Diagnostic> {
        self.get(key).map(|field| T::read(&field)).transpose()
    }

    /// Returns the value of `key`, or `default`.
    pub(super) fn or<T: Typed>(&mut self, key: &str, default: T) -> Result<T, Diagnostic> {
        self.or_by(key, default, T::read)
    }

    /// Returns the value of `key`, converted by `read`, or `default`.
    pub(super) fn or_by<T>(
        &mut self,
        key: &str,
        default: T,
        read: impl FnOnce(&Field<'a>) -> Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        self.get(key).map_or(Ok(default), |field| read(&field))
    }

    /// Returns the value of the required `key`; `expected` describes it for the error.
    pub(super) fn need(&mut self, key: &str, expected: &str) -> Result<Field<'a>, Diagnostic> {
        if let Some(field) = self.get(key) {
            return Ok(field);
        }
        // A misspelt key is more likely than a missing one, and more useful to report.
        let strangers = self.table.0.iter().filter(|(k, _)| !self.known.contains(&k.as_str()));
        // So is a misspelt `inherits`, which may supply the key.
        let likely: Vec<&str> = [key, "inherits"].into_iter().filter(|key| self.offers(key)).collect();
        for (stranger, item) in strangers {
            if let Some(meant) = nearest(stranger, &likely) {
                self.misspelt.push(stranger);
                return Err(unknown(&self.path, stranger, item, &[meant]));
            }
        }
        Err(Diagnostic::new(self.origin, join(&self.path, key), "nothing", expected))
    }

    /// Rejects `key` if it would have no effect: `why` names the cause, `right` an alternative.
    pub(super) fn idle(&mut self, key: &str, why: &str, right: &str) -> Result<(), Diagnostic> {
        match self.get(key) {
            Some(field) => Err(field.idle(why, right)),
            None => Ok(()),
        }
    }

    /// Makes errors for unknown keys suggest these first.
    pub(super) fn suggest_first(&mut self, keys: &[&str]) {
        let own: Vec<_> = keys.iter().filter_map(|key| self.shape.key(key)).map(|key| key.name).collect();
        self.known.retain(|key| !own.contains(key));
        self.known.splice(..0, own);
    }

    /// Rejects `key`, which belongs to another alternative of the table, if it is given.
    pub(super) fn refuse(&mut self, key: &str, found: &str, right: &str) -> Option<Diagnostic> {
        let (name, item) = self.table.0.iter().find(|(name, _)| name == key)?;
        self.misspelt.push(name);
        Some(Diagnostic::new(item.origin, join(&self.path, key), found, right))
    }

    /// Returns an error for the table as a whole.
    pub(super) fn wrong(&self, found: impl Into<String>, expected: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.origin, &*self.path, found, expected)
    }

    /// Returns true if the table may have `key`.
    pub(super) fn offers(&self, key: &str) -> bool {
        self.shape.key(key).is_some()
    }

    /// Returns true if `key` is given, without marking it as read.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Rejects keys that the table never has, before their absence causes misleading errors.
    pub(super) fn familiar(&self) -> Result<(), Diagnostic> {
        let known: Vec<&str> = self.shape.keys().map(|key| key.name).collect();
        self.all_in(&known)
    }

    /// Rejects keys that were not read.
    pub(super) fn finish(self) -> Result<(), Diagnostic> {
        debug_assert!(
            self.shape.keys().all(|key| self.known.contains(&key.name)),
            "a key of {} is described and not read",
            self.shape.title
        );
        self.all_in(&self.known)
    }

    /// Rejects keys that are not in `known`.
    fn all_in(&self, known: &[&str]) -> Result<(), Diagnostic> {
        let strangers = self
            .table
            .0
            .iter()
            .filter(|(key, _)| !known.contains(&key.as_str()) && !self.misspelt.contains(&key.as_str()));
        gather(strangers.map(|(key, item)| Err(unknown(&self.path, key, item, known)))).map(|_: Vec<()>| ())
    }
}

/// Returns true if `text` is a spelling of `name`.
pub(super) fn is_written(name: &str, text: &str) -> bool {
    name == text || units::unspaced(name).is_some_and(|name| name == text)
}

/// Returns the error for a key that the table at `path` does not have.
pub(super) fn unknown(path: &str, key: &str, item: &Item, known: &[&str]) -> Diagnostic {
    let mut expected = suggest(key, known);
    // `--set desk.count=14` for `node.desk.count`.
    let is_table = matches!(item.value, Value::Table(_));
    if path.is_empty() && item.origin == Origin::Set && is_table && nearest(key, known).is_none() {
        expected = format!("{expected}; keys of a node begin with \"node.\", such as node.{key}");
    }
    Diagnostic::new(item.origin, join(path, key), UNKNOWN, expected)
}

impl<'a> Field<'a> {
    /// Returns an error for this value.
    pub(super) fn wrong(&self, expected: impl Into<String>) -> Diagnostic {
        self.found(self.item.value.describe(), expected)
    }

    /// Returns an error for this value with its own description of what was found.
    pub(super) fn found(&self, found: impl Into<String>, expected: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.item.origin, &*self.path, found, expected)
    }

    /// Returns the error for a value that would have no effect.
    pub(super) fn idle(&self, why: &str, right: &str) -> Diagnostic {
        self.found(format!("{}, which has no effect {why}", self.item.value.describe()), right)
    }

    pub(super) fn text(&self, expected: &str) -> Result<&'a str, Diagnostic> {
        match &self.item.value {
            Value::String(s) => Ok(s),
            _ => Err(self.wrong(expected)),
        }
    }

    /// Returns text that is not blank.
    pub(super) fn label(&self, expected: &str) -> Result<&'a str, Diagnostic> {
        let text = self.text(expected)?;
        if text.trim().is_empty() { Err(self.wrong(expected)) } else { Ok(text) }
    }

    /// Parses text with a function of [`units`].
    pub(super) fn unit<T>(&self, read: impl Fn(&str) -> Result<T, units::Expected>) -> Result<T, Diagnostic> {
        let result = match &self.item.value {
            Value::String(s) => read(s),
            // A bare number lacks a unit: the parser's error lists the valid ones.
            other => read(&other.describe()),
        };
        result.map_err(|expected| self.wrong(expected))
    }

    /// Converts the value by its type.
    pub(super) fn value<T: Typed>(&self) -> Result<T, Diagnostic> {
        T::read(self)
    }

    /// Returns the entry of `names` that the value selects.
    pub(super) fn choice<T: Clone>(&self, names: &[(&str, T)]) -> Result<T, Diagnostic> {
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let found = match &self.item.value {
            Value::String(s) => s,
            _ => return Err(self.wrong(suggest("", &known))),
        };
        names
            .iter()
            .find(|(name, _)| is_written(name, found))
            .map(|(_, value)| value.clone())
            .ok_or_else(|| self.wrong(suggest(found, &known)))
    }

    /// Returns the elements of a list; a single value is a list of one.
    pub(super) fn list(&self) -> Vec<Self> {
        let form = self.form.element();
        match &self.item.value {
            Value::Array(items) => {
                let one = |(i, item): (usize, &'a Item)| Field {
                    path: join(&self.path, &i.to_string()),
                    item,
                    form,
                    parts: self.parts,
                };
                items.iter().enumerate().map(one).collect()
            }
            _ => vec![Field { form, ..self.clone() }],
        }
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.item.value, Value::Array(_))
    }

    pub(super) fn table(&self, expected: &str) -> Result<&'a Table, Diagnostic> {
        match &self.item.value {
            Value::Table(table) => Ok(table),
            _ => Err(self.wrong(expected)),
        }
    }

    /// Returns this value as a table. With alternatives, uses the first until narrowed.
    pub(super) fn section(&self, expected: &str) -> Result<Section<'a>, Diagnostic> {
        let table = self.table(expected)?;
        let Some(shape) = self.shapes().first().copied() else {
            unreachable!("{} is read as a table", self.path)
        };
        Ok(Section::new(&*self.path, self.item.origin, table, shape, self.parts))
    }

    /// Returns the kinds that this value may have.
    pub(super) fn kinds(&self) -> Vec<&'static str> {
        self.shapes().iter().map(|shape| shape.kind()).collect()
    }

    /// Returns the tables that this value may be: those of its type, and those of user-defined parts.
    pub(super) fn shapes(&self) -> Vec<&'static TableSchema> {
        let mut shapes = self.form.shapes();
        if let ValueType::Part(family, _) = self.form {
            shapes.extend(self.parts.shapes(*family));
        }
        shapes
    }

    /// Returns the position of this value in `names`.
    fn which(&self, names: &[&'static str]) -> Result<usize, Diagnostic> {
        let text = self.text(&suggest("", names))?;
        names.iter().position(|name| is_written(name, text)).ok_or_else(|| self.wrong(suggest(text, names)))
    }

    /// Returns the kind and its options, given as a bare name or as a table with `kind`. The options are
    /// `None` for a bare name.
    pub(super) fn kind(&self) -> Result<(&'static str, Option<Section<'a>>), Diagnostic> {
        if matches!(self.item.value, Value::Table(_)) {
            return self.kind_table("a table").map(|(kind, section)| (kind, Some(section)));
        }
        let names = self.kinds();
        Ok((names[self.which(&names)?], None))
    }

    /// Returns a user-defined part, given by its bare name or as a table with `kind`; `None` for a built-in
    /// part.
    pub(super) fn custom_kind(
        &self,
        built_in: &'static str,
    ) -> Result<Option<(&'static str, Option<Section<'a>>)>, Diagnostic> {
        let kinds = self.kinds();
        if matches!(self.item.value, Value::Table(_)) && !kinds.is_empty() {
            return self.kind_table("a table").map(|(kind, section)| Some((kind, Some(section))));
        }
        let names: Vec<&'static str> = [built_in].into_iter().chain(kinds).collect();
        let name = names[self.which(&names)?];
        Ok((name != built_in).then_some((name, None)))
    }

    /// Returns a table and its `kind`.
    pub(super) fn kind_table(&self, expected: &str) -> Result<(&'static str, Section<'a>), Diagnostic> {
        let names = self.kinds();
        let mut section = self.section(expected)?;
        let at = section.need("kind", &suggest("", &names))?.which(&names)?;
        section.narrow(self.shapes()[at]);
        Ok((names[at], section))
    }

    /// Returns the entries of a table of named elements.
    pub(super) fn named(&self, what: &str) -> Result<Vec<(&'a str, Field<'a>)>, Diagnostic> {
        let table = self.table(&format!("a table of {what}s by name"))?;
        let mut out = Vec::new();
        let ValueType::Named(_, form) = self.form else {
            unreachable!("{} is read as named things", self.path)
        };
        for (name, item) in &table.0 {
            let field = Field { path: join(&self.path, name), item, form, parts: self.parts };
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
                let expected = format!("a name for the {what}, of up to 64 letters, digits, \"_\" and \"-\"");
                return Err(Diagnostic::new(item.origin, &*self.path, format!("{name:?}"), expected));
            }
            out.push((name.as_str(), field));
        }
        Ok(out)
    }
}

impl Typed for Duration {
    fn read(field: &Field<'_>) -> Result<Self, Diagnostic> {
        let time = field.unit(units::duration)?;
        let bound = |text: &str| units::duration(text).expect("the bounds of a form are times");
        match field.form.time() {
            ValueType::Period if time == Self::ZERO => Err(field.wrong("a time above zero")),
            ValueType::Times { least, most, why }
                if time < bound(least) || most.is_some_and(|most| time > bound(most)) =>
            {
                Err(field.wrong(time_bounds(least, *most, why)))
            }
            _ => Ok(time),
        }
    }
}

impl Typed for Rate {
    fn read(field: &Field<'_>) -> Result<Self, Diagnostic> {
        let zero = matches!(field.form, ValueType::RateOrZero(..));
        let rate = field.unit(if zero { units::rate_or_zero } else { units::rate })?;
        match field.form {
            ValueType::RateOrZero(least, why)
                if rate.bps() > 0 && rate < units::rate(least).expect("the bound of a form is a rate") =>
            {
                Err(field.wrong(format!("0 bit/s (an outage), or {}", rate_bound(least, why))))
            }
            ValueType::RateFrom(least, why)
                if rate < units::rate(least).expect("the bound of a form is a rate") =>
            {
                Err(field.wrong(rate_bound(least, why)))
            }
            _ => Ok(rate),
        }
    }
}

impl Typed for bool {
    fn read(field: &Field<'_>) -> Result<Self, Diagnostic> {
        match field.item.value {
            Value::Boolean(b) => Ok(b),
            _ => Err(field.wrong("true or false")),
        }
    }
}

/// A fraction, or a number within bounds.
impl Typed for f64 {
    fn read(field: &Field<'_>) -> Result<Self, Diagnostic> {
        let (low, high, words) = match field.form {
            ValueType::Number(low, high) => (*low, *high, format!("a number from {low} to {high}")),
            _ => (0.0, 1.0, "a fraction from 0 to 1".to_owned()),
        };
        let number = match field.item.value {
            Value::Float(x) => x,
            // Integers too large to be exact are beyond every bound.
            Value::Integer(i) => i as Self,
            _ => Self::NAN,
        };
        // Report percentages as the equivalent fraction.
        let share = match &field.item.value {
            Value::String(text) => text.strip_suffix('%').and_then(|n| n.trim().parse::<Self>().ok()),
            _ => None,
        };
        match share.map(|percent| percent / 100.0).filter(|share| (low..=high).contains(share)) {
            _ if (low..=high).contains(&number) => Ok(number),
            Some(share) => Err(field.wrong(format!("{words}, such as {share}"))),
            None => Err(field.wrong(words)),
        }
    }
}

/// Returns an integer, or a number of bytes.
pub(super) fn whole(field: &Field<'_>) -> Result<i64, Diagnostic> {
    let (low, high, words) = match field.form.whole() {
        ValueType::Numbers(all) => (i64::MIN, i64::MAX, numbers(all)),
        ValueType::Integer(low, high) => (*low, *high, format!("a whole number from {low} to {high}")),
        ValueType::Bytes(low, high) => (i64::from(*low), i64::from(*high), format!("{low} to {high} bytes")),
        ValueType::BytesFor(low, high, why) => {
            (i64::from(*low), i64::from(*high), byte_bounds(*low, *high, why))
        }
        other => unreachable!("{}: {other:?} is read as a number", field.path),
    };
    let number = match (&field.item.value, field.form.whole()) {
        (Value::Integer(i), ValueType::Numbers(all)) => all.contains(i).then_some(*i),
        (Value::Integer(i), _) => Some(*i),
        (_, ValueType::Bytes(..) | ValueType::BytesFor(..)) => i64::try_from(field.unit(units::bytes)?).ok(),
        _ => None,
    };
    number.filter(|n| (low..=high).contains(n)).ok_or_else(|| field.wrong(words))
}

macro_rules! whole_numbers {
    ($($type:ty),*) => { $(impl Typed for $type {
        fn read(field: &Field<'_>) -> Result<Self, Diagnostic> {
            Ok(Self::try_from(whole(field)?).expect("the bounds of a form fit the type it is read as"))
        }
    })* };
}

whole_numbers!(i8, i16, i64, u8, u16, u32, u64);

/// Expands dotted keys in a table: `a.b = 1` and `"a.b" = 1` both become `a.b`.
pub(super) fn flatten<'a>(
    path: &str,
    prefix: &str,
    table: &'a Table,
    parts: &'a Parts,
    out: &mut Vec<(String, Field<'a>)>,
) {
    for (key, item) in &table.0 {
        let name = join(prefix, key);
        match &item.value {
            Value::Table(below) => flatten(path, &name, below, parts, out),
            _ => out
                .push((name.clone(), Field { path: join(path, &name), item, form: &ValueType::Text, parts })),
        }
    }
}
