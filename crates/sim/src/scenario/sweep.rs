//! The `[sweep]` table: lists of values by dotted key, expanded to the overrides of every combination.

use super::decoded;
use super::description::ValueType;

use super::document::{Table, Value, join, unquoted};
use super::error::{Diagnostic, Origin};
use super::parts::Parts;
use super::reader::{Field, flatten};
use super::units;

/// Maximum number of combinations; more indicates a mistake.
const MAX_COMBINATIONS: usize = 100_000;

/// Maximum number of combinations in which a value is tried before it is rejected.
const MAX_TRIES: usize = 1_000;

/// A list of overrides.
type Sets = Vec<(String, String)>;

/// A key and its values in order.
struct Swept<'a> {
    key: String,
    field: Field<'a>,
    values: Vec<String>,
}

/// Keys that change together: a single key, or those of a `paired` table, all with the same number of values.
struct Axis<'a>(Vec<Swept<'a>>);

/// The key whose tables contain keys that change together.
const PAIRED: &str = "paired";

/// Returns the combinations, the last key changing fastest; `overrides` are already applied to the tree.
pub(super) fn combinations(
    tree: &Table,
    overrides: &[(String, String)],
    parts: &Parts,
) -> Result<Vec<Sets>, Diagnostic> {
    let axes = axes(tree, parts)?;
    overrides.iter().try_for_each(|(key, value)| set_anew(&unquoted(key), value, &axes))?;
    let mut out = vec![Vec::new()];
    for Axis(keys) in &axes {
        let first = &keys[0];
        if out.len() * first.values.len() > MAX_COMBINATIONS {
            let found = format!("{} times {} runs", out.len(), first.values.len());
            return Err(first.field.found(found, format!("at most {MAX_COMBINATIONS} in a sweep")));
        }
        out = out
            .iter()
            .flat_map(|so_far: &Vec<_>| {
                (0..first.values.len()).map(|n| {
                    let mut next = so_far.clone();
                    next.extend(keys.iter().map(|swept| (swept.key.clone(), swept.values[n].clone())));
                    next
                })
            })
            .collect();
    }
    for swept in axes.iter().flat_map(|Axis(keys)| keys) {
        swept.try_values(tree, &out)?;
    }
    Ok(out)
}

/// Reads the table without building the combinations, and tries each key once on the scenario.
fn axes<'a>(tree: &'a Table, parts: &'a Parts) -> Result<Vec<Axis<'a>>, Diagnostic> {
    let Some(item) = tree.get("sweep") else { return Ok(Vec::new()) };
    let sweep = Field { path: "sweep".to_owned(), item, form: &ValueType::Sweep, parts };
    let mut axes: Vec<Axis<'_>> = Vec::new();
    for (name, item) in &sweep.table("a table of lists by key")?.0 {
        if name == PAIRED {
            let list = Field { path: join("sweep", PAIRED), item, form: &ValueType::Sweep, parts };
            for table in list.list() {
                let Value::Table(keys) = &table.item.value else {
                    return Err(table.wrong("a table of lists by key, or a list of such tables"));
                };
                let mut fields = Vec::new();
                flatten(&table.path, "", keys, parts, &mut fields);
                if fields.len() < 2 {
                    return Err(table.found("fewer than two keys", "two or more, which move together"));
                }
                add(tree, fields, &mut axes)?;
            }
            continue;
        }
        let mut fields = Vec::new();
        match &item.value {
            Value::Table(below) => flatten("sweep", name, below, parts, &mut fields),
            _ => {
                let path = join("sweep", name);
                fields.push((name.clone(), Field { path, item, form: &ValueType::Text, parts }));
            }
        }
        for one in fields {
            add(tree, vec![one], &mut axes)?;
        }
    }
    Ok(axes)
}

/// Adds keys that change together.
fn add<'a>(
    tree: &Table,
    fields: Vec<(String, Field<'a>)>,
    axes: &mut Vec<Axis<'a>>,
) -> Result<(), Diagnostic> {
    axes.push(Axis(Vec::new()));
    for (key, field) in fields {
        let key = unquoted(&key);
        for other in axes.iter().flat_map(|Axis(keys)| keys) {
            apart(&key, &other.key).map_err(|found| field.found(found, "each key once"))?;
        }
        let new = axis(tree, key, field)?;
        let Some(Axis(keys)) = axes.last_mut() else { continue };
        if let Some(first) = keys.first().filter(|first| first.values.len() != new.values.len()) {
            let expected = format!("{}, as of {} beside it", first.values.len(), first.key);
            return Err(new.field.found(format!("{} values", new.values.len()), expected));
        }
        keys.push(new);
    }
    Ok(())
}

