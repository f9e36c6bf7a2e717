//! Renders the description of the scenario keys as a JSON Schema.
//!
//! The schema checks each key separately. Checks across keys, such as undefined names and duplicate
//! addresses, are left to the reader.

use serde_json::{Map, Value, json};

use super::super::{document, units};
use super::{DefaultValue, Family, Key, TableSchema, ValueType};

/// Returns the schema of a file with the keys of `root`. `parts` returns the tables of a family of parts.
// spec: json-schema draft-07 - the version that editors' TOML extensions support.
pub(in super::super) fn schema(
    root: &'static TableSchema,
    parts: &dyn Fn(Family) -> Vec<&'static TableSchema>,
) -> String {
    let mut writer = Writer { definitions: Map::new(), parts };
    let mut whole = writer.table(root, Presence::Whole);
    whole.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    whole.insert("title".to_owned(), json!("Stillair scenario"));
    whole.insert("definitions".to_owned(), Value::Object(writer.definitions));
    let text = serde_json::to_string_pretty(&Value::Object(whole)).expect("a tree of values can be written");
    text + "\n"
}

/// Which keys of a table are required.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    /// Keys without a default.
    Whole,
    /// No keys: the table may get the rest by `inherits`.
    Part,
}

struct Writer<'a> {
    definitions: Map<String, Value>,
    parts: &'a dyn Fn(Family) -> Vec<&'static TableSchema>,
}

