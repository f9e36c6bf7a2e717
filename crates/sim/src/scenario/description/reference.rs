//! Renders the description of the scenario keys as a page for users.

use super::super::units;
use super::{DefaultValue, Key, TableSchema, ValueType, byte_bounds, numbers, rate_bound, time_bounds};

/// Text before the tables: the worked example and the notation of values.
const HEAD: &str = include_str!("reference.md");

/// Returns the page in Markdown.
pub(in super::super) fn reference(root: &'static TableSchema) -> String {
    let units = |(_, names): (String, Vec<&str>)| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let mut page = HEAD
        .replace("{times}", &units(units::times()))
        .replace("{rates}", &units(units::rates()))
        .replace("{sizes}", &units(units::sizes()));
    for shape in all(root) {
        page.push_str(&format!("\n## {}\n\n{}\n\n", shape.title, shape.about));
        page.push_str(&table("key", shape.keys()));
        for key in shape.keys() {
            if let ValueType::Settings(settings) = key.form {
                page.push_str(&format!("\n### {}\n\n", settings_title(key)));
                page.push_str(&table("setting", settings.iter().copied().flatten()));
            }
        }
    }
    page
}

/// Returns a table of keys, with keys of the same meaning in one row.
fn table(what: &str, keys: impl Iterator<Item = &'static Key>) -> String {
    let mut table = format!("| {what} | value | default | meaning |\n|---|---|---|---|\n");
    let keys: Vec<&'static Key> = keys.collect();
    for same in keys.chunk_by(|a, b| a.about == b.about) {
        let names: Vec<String> = same.iter().map(|key| format!("`{}`", key.name)).collect();
        let first = same[0];
        let value = match first.form {
            ValueType::Settings(_) => {
                let title = settings_title(first);
                format!("settings by name: [{title}](#{})", anchor(&title))
            }
            _ => words(&first.form),
        };
        table.push_str(&format!("| {} | {value} | {} | {} |\n", names.join(" "), absent(first), first.about));
    }
    table
}

/// Returns the heading of the settings that a key may contain.
fn settings_title(key: &Key) -> String {
    format!("Settings of {}", key.name)
}

/// Returns the tables reachable from `root`, each once, outermost first.
pub(super) fn all(root: &'static TableSchema) -> Vec<&'static TableSchema> {
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        for shape in found[next].keys().flat_map(|key| key.form.shapes()) {
            if !found.iter().any(|known| core::ptr::eq(*known, shape) || known.title == shape.title) {
                found.push(shape);
            }
        }
        next += 1;
    }
    found
}

fn absent(key: &Key) -> String {
    match (key.absent.default(), &key.absent, &key.form) {
        (None, DefaultValue::Words(words), _) => (*words).to_owned(),
        (None, ..) => "required".to_owned(),
        (
            Some(text),
            _,
            ValueType::Boolean | ValueType::Integer(..) | ValueType::Number(..) | ValueType::Fraction,
        ) => {
            format!("`{text}`")
        }
        (Some(text), _, ValueType::Bytes(..) | ValueType::Either(_)) if text.parse::<u32>().is_ok() => {
            format!("`{text}`")
        }
        (Some(text), ..) => format!("`\"{text}\"`"),
    }
}

/// Describes a type in words.
pub(in super::super) fn words(form: &'static ValueType) -> String {
    let list =
        |names: Vec<&str>| names.iter().map(|name| format!("`\"{name}\"`")).collect::<Vec<_>>().join(", ");
    match form {
        ValueType::Text => "text".to_owned(),
        ValueType::Name("interface") => "an interface, `\"NODE.INTERFACE\"`".to_owned(),
        ValueType::Name("end") => "a node, or an interface, `\"NODE.INTERFACE\"`".to_owned(),
        ValueType::Name("ends") => {
            "a node, a pattern of nodes' names such as `sta*`, or an interface, `\"NODE.INTERFACE\"`"
                .to_owned()
        }
        ValueType::Name("radio") => "an interface of the node, or `\"NODE.INTERFACE\"`".to_owned(),
        ValueType::Name(what) => format!("the name of a {what}"),
        ValueType::Written { words, .. } | ValueType::Listed { words, .. } => (*words).to_owned(),
        ValueType::Choice(names) => list(names.to_vec()),
        ValueType::Tag(name) => list(vec![name]),
        ValueType::Boolean => "`true`, `false`".to_owned(),
        ValueType::Integer(low, high) => format!("whole number, {low} to {high}"),
        ValueType::Numbers(all) => format!("whole number, {}", numbers(all)),
        ValueType::Bytes(low, high) => format!("size, {low} to {high} bytes"),
        ValueType::BytesFor(low, high, why) => format!("size, {}", byte_bounds(*low, *high, why)),
        ValueType::Time => "time".to_owned(),
        ValueType::Period => "time above zero".to_owned(),
        ValueType::Times { least, most, why } => format!("time, {}", time_bounds(least, *most, why)),
        ValueType::Rate => "rate".to_owned(),
        ValueType::RateFrom(least, why) => format!("rate, {}", rate_bound(least, why)),
        ValueType::RateOrZero(least, why) => format!("rate, `0 bit/s` or {}", rate_bound(least, why)),
        ValueType::Fraction => "fraction, 0 to 1".to_owned(),
        ValueType::Number(low, high) => format!("number, {low} to {high}"),
        ValueType::Part(_, built_in) => words(built_in),
        ValueType::Either(forms) => forms.iter().map(words).collect::<Vec<_>>().join(", or "),
        ValueType::List(inner) => format!("list of: {}", words(inner)),
        ValueType::Table(shape) => link(shape),
        ValueType::OneOf(shapes) => shapes.iter().map(|shape| link(shape)).collect::<Vec<_>>().join(", or "),
        ValueType::Kinds { shapes, bare } => {
            let kinds: Vec<String> =
                shapes.iter().map(|s| format!("[`\"{}\"`](#{})", s.kind(), anchor(s.title))).collect();
            let how =
                if *bare { "a kind, or a table with `kind` and options" } else { "a table with `kind`" };
            format!("{how}: {}", kinds.join(", "))
        }
        ValueType::Named(what, inner) => format!("{what}s by name: {}", words(inner)),
        ValueType::Settings(_) => "settings by name".to_owned(),
        ValueType::Later(form) => words(form()),
        ValueType::Sweep => {
            "lists of values, or ranges such as `\"1..30\"`, by dotted key; keys of a table in `paired` move together".to_owned()
        }
    }
}

fn link(shape: &TableSchema) -> String {
    format!("[{}](#{})", shape.title, anchor(shape.title))
}

/// Returns the anchor of a heading.
fn anchor(title: &str) -> String {
    title.to_lowercase().replace(' ', "-").replace(['\'', '.'], "")
}
