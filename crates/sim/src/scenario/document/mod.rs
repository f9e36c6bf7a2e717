//! The TOML text as a tree that records the origin of every value. Overrides and `inherits` change the tree.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Diagnostic, Origin, suggest};

/// A value and its origin.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Item {
    pub value: Value,
    pub origin: Origin,
}

/// A TOML value. Dates have no meaning in a scenario; their text is stored for the error message.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Date(String),
    Array(Vec<Item>),
    Table(Table),
}

/// Keys and values in file order.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Table(pub Vec<(String, Item)>);

/// Keys whose value may be a bare kind or a table with a `kind` and its options.
const KINDS: [&str; 12] = [
    "scheme",
    "qdisc",
    "child",
    "stack",
    "congestion_control",
    "scheduler",
    "aqm",
    "power_save",
    "scan",
    "jitter",
    "rx_mitigation",
    "retry_out",
];

/// Limit on recursion, far above the depth of any scenario key.
const MAX_DEPTH: usize = 16;

/// Parses `text`.
pub(super) fn parse(text: &str) -> Result<Table, Diagnostic> {
    let lines = Lines::new(text);
    match DeTable::parse(text) {
        Ok(table) => lines.table(table.get_ref(), ""),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let message: String =
                error.message().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            Err(Diagnostic::new(
                lines.at(at),
                "",
                format!("text that is not TOML ({message})"),
                "a TOML file",
            ))
        }
    }
}

/// Byte offsets of line starts, for converting the parser's tree.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(core::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect())
    }

    fn at(&self, offset: usize) -> Origin {
        Origin::Line(self.0.partition_point(|start| *start <= offset).max(1) as u32)
    }

    fn table(&self, table: &DeTable<'_>, path: &str) -> Result<Table, Diagnostic> {
        // The parser sorts keys, but scenarios use file order (for nodes and swept keys).
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut out = Table::default();
        for (key, value) in entries {
            let path = join(path, key.get_ref());
            // A table's own span is its header, its braces or empty: use the position of its key.
            let origin = match value.get_ref() {
                DeValue::Table(_) => self.at(key.span().start),
                _ => self.at(value.span().start),
            };
            out.0.push((key.get_ref().to_string(), self.item(value, origin, &path)?));
        }
        Ok(out)
    }

    fn item(&self, value: &Spanned<DeValue<'_>>, origin: Origin, path: &str) -> Result<Item, Diagnostic> {
        let value = match value.get_ref() {
            DeValue::String(s) => Value::String(s.to_string()),
            DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
                Ok(i) => Value::Integer(i),
                Err(_) => {
                    return Err(Diagnostic::new(
                        origin,
                        path,
                        shorten(&i.to_string()),
                        "a number of 64 bits",
                    ));
                }
            },
            DeValue::Float(x) => Value::Float(x.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(b) => Value::Boolean(*b),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(array) => {
                let items = array.iter().enumerate();
                let item = |(i, v): (usize, &Spanned<DeValue<'_>>)| {
                    self.item(v, self.at(v.span().start), &join(path, &i.to_string()))
                };
                Value::Array(items.map(item).collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => Value::Table(self.table(table, path)?),
        };
        Ok(Item { value, origin })
    }
}

/// Returns `path.key`.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Removes the TOML quotes around parts that contain dots from the dotted path `path`. [`Table::set`] finds
/// the boundaries of such parts itself. A path that is not quoted as in TOML is returned unchanged.
pub(super) fn unquoted(path: &str) -> String {
    let mut parts = Vec::new();
    let mut rest = path;
    loop {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let split = match quote {
            // Names contain no quotes or backslashes, so nothing needs escaping.
            Some(quote) => rest[1..].split_once(quote).filter(|(part, _)| !part.contains('\\')),
            None => Some(rest.split_at(rest.find('.').unwrap_or(rest.len()))),
        };
        let Some((part, after)) = split else { return path.to_owned() };
        parts.push(part);
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => return parts.join("."),
            None => return path.to_owned(),
        }
    }
}

/// Splits a dotted path into its first part, with the quotes around dots removed, and the rest.
pub(super) fn first_part(path: &str) -> (&str, Option<&str>) {
    if let Some((first, rest)) = path.strip_prefix('"').and_then(|path| path.split_once('"')) {
        return (first, rest.strip_prefix('.'));
    }
    path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)))
}

/// Parses a list index in a path: a plain decimal number, so that each element has only one path.
fn index(key: &str) -> Option<usize> {
    key.parse().ok().filter(|n: &usize| n.to_string() == key)
}

/// Formats `text` as a TOML string on one line.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Shortens text for an error message.
fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST).chain("...".chars()).collect()
}