impl Writer<'_> {
    fn table(&mut self, shape: &'static TableSchema, presence: Presence) -> Map<String, Value> {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for key in shape.keys() {
            let inherits = key.name == "inherits";
            if inherits && presence == Presence::Whole {
                continue;
            }
            properties.insert(key.name.to_owned(), self.key(key, presence));
            if inherits || (presence == Presence::Whole && matches!(key.absent, DefaultValue::Required)) {
                required.push(key.name);
            }
        }
        let table = json!({
            "type": "object",
            "description": shape.about,
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        let Value::Object(table) = table else { unreachable!("written as an object above") };
        table
    }

    fn key(&mut self, key: &'static Key, presence: Presence) -> Value {
        let mut about = key.about.to_owned();
        let mut out = match self.form(&key.form, presence) {
            // Validators ignore the siblings of `$ref`.
            Value::Object(map) if map.contains_key("$ref") => json!({ "allOf": [map] }),
            other => other,
        };
        if let Some(text) = key.absent.default() {
            out["default"] = default(&text);
        }
        if let DefaultValue::Words(words) = key.absent {
            about.push_str(&format!(" (default: {words})"));
        }
        out["description"] = json!(about);
        out
    }

    /// Returns a reference to the table's definition, which is created at first use.
    fn shape(&mut self, shape: &'static TableSchema, presence: Presence) -> Value {
        let part = if presence == Presence::Part { "-part" } else { "" };
        let name = format!("{}{part}", shape.title.replace(' ', "-").replace('\'', "").to_lowercase());
        if !self.definitions.contains_key(&name) {
            // Reserve the name first, because a table may contain itself.
            self.definitions.insert(name.clone(), Value::Null);
            let table = self.table(shape, presence);
            self.definitions.insert(name.clone(), Value::Object(table));
        }
        json!({ "$ref": format!("#/definitions/{name}") })
    }

    /// Returns the definition of a complete table, or of one that inherits.
    fn inheriting(&mut self, shape: &'static TableSchema, presence: Presence) -> Value {
        if shape.key("inherits").is_none() {
            return self.shape(shape, presence);
        }
        json!({ "anyOf": [self.shape(shape, Presence::Whole), self.shape(shape, Presence::Part)] })
    }

    fn form(&mut self, form: &'static ValueType, presence: Presence) -> Value {
        let quantity = |(pattern, _): (String, Vec<&str>)| json!({ "type": "string", "pattern": pattern });
        match form {
            ValueType::Text => json!({ "type": "string", "pattern": r"\S" }),
            ValueType::Name("interface") => {
                json!({ "type": "string", "pattern": r"^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$" })
            }
            ValueType::Name("end" | "radio") => {
                json!({ "type": "string", "pattern": r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?$" })
            }
            ValueType::Name("ends") => {
                json!({ "type": "string", "pattern": r"^[A-Za-z0-9_*-]+(\.[A-Za-z0-9_-]+)?$" })
            }
            ValueType::Name(_) => json!({ "type": "string", "pattern": NAME }),
            ValueType::Written { pattern, examples, .. } => {
                json!({ "type": "string", "pattern": pattern, "examples": examples })
            }
            ValueType::Listed { title, names, .. } => {
                self.definitions.insert((*title).to_owned(), json!({ "enum": names() }));
                json!({ "$ref": format!("#/definitions/{title}") })
            }
            ValueType::Choice(names) => {
                let spaced = names.iter().map(|name| (*name).to_owned());
                let all: Vec<String> =
                    spaced.chain(names.iter().filter_map(|name| units::unspaced(name))).collect();
                json!({ "enum": all })
            }
            ValueType::Tag(name) => json!({ "const": name }),
            ValueType::Boolean => json!({ "type": "boolean" }),
            ValueType::Integer(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
            ValueType::Numbers(all) => json!({ "enum": all }),
            ValueType::Bytes(low, high) | ValueType::BytesFor(low, high, _) => json!({ "anyOf": [
                { "type": "integer", "minimum": low, "maximum": high },
                quantity(units::sizes()),
            ] }),
            ValueType::Time | ValueType::Period | ValueType::Times { .. } => quantity(units::times()),
            ValueType::Rate | ValueType::RateFrom(..) | ValueType::RateOrZero(..) => quantity(units::rates()),
            ValueType::Fraction => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
            ValueType::Number(low, high) => json!({ "type": "number", "minimum": low, "maximum": high }),
            ValueType::Part(family, built_in) => self.part(*family, built_in, presence),
            ValueType::Either(forms) => self.any(forms.iter(), presence),
            // A list replaces an inherited list as a whole.
            ValueType::List(inner) => {
                json!({ "type": "array", "minItems": 1, "items": self.form(inner, Presence::Whole) })
            }
            ValueType::Table(shape) => self.inheriting(shape, presence),
            ValueType::OneOf(shapes) => {
                json!({ "anyOf": shapes.iter().map(|shape| self.shape(shape, presence)).collect::<Vec<_>>() })
            }
            ValueType::Kinds { shapes, bare } => {
                let alone = shapes.iter().filter(|shape| shape.stands_alone());
                let names: Vec<&str> = alone.map(|shape| shape.kind()).collect();
                let mut all: Vec<Value> = shapes.iter().map(|shape| self.shape(shape, presence)).collect();
                if *bare {
                    all.insert(0, json!({ "enum": names }));
                }
                json!({ "anyOf": all })
            }
            ValueType::Named(_, inner) => json!({
                "type": "object",
                "propertyNames": { "pattern": NAME },
                "additionalProperties": self.form(inner, presence),
            }),
            ValueType::Settings(keys) => {
                let keys: Vec<(&str, Value)> =
                    keys.iter().copied().flatten().map(|key| (key.name, self.key(key, presence))).collect();
                dotted(&keys)
            }
            ValueType::Later(later) => self.form(later(), presence),
            ValueType::Sweep => {
                let table = json!({ "$ref": "#/definitions/sweep" });
                let sweep = json!({
                    "type": "object",
                    "properties": { "paired": { "anyOf": [table, { "type": "array", "items": table, "minItems": 1 }] } },
                    "additionalProperties": { "anyOf": [
                        { "type": "array", "minItems": 1 },
                        { "type": "string", "pattern": r"^\s*[+-]?[0-9]+\s*\.\.\s*[+-]?[0-9]+\s*$" },
                        { "$ref": "#/definitions/sweep" },
                    ] },
                });
                self.definitions.insert("sweep".to_owned(), sweep);
                json!({ "$ref": "#/definitions/sweep" })
            }
        }
    }

    /// Accepts built-in names, or a part of a family by its bare name or as a table.
    fn part(&mut self, family: Family, built_in: &'static ValueType, presence: Presence) -> Value {
        let (built_in, parts) = (self.form(built_in, presence), (self.parts)(family));
        if parts.is_empty() {
            return built_in;
        }
        let names: Vec<&str> = parts.iter().map(|shape| shape.kind()).collect();
        let tables = parts.iter().map(|shape| self.shape(shape, presence));
        let all: Vec<Value> = [built_in, json!({ "enum": names })].into_iter().chain(tables).collect();
        json!({ "anyOf": all })
    }

    fn any(&mut self, forms: impl Iterator<Item = &'static ValueType>, presence: Presence) -> Value {
        json!({ "anyOf": forms.map(|form| self.form(form, presence)).collect::<Vec<_>>() })
    }
}

/// Converts a default to JSON.
fn default(text: &str) -> Value {
    match document::override_value(text) {
        document::Value::String(text) => json!(text),
        document::Value::Integer(i) => json!(i),
        document::Value::Float(x) => json!(x),
        document::Value::Boolean(b) => json!(b),
        other => unreachable!("{other:?} as a default"),
    }
}

/// Pattern of the name of an element.
const NAME: &str = "^[A-Za-z0-9_-]{1,64}$";

/// Returns nested tables for dotted names. Each part may also be quoted or start another table.
fn dotted(keys: &[(&str, Value)]) -> Value {
    let mut properties = Map::new();
    for (name, value) in keys {
        properties.insert((*name).to_owned(), value.clone());
        for (dot, _) in name.match_indices('.') {
            let prefix = &name[..=dot];
            let below: Vec<(&str, Value)> = keys
                .iter()
                .filter_map(|(name, value)| Some((name.strip_prefix(prefix)?, value.clone())))
                .collect();
            properties.insert(name[..dot].to_owned(), dotted(&below));
        }
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}