/// Rejects a key that overlaps with another swept key: only one value would apply, but results would list
/// both.
fn apart(key: &str, other: &str) -> Result<(), String> {
    let lies_in = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|below| below.starts_with('.'));
    if key == other {
        Err("a key that is swept already".to_owned())
    } else if lies_in(key, other) {
        Err(format!("a key that is swept already as a part of {other}"))
    } else if lies_in(other, key) {
        Err(format!("a key of which a part is swept already, {other}"))
    } else {
        Ok(())
    }
}

/// Rejects an override of a swept key, which each combination would replace. An override of a table is
/// allowed if only a part of the table is swept.
fn set_anew(key: &str, value: &str, axes: &[Axis<'_>]) -> Result<(), Diagnostic> {
    let swept = |axis: &&Swept<'_>| {
        key == axis.key || key.strip_prefix(&axis.key).is_some_and(|below| below.starts_with('.'))
    };
    let Some(axis) = axes.iter().flat_map(|Axis(keys)| keys).find(swept) else { return Ok(()) };
    let line = match axis.field.item.origin {
        Origin::Line(line) => format!(" in line {line}"),
        Origin::Set | Origin::Built => String::new(),
    };
    Err(Diagnostic::new(
        Origin::Set,
        key,
        format!("{value:?} for a key that [sweep]{line} sets in each combination"),
        "a key that is not swept, a run of this one value (not a sweep), or another list in [sweep]",
    ))
}

/// Checks the table. Also part of reading a scenario that is not swept.
pub(super) fn check(tree: &Table, parts: &Parts) -> Result<(), Diagnostic> {
    axes(tree, parts).map(|_| ())
}

fn axis<'a>(tree: &Table, key: String, field: Field<'a>) -> Result<Swept<'a>, Diagnostic> {
    let expected = "a list of values or a range such as \"1..30\"";
    let values: Vec<String> = match &field.item.value {
        Value::Array(items) => items.iter().map(|item| item.value.to_override()).collect(),
        Value::String(text) => {
            let (low, high) = units::range(text).ok_or_else(|| field.wrong(expected))?;
            if high.abs_diff(low) >= MAX_COMBINATIONS as u64 {
                return Err(field.wrong(format!("at most {MAX_COMBINATIONS} values in a sweep")));
            }
            (low..=high).map(|n| n.to_string()).collect()
        }
        _ => return Err(field.wrong(expected)),
    };
    let Some(first) = values.first() else { return Err(field.wrong(expected)) };
    tree.clone().set(&key, first).map_err(|fault| {
        // Report the error at the swept key in the file.
        Diagnostic::new(
            field.item.origin,
            format!("{} ({})", field.path, fault.key),
            fault.found,
            fault.expected,
        )
    })?;
    Ok(Swept { key, field, values })
}

impl Swept<'_> {
    /// Rejects a value that no combination accepts.
    fn try_values(&self, tree: &Table, combinations: &[Sets]) -> Result<(), Diagnostic> {
        let (last, parts) = (self.values.len() - 1, self.field.parts);
        for (i, value) in self.values.iter().enumerate() {
            // For a range, its ends are sufficient.
            if !self.field.is_list() && i != 0 && i != last {
                continue;
            }
            let own = (self.key.clone(), value.clone());
            let Err(fault) = attempt(tree, parts, core::slice::from_ref(&own)) else { continue };
            let mut with = combinations.iter().filter(|sets| sets.contains(&own));
            if with.by_ref().take(MAX_TRIES).any(|sets| attempt(tree, parts, sets).is_ok())
                || with.next().is_some()
            {
                continue;
            }
            return Err(self.blame(tree, i, fault));
        }
        Ok(())
    }

    /// Attributes the error of value `i` to the `[sweep]` table. An error that the scenario has without
    /// overrides is returned unchanged.
    fn blame(&self, tree: &Table, i: usize, fault: Diagnostic) -> Diagnostic {
        let at_key = fault.key == self.key || fault.key.starts_with(&format!("{}.", self.key));
        if !at_key && let Err(without) = attempt(tree, self.field.parts, &[]) {
            return without;
        }
        let one = self.field.list().swap_remove(if self.field.is_list() { i } else { 0 });
        let key = if fault.key == self.key { one.path } else { format!("{} ({})", one.path, fault.key) };
        Diagnostic::new(one.item.origin, key, fault.found, fault.expected)
    }
}

