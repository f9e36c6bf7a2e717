//! Errors that follow from the description alone, in all tables: unknown keys, missing keys, values of the
//! wrong type, undefined names.
//!
//! The decoder stops at an error that later parts depend on. The errors here depend on nothing else, so all
//! of them are reported. The decoder checks conditions that involve two tables.

use stillair_model::types::{Duration, Ip, Rate};

use super::super::description::{DefaultValue, TableSchema, ValueType, words};
use super::super::document::{Item, Table, Value, join};
use super::super::error::{Diagnostic, Diagnostics, Origin, nearest, suggest};
use super::super::parts::Parts;
use super::super::profile;
use super::super::reader::{Field, Typed, is_written, unknown, whole};
use super::super::resolve::names::{Merged, Names, refer};
use super::super::spec::link::LinkKind;
use super::{SCHEMA, merge, node};

/// Returns all such errors of a scenario, in the order of its description. Nodes with a `count` are expanded
/// first.
pub(in super::super) fn all(tree: &Table, parts: &Parts) -> Vec<Diagnostic> {
    let field = |key: &str| {
        let item = tree.get(key)?;
        let form = &SCHEMA.key(key)?.form;
        Some(Field { path: key.to_owned(), item, form, parts })
    };
    let named = |key: &str| field(key).map_or(Ok(Vec::new()), |field| field.named(key));
    let mut found = Diagnostics::default();
    let fields = named("node").unwrap_or_default();
    let nodes = match field("node").map(|field| &field.item.value) {
        Some(Value::Table(nodes)) => nodes,
        _ => &Table::default(),
    };
    let merged: Vec<Merged<'_>> =
        fields.iter().enumerate().filter_map(|(at, field)| found.unless(merge(at, field, nodes))).collect();
    // Names defined in unread or misspelt tables are unknown.
    let is_misspelt = |(key, item): &(String, Item)| {
        SCHEMA.key(key).is_none() && matches!(item.value, Value::Table(_) | Value::Array(_))
    };
    let whole = !merged.is_empty() && merged.len() == nodes.0.len() && !tree.0.iter().any(is_misspelt);
    let names = match (named("channel"), named("link")) {
        (Ok(channels), Ok(links)) if whole => {
            let kinds = vec![LinkKind::Ethernet; links.len()];
            let channels = channels.iter().map(|(name, _)| *name).collect();
            let links = links.iter().map(|(name, _)| *name).collect();
            let counted = vec![false; merged.len()];
            Some(Names::new(channels, links, kinds, &merged, counted, Ip::V4))
        }
        _ => None,
    };
    let mut look = Look { parts, names: names.as_ref(), found };
    look.keys("", Origin::Line(1), tree, &[&SCHEMA], &[&SCHEMA]);
    for key in SCHEMA.keys().filter(|key| key.name != "node") {
        if let Some(item) = tree.get(key.name) {
            look.value(key.name, item, &key.form);
        }
    }
    for (name, origin, table) in &merged {
        look.table(&join("node", name), *origin, table, &node::SCHEMA);
    }
    look.found.into_all()
}

/// A pass over all tables.
struct Look<'a> {
    parts: &'a Parts,
    /// `None` if some names may be undefined because of another error.
    names: Option<&'a Names<'a>>,
    found: Diagnostics,
}