impl Value {
    /// Formats the value for an error message.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Array(items) if items.is_empty() => "an empty list".to_owned(),
            Self::Array(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            Self::String(s) => format!("{:?}", shorten(s)),
            Self::Date(text) => format!("the date {text}"),
            other => other.to_toml(),
        }
    }

    /// Formats the value as TOML on one line.
    fn to_toml(&self) -> String {
        match self {
            Self::String(s) => quoted(s),
            Self::Integer(i) => i.to_string(),
            Self::Float(x) => toml::Value::Float(*x).to_string(),
            Self::Boolean(b) => b.to_string(),
            Self::Date(text) => text.clone(),
            Self::Array(items) => {
                let items: Vec<String> = items.iter().map(|i| i.value.to_toml()).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Table(table) => {
                let one = |(k, v): &(String, Item)| format!("{} = {}", quoted(k), v.value.to_toml());
                let entries: Vec<String> = table.0.iter().map(one).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }

    /// Formats the value as an override, without quotes if a string needs none.
    pub(super) fn to_override(&self) -> String {
        match self {
            Self::String(s) if override_value(s) == *self => s.clone(),
            other => other.to_toml(),
        }
    }
}

/// Parses an override: a TOML value, or the text itself.
pub(super) fn override_value(text: &str) -> Value {
    // Parse a value, not `key = text`, so that the text cannot add a second key.
    let parsed = DeValue::parse(text).ok().and_then(|v| Lines::new("").item(&v, Origin::Set, "").ok());
    parsed.map_or_else(|| Value::String(text.to_owned()), |item| set_origin(item).value)
}

/// Marks `item` and its contents as set by an override.
fn set_origin(item: Item) -> Item {
    let value = match item.value {
        Value::Array(items) => Value::Array(items.into_iter().map(set_origin).collect()),
        Value::Table(Table(entries)) => {
            Value::Table(Table(entries.into_iter().map(|(k, v)| (k, set_origin(v))).collect()))
        }
        scalar => scalar,
    };
    Item { value, origin: Origin::Set }
}

impl Table {
    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// Returns the origin of the value at `path`, or of the nearest table or list above it.
    pub(super) fn origin_of(&self, path: &[&str]) -> Origin {
        let mut origin = Origin::Line(1);
        let mut item = path.first().and_then(|key| self.get(key));
        for key in path.iter().skip(1).chain([&""]) {
            let Some(here) = item else { break };
            origin = here.origin;
            item = match &here.value {
                Value::Table(table) => table.get(key),
                Value::Array(items) => index(key).and_then(|i| items.get(i)),
                _ => None,
            };
        }
        origin
    }

    /// Returns a copy without a key.
    pub(super) fn without(&self, key: &str) -> Self {
        Self(self.0.iter().filter(|(own, _)| own != key).cloned().collect())
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.0.iter().position(|(k, _)| k == key)
    }

    /// Names in this table, for suggestions.
    pub(super) fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(k, _)| k.as_str()).collect()
    }

    /// Sets the value at the dotted `path`, as if the file had been edited there.
    ///
    /// Creates the tables that a key needs; the reader checks later whether the key is known. Channels,
    /// nodes, interfaces, links and flows are not created, so an unknown name is an error.
    pub(super) fn set(&mut self, path: &str, text: &str) -> Result<(), Diagnostic> {
        let path = &unquoted(path);
        let keys: Vec<&str> = path.split('.').collect();
        if keys.len() > MAX_DEPTH || keys.iter().any(|k| k.is_empty()) || keys[0] == "sweep" {
            return Err(Diagnostic::new(
                Origin::Set,
                path,
                "no such key",
                "a key such as \"node.ap.forward\"",
            ));
        }
        set_in(self, &keys, 0, Item { value: override_value(text), origin: Origin::Set })
    }

    /// Merges this table over `base`: tables key by key; any other value replaces the one in `base`.
    fn over(&self, base: &Self) -> Self {
        let inherited = |(key, below): &(String, Item)| {
            let value = self.get(key).map_or_else(|| below.clone(), |item| item.over(key, below));
            (key.clone(), value)
        };
        let own = self.0.iter().filter(|(key, _)| base.get(key).is_none());
        Self(base.0.iter().map(inherited).chain(own.cloned()).collect())
    }
}

impl Item {
    /// Merges the value of `key` over that of a base.
    fn over(&self, key: &str, base: &Self) -> Self {
        let value = match (&self.value, &base.value) {
            (Value::Table(own), Value::Table(base)) if !changes_kind(own, base) => {
                Value::Table(own.over(base))
            }
            (Value::Table(own), Value::String(_)) if KINDS.contains(&key) && own.get("kind").is_none() => {
                Value::Table(own.over(&kind_table(base)))
            }
            (value, _) => value.clone(),
        };
        Self { value, origin: self.origin }
    }
}