/// Reads the scenario with `sets`.
fn attempt(tree: &Table, parts: &Parts, sets: &[(String, String)]) -> Result<(), Diagnostic> {
    let mut tree = tree.clone();
    for (key, value) in sets {
        tree.set(key, value)?;
    }
    decoded(&tree, parts).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::super::document;
    use super::*;

    const SPECIMEN: &str = include_str!("../../tests/scenario/good.toml");

    /// Returns the combinations of the specimen with another sweep table, which starts at line 52.
    fn swept(sweep: &str) -> Result<Vec<String>, String> {
        let (scenario, _) = SPECIMEN.split_once("[sweep]").expect("the specimen is swept");
        let tree = document::parse(&format!("{scenario}[sweep]\n{sweep}\n")).expect("test text is TOML");
        let one = |set: &Vec<(String, String)>| {
            set.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
        };
        combinations(&tree, &[], Parts::none())
            .map(|all| all.iter().map(one).collect())
            .map_err(|f| f.in_file("f").to_string())
    }

    #[test]
    fn combinations_follow_file_order() {
        let all =
            swept("seed = \"1..2\"\n\"node.ap.forward\" = [true]\nduration = [\"6 s\", \"7 s\"]").unwrap();
        assert_eq!(
            all,
            [
                "seed=1 node.ap.forward=true duration=6 s",
                "seed=1 node.ap.forward=true duration=7 s",
                "seed=2 node.ap.forward=true duration=6 s",
                "seed=2 node.ap.forward=true duration=7 s",
            ]
        );
        // Unquoted dotted keys are equivalent.
        assert_eq!(swept("node.ap.forward = [true]").unwrap(), ["node.ap.forward=true"]);
        assert_eq!(swept("").unwrap(), [""]);
    }

    #[test]
    fn paired_keys_move_together() {
        let all = swept(
            "seed = \"1..2\"\npaired = [{ \"duration\" = [\"6 s\", \"7 s\"], flow.0.burst = \"3..4\" }]",
        );
        assert_eq!(
            all.unwrap(),
            [
                "seed=1 duration=6 s flow.0.burst=3",
                "seed=1 duration=7 s flow.0.burst=4",
                "seed=2 duration=6 s flow.0.burst=3",
                "seed=2 duration=7 s flow.0.burst=4",
            ]
        );
        assert_eq!(swept("[[sweep.paired]]\nseed = [1, 2]\nflow.0.burst = [1, 2]").unwrap().len(), 2);
        for (text, says) in [
            (
                "paired = [{ seed = [1, 2], flow.0.burst = \"3..5\" }]",
                "f:52: sweep.paired.0.flow.0.burst: found 3 values, expected 2, as of seed beside it",
            ),
            (
                "paired = { seed = [1, 2] }",
                "f:52: sweep.paired: found fewer than two keys, expected two or more, which move together",
            ),
            (
                "paired = [3]",
                "f:52: sweep.paired.0: found 3, expected a table of lists by key, or a list of such tables",
            ),
            (
                "seed = [1]\npaired = { seed = [1, 2], duration = [\"6 s\", \"7 s\"] }",
                "f:53: sweep.paired.seed: found a key that is swept already, expected each key once",
            ),
            (
                "paired = { seed = [1, 2], flow.0.burst = [1, 0] }",
                "f:52: sweep.paired.flow.0.burst.1: found 0, expected a whole number from 1 to 10000",
            ),
        ] {
            assert_eq!(swept(text).unwrap_err(), says);
        }
    }

    #[test]
    fn value_is_accepted_with_its_prerequisite() {
        let needs = "node.slow.interface.wlan0.rate = [\"ht40-mcs0-sgi\"]\n\
                     node.slow.interface.wlan0.retry_chain = [[\"mcs0\"]]\n";
        let said = swept(needs).unwrap_err();
        assert_eq!(
            said,
            "f:52: sweep.node.slow.interface.wlan0.rate.0: found \"ht40-mcs0-sgi\", expected a rate no wider than its \
             channel, 20 MHz"
        );
        // Accepted: some combination may allow the value. Combinations that do not are found when they run.
        let with = format!("{needs}channel.wifi.width = [\"20 MHz\", \"40 MHz\"]");
        assert_eq!(swept(&with).map(|all| all.len()), Ok(2));
    }

    #[test]
    fn override_of_a_swept_key_is_rejected() {
        let set = |key: &str, value: &str| {
            let mut tree = document::parse(SPECIMEN).expect("test text is TOML");
            tree.set(key, value).expect("a key");
            let sets = [(key.to_owned(), value.to_owned())];
            combinations(&tree, &sets, Parts::none())
                .map(|all| all.len())
                .map_err(|f| f.in_file("f").to_string())
        };
        let scheme = "node.ap.interface.wlan0.scheme";
        let says = |key: &str, value: &str| {
            format!(
                "--set: {key}: found {value:?} for a key that [sweep] in line 52 sets in each combination, expected a key that is \
                 not swept, a run of this one value (not a sweep), or another list in [sweep]"
            )
        };
        assert_eq!(set(scheme, "fifo"), Err(says(scheme, "fifo")));
        let quantum = format!("{scheme}.quantum");
        assert_eq!(set(&quantum, "1 ms"), Err(says(&quantum, "1 ms")));
        assert_eq!(set("duration", "6 s"), Ok(4));
    }

    #[test]
    fn mistakes() {
        for (text, says) in [
            ("seed = 3", "f:52: sweep.seed: found 3, expected a list of values or a range such as \"1..30\""),
            (
                "seed = []",
                "f:52: sweep.seed: found an empty list, expected a list of values or a range such as \"1..30\"",
            ),
            (
                "seed = \"0..100000\"",
                "f:52: sweep.seed: found \"0..100000\", expected at most 100000 values in a sweep",
            ),
            (
                "seed = \"1..1000\"\nflow.0.burst = \"1..1000\"",
                "f:53: sweep.flow.0.burst: found 1000 times 1000 runs, expected at most 100000 in a sweep",
            ),
            (
                "\"node.app.forward\" = [true]",
                "f:52: sweep.node.app.forward (node.app): found no such name, expected one of \"server\", \"ap\", \
                 \"fast1\", \"fast2\", \"slow\"; did you mean \"ap\"?",
            ),
            (
                "seed = [1]\nnode.ap.forward = [true,\n 1]",
                "f:54: sweep.node.ap.forward.1: found 1, expected true or false",
            ),
            (
                "flow.0.burst = \"0..4\"",
                "f:52: sweep.flow.0.burst: found 0, expected a whole number from 1 to 10000",
            ),
            (
                "flow.0.burst = \"9998..10001\"",
                "f:52: sweep.flow.0.burst: found 10001, expected a whole number from 1 to 10000",
            ),
            // The key that the value breaks elsewhere is in parentheses.
            (
                "flow.0.start = [\"1 s\"]\nduration = [\"4 s\"]",
                "f:53: sweep.duration.0 (warm_up): found \"5 s\", expected a time shorter than duration",
            ),
            (
                "node.ap.interface.wlan0.scheme = [{ kind = \"fifo\", qlen = 0 }]",
                "f:52: sweep.node.ap.interface.wlan0.scheme.0 (node.ap.interface.wlan0.scheme.qlen): found 0, \
                 expected a whole number from 1 to 100000",
            ),
            (
                "\"flow.0.burst\" = [1]\nflow.\"0.burst\" = [1]",
                "f:53: sweep.flow.0.burst: found a key that is swept already, expected each key once",
            ),
            (
                "\"flow.0.burst\" = [1]\n'flow.\"0\".burst' = [1]",
                "f:53: sweep.flow.\"0\".burst: found a key that is swept already, expected each key once",
            ),
            (
                "\"flow.0.burst\" = [1]\n\"flow.00.burst\" = [1]",
                "f:53: sweep.flow.00.burst (flow.00): found no such element, expected a number below 2",
            ),
            (
                "\"node.ap.interface.wlan0.scheme.kind\" = [\"airtime\"]\n\"node.ap.interface.wlan0.scheme\" = [\"fifo\"]",
                "f:53: sweep.node.ap.interface.wlan0.scheme: found a key of which a part is swept already, \
                 node.ap.interface.wlan0.scheme.kind, expected each key once",
            ),
            (
                "\"node.ap.interface.wlan0.scheme\" = [\"fifo\"]\n\"node.ap.interface.wlan0.scheme.kind\" = [\"airtime\"]",
                "f:53: sweep.node.ap.interface.wlan0.scheme.kind: found a key that is swept already as a part of \
                 node.ap.interface.wlan0.scheme, expected each key once",
            ),
        ] {
            assert_eq!(swept(text).unwrap_err(), says);
        }
    }
}