impl Look<'_> {
    /// Checks a table of this shape.
    fn table(&mut self, path: &str, origin: Origin, table: &Table, shape: &'static TableSchema) {
        self.keys(path, origin, table, &[shape], &[shape]);
        self.values(path, table, &[shape]);
    }

    /// Checks the values of keys that all of these shapes define identically.
    fn values(&mut self, path: &str, table: &Table, shapes: &[&'static TableSchema]) {
        let [first, others @ ..] = shapes else { return };
        for key in first.keys() {
            let Some(item) = table.get(key.name) else { continue };
            let same =
                |shape: &&'static TableSchema| shape.key(key.name).is_some_and(|own| own.about == key.about);
            if others.iter().all(same) {
                self.value(&join(path, key.name), item, &key.form);
            }
        }
    }

    /// Reports keys that no shape in `any` has, and missing keys that all shapes in `likely` require.
    fn keys(
        &mut self,
        path: &str,
        origin: Origin,
        table: &Table,
        any: &[&'static TableSchema],
        likely: &[&'static TableSchema],
    ) {
        let known: Vec<&str> = any.iter().flat_map(|shape| shape.keys()).map(|key| key.name).collect();
        let strangers: Vec<_> = table.0.iter().filter(|(key, _)| !known.contains(&key.as_str())).collect();
        for (key, item) in &strangers {
            self.found.add(unknown(path, key, item, &known));
        }
        let [first, others @ ..] = likely else { return };
        let needed = first.keys().filter(|key| matches!(key.absent, DefaultValue::Required));
        for key in needed.filter(|key| others.iter().all(|shape| needs(shape, key.name))) {
            let likely: Vec<&str> =
                [key.name, "inherits"].into_iter().filter(|key| known.contains(key)).collect();
            let misspelt = strangers.iter().any(|(stranger, _)| nearest(stranger, &likely).is_some());
            if table.get(key.name).is_none() && !misspelt {
                let expected = with_article(plain(&key.form));
                self.found.add(Diagnostic::new(origin, join(path, key.name), "nothing", expected));
            }
        }
    }

    fn value(&mut self, path: &str, item: &Item, form: &'static ValueType) {
        let field = Field { path: path.to_owned(), item, form, parts: self.parts };
        match (form, &item.value) {
            (ValueType::Later(form), _) => self.value(path, item, form()),
            (ValueType::Text, _) => self.check(field.text("text")),
            (ValueType::Name(what), _) => self.name(&field, what),
            (ValueType::Listed { names, .. }, Value::String(text)) => {
                let names = names();
                if !names.iter().any(|name| is_written(name, text)) {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    self.found.add(field.wrong(suggest(text, &names)));
                }
            }
            (ValueType::Listed { .. }, _) => self.found.add(field.wrong(plain(form))),
            (ValueType::Choice(names), _) => {
                let names: Vec<(&str, ())> = names.iter().map(|name| (*name, ())).collect();
                self.check(field.choice(&names));
            }
            (ValueType::Boolean, _) => self.typed::<bool>(&field),
            (
                ValueType::Integer(..)
                | ValueType::Numbers(_)
                | ValueType::Bytes(..)
                | ValueType::BytesFor(..),
                _,
            ) => {
                self.check(whole(&field));
            }
            (ValueType::Time | ValueType::Period | ValueType::Times { .. }, _) => {
                self.typed::<Duration>(&field)
            }
            (ValueType::Rate | ValueType::RateFrom(..) | ValueType::RateOrZero(..), _) => {
                self.typed::<Rate>(&field)
            }
            (ValueType::Fraction | ValueType::Number(..), _) => self.typed::<f64>(&field),
            (ValueType::Either(forms), _) => self.either(&field, forms),
            (ValueType::Part(_, built_in), value) => {
                let own = field.shapes();
                let is_own = match value {
                    Value::String(name) => own.iter().any(|shape| name == shape.kind()),
                    Value::Table(table) => own.iter().any(|shape| is_kind(table, shape)),
                    _ => false,
                };
                // Built-in parts have no table form here; the decoder reports such a table.
                let is_table = matches!(value, Value::Table(_)) && built_in.shapes().is_empty();
                match (is_own, is_table) {
                    (true, _) => self.kinds(&field),
                    (false, true) => {}
                    (false, false) => self.value(path, item, built_in),
                }
            }
            (ValueType::List(inner), Value::Array(items)) => {
                for (n, item) in items.iter().enumerate() {
                    self.value(&join(path, &n.to_string()), item, inner);
                }
            }
            (ValueType::Table(shape), Value::Table(table)) => self.table(path, item.origin, table, shape),
            (ValueType::OneOf(_), Value::Table(_)) => self.one_of(&field),
            (ValueType::Kinds { .. }, Value::Table(_)) => self.kinds(&field),
            (ValueType::Kinds { bare: true, .. }, Value::String(_)) => self.check(field.kind()),
            (ValueType::Named(_, inner), Value::Table(table)) => {
                for (name, item) in &table.0 {
                    self.value(&join(path, name), item, inner);
                }
            }
            (ValueType::Settings(groups), Value::Table(_)) => {
                let settings = profile::flat(&field).unwrap_or_default();
                let key = |name: &str| groups.iter().copied().flatten().find(|key| key.name == name);
                for (setting, key) in settings.iter().filter_map(|(name, field)| Some((field, key(name)?))) {
                    self.value(&setting.path, setting.item, &key.form);
                }
            }
            // The decoder parses such text, and has its own messages for lists and tables.
            _ => {}
        }
    }

    /// Checks a table that is one of several alternatives, distinguished by a tag or by required keys.
    fn one_of(&mut self, field: &Field<'_>) {
        let Value::Table(table) = &field.item.value else { return };
        let (path, origin, all) = (&field.path, field.item.origin, field.shapes());
        let may: Vec<_> = all.iter().copied().filter(|shape| may_be(table, shape)).collect();
        // If a tag is missing, the alternative that does not require it applies.
        let by_default = |shape: &&'static TableSchema| {
            let is_left = |tag: &str| may.iter().any(|other| other.key(tag).is_some() && !needs(other, tag));
            tags(shape).any(|tag| table.get(tag).is_none() && is_left(tag))
        };
        let has = |shape: &&'static TableSchema| {
            shape.keys().any(|key| needs(shape, key.name) && table.get(key.name).is_some())
        };
        let likely: Vec<_> = may.iter().copied().filter(|shape| has(shape) && !by_default(shape)).collect();
        match likely.as_slice() {
            [shape] if tags(shape).all(|tag| table.get(tag).is_some()) && may.len() < all.len() => {
                self.table(path, origin, table, shape);
            }
            // The decoder chooses between these, or reports why none fits.
            several => {
                self.keys(path, origin, table, &all, several);
                self.values(path, table, several);
            }
        }
    }

    /// Checks a table with a `kind`.
    fn kinds(&mut self, field: &Field<'_>) {
        let Value::Table(table) = &field.item.value else { return };
        let names = field.kinds();
        let shape = field.shapes().into_iter().find(|shape| is_kind(table, shape));
        match (table.get("kind"), shape) {
            (Some(_), Some(shape)) => self.table(&field.path, field.item.origin, table, shape),
            (Some(item), None) => {
                let kind = Field { path: join(&field.path, "kind"), item, ..field.clone() };
                let names: Vec<(&str, ())> = names.into_iter().map(|name| (name, ())).collect();
                self.check(kind.choice(&names));
            }
            (None, _) => {
                let near = table.0.iter().find(|(key, _)| nearest(key, &["kind"]).is_some());
                let missing = || {
                    Diagnostic::new(
                        field.item.origin,
                        join(&field.path, "kind"),
                        "nothing",
                        suggest("", &names),
                    )
                };
                let fault =
                    near.map_or_else(missing, |(key, item)| unknown(&field.path, key, item, &["kind"]));
                self.found.add(fault);
            }
        }
    }

    /// Reports a value that matches none of the accepted types.
    fn either(&mut self, field: &Field<'_>, forms: &'static [ValueType]) {
        let item = field.item;
        let takes = |form: &&'static ValueType| match (&item.value, form) {
            (Value::Table(_), _) => !form.shapes().is_empty() && !matches!(form, ValueType::List(_)),
            (Value::Array(_), _) => matches!(form, ValueType::List(_)),
            _ => true,
        };
        let mut able = forms.iter().filter(takes);
        if matches!(item.value, Value::Table(_) | Value::Array(_)) {
            if let (Some(one), None) = (able.next(), able.next()) {
                self.value(&field.path, item, one);
            }
            return;
        }
        let is = able.any(|form| {
            let mut alone = Look { parts: self.parts, names: self.names, found: Diagnostics::default() };
            alone.value(&field.path, item, form);
            !is_table(form) && alone.found.into_all().is_empty()
        });
        if !is {
            self.found.add(field.wrong(plain(field.form)));
        }
    }

    /// Checks the name of a channel, link, node or interface.
    fn name(&mut self, field: &Field<'_>, what: &str) {
        let Some(names) = self.names else { return };
        match what {
            "channel" => self.check(refer(field, &names.channels)),
            "link" => self.check(refer(field, &names.links)),
            "interface" => self.check(names.access_point(field)),
            "end" => self.check(names.end(field)),
            "ends" => self.check(names.ends(field, None)),
            // `inherits` has been checked already, and the decoder of the node checks its radios.
            _ => {}
        }
    }

    fn typed<T: Typed>(&mut self, field: &Field<'_>) {
        self.check(T::read(field));
    }

    fn check<T>(&mut self, result: Result<T, Diagnostic>) {
        self.found.unless(result);
    }
}