/// Returns true if `own` has another kind than `base`, so that the options of `base` do not apply.
fn changes_kind(own: &Table, base: &Table) -> bool {
    own.get("kind").is_some_and(|kind| base.get("kind").map(|b| &b.value) != Some(&kind.value))
}

/// Returns `{ kind = NAME }` for a bare name.
fn kind_table(name: &Item) -> Table {
    Table(vec![("kind".to_owned(), name.clone())])
}

fn set_in(table: &mut Table, keys: &[&str], depth: usize, item: Item) -> Result<(), Diagnostic> {
    let path = || keys.join(".");
    let rest = &keys[depth..];
    // A key may itself contain dots (a quoted sysctl name): the longest existing key wins.
    let found = (1..=rest.len()).rev().find_map(|n| Some((n, table.position(&rest[..n].join("."))?)));
    let (taken, at) = match found {
        Some(found) => found,
        None if names_a_thing(keys, depth) => {
            let here = keys[..=depth].join(".");
            return Err(Diagnostic::new(Origin::Set, here, "no such name", suggest(rest[0], &table.names())));
        }
        None => {
            let value = if rest.len() == 1 { item.value.clone() } else { Value::Table(Table::default()) };
            table.0.push((rest[0].to_owned(), Item { value, origin: Origin::Set }));
            (1, table.0.len() - 1)
        }
    };
    if taken == rest.len() {
        table.0[at].1 = item;
        return Ok(());
    }
    let (name, below) = &mut table.0[at];
    if matches!(below.value, Value::String(_)) && KINDS.contains(&name.as_str()) {
        below.value = Value::Table(kind_table(below));
    }
    set_below(below, keys, depth + taken, item, &path)
}

fn set_below(
    below: &mut Item,
    keys: &[&str],
    depth: usize,
    item: Item,
    path: &dyn Fn() -> String,
) -> Result<(), Diagnostic> {
    match &mut below.value {
        Value::Table(table) => set_in(table, keys, depth, item),
        Value::Array(items) => {
            let many = items.len();
            let here = || keys[..=depth].join(".");
            let element = index(keys[depth]).and_then(|i| items.get_mut(i)).ok_or_else(|| {
                Diagnostic::new(Origin::Set, here(), "no such element", format!("a number below {many}"))
            })?;
            if depth + 1 == keys.len() {
                *element = item;
                return Ok(());
            }
            set_below(element, keys, depth + 1, item, path)
        }
        scalar => {
            let found = format!("{} above it", scalar.describe());
            Err(Diagnostic::new(
                Origin::Set,
                path(),
                found,
                format!("{} to be a table", keys[..depth].join(".")),
            ))
        }
    }
}

/// Returns true if the key at `depth` is the name of a channel, node, link or interface.
fn names_a_thing(keys: &[&str], depth: usize) -> bool {
    match depth {
        0 => keys[0] == "flow",
        1 => matches!(keys[0], "channel" | "node" | "link"),
        3 => keys[0] == "node" && keys[2] == "interface",
        _ => false,
    }
}

/// Returns the table at position `at` of `tables` with its inherited keys. Its `inherits` key has no further
/// meaning.
///
/// A node that inherits nothing is not copied.
pub(super) fn inherit<'a>(tables: &'a Table, path: &str, at: usize) -> Result<Cow<'a, Table>, Diagnostic> {
    let (name, item) = &tables.0[at];
    let mut chain = vec![name];
    let mut own = Vec::new();
    let mut next = Some(item);
    // Missing names are skipped here; the decoder rejects anything but a table.
    while let Some(Item { value: Value::Table(table), .. }) = next {
        own.push(table);
        let name = chain[chain.len() - 1];
        let Some(like) = table.get("inherits") else { break };
        let key = join(&join(path, name), "inherits");
        let Value::String(base) = &like.value else {
            return Err(Diagnostic::new(like.origin, key, like.value.describe(), "the name of another node"));
        };
        if chain.contains(&base) {
            let found = format!("{base:?}, which inherits from {name:?} itself");
            return Err(Diagnostic::new(
                like.origin,
                key,
                found,
                "a node that does not inherit from this one",
            ));
        }
        next = tables.get(base);
        if next.is_none() {
            let others: Vec<&str> =
                tables.names().into_iter().filter(|n| !chain.iter().any(|c| *c == n)).collect();
            return Err(Diagnostic::new(like.origin, key, like.value.describe(), suggest(base, &others)));
        }
        chain.push(base);
    }
    let mut own = own.into_iter().rev();
    let first = own.next().map_or_else(Default::default, Cow::Borrowed);
    Ok(own.fold(first, |base, table| Cow::Owned(table.over(&base))))
}

#[cfg(test)]
mod tests;