/// Returns true if the shape requires the key.
fn needs(shape: &'static TableSchema, name: &str) -> bool {
    shape.key(name).is_some_and(|key| matches!(key.absent, DefaultValue::Required))
}

/// Returns true if the table's `kind` is that of the shape.
fn is_kind(table: &Table, shape: &'static TableSchema) -> bool {
    matches!(table.get("kind").map(|kind| &kind.value), Some(Value::String(kind)) if is_written(shape.kind(), kind))
}

/// Returns the keys that distinguish the shape from its alternatives.
fn tags(shape: &'static TableSchema) -> impl Iterator<Item = &'static str> {
    shape.keys().filter(|key| matches!(key.form, ValueType::Tag(_))).map(|key| key.name)
}

/// Returns true if no tag in the table contradicts the shape.
fn may_be(table: &Table, shape: &'static TableSchema) -> bool {
    shape.keys().all(|key| match (&key.form, table.get(key.name).map(|item| &item.value)) {
        (ValueType::Tag(tag), Some(value)) => matches!(value, Value::String(text) if is_written(tag, text)),
        (ValueType::Choice(names), Some(value)) if key.name == "kind" => {
            matches!(value, Value::String(text) if names.iter().any(|name| is_written(name, text)))
        }
        _ => true,
    })
}

/// Returns true if the type accepts only tables.
fn is_table(form: &'static ValueType) -> bool {
    match form {
        ValueType::Table(_)
        | ValueType::OneOf(_)
        | ValueType::Named(..)
        | ValueType::Settings(_)
        | ValueType::List(_) => true,
        ValueType::Kinds { bare, .. } => !bare,
        _ => false,
    }
}

/// Adds an article to the description of a type: `a rate, at least 1 kbit/s`.
fn with_article(words: String) -> String {
    const NOUNS: [&str; 7] = ["rate", "time", "size", "number", "whole number", "fraction", "list of"];
    if NOUNS.iter().any(|noun| words.starts_with(noun)) { format!("a {words}") } else { words }
}

/// Describes a type in words, without Markdown around names.
fn plain(form: &'static ValueType) -> String {
    let mut text = String::new();
    let words = words(form);
    let mut rest = words.as_str();
    while let Some((before, after)) = rest.split_once('[') {
        let Some((name, after)) = after.split_once("](#") else { break };
        let Some((_, after)) = after.split_once(')') else { break };
        text.push_str(before);
        text.push_str(name);
        rest = after;
    }
    text.push_str(rest);
    text.replace('`', "")
}
