//! The `[sweep]` table: lists of values by dotted key, to the overrides of every combination.

use super::contract::Form;
use super::document::{Table, Value};
use super::error::Fault;
use super::reader::{Field, flatten};
use super::units;

/// More runs than this are a slip of the pen, not an experiment.
const MAX_COMBINATIONS: usize = 100_000;

/// One key and the texts it takes in turn.
struct Axis<'a> {
    key: String,
    field: Field<'a>,
    values: Vec<String>,
}

/// The combinations, the last key changing fastest.
pub(super) fn combinations(tree: &Table) -> Result<Vec<Vec<(String, String)>>, Fault> {
    let mut out = vec![Vec::new()];
    for axis in axes(tree)? {
        if out.len() * axis.values.len() > MAX_COMBINATIONS {
            let found = format!("{} times {} runs", out.len(), axis.values.len());
            return Err(axis.field.found(found, format!("at most {MAX_COMBINATIONS} in a sweep")));
        }
        out = out
            .iter()
            .flat_map(|so_far: &Vec<_>| {
                axis.values.iter().map(|value| {
                    let mut next = so_far.clone();
                    next.push((axis.key.clone(), value.clone()));
                    next
                })
            })
            .collect();
    }
    Ok(out)
}

/// Reads the table without making the combinations, and tries each key once on the scenario.
fn axes(tree: &Table) -> Result<Vec<Axis<'_>>, Fault> {
    let Some(item) = tree.get("sweep") else { return Ok(Vec::new()) };
    let sweep = Field { path: "sweep".to_owned(), item, form: &Form::Sweep };
    let mut fields = Vec::new();
    flatten("sweep", "", sweep.table("a table of lists by key")?, &mut fields);
    fields.into_iter().map(|(key, field)| axis(tree, key, field)).collect()
}

/// Checks the table; part of reading a scenario even where it is not swept.
pub(super) fn check(tree: &Table) -> Result<(), Fault> {
    axes(tree).map(|_| ())
}

fn axis<'a>(tree: &Table, key: String, field: Field<'a>) -> Result<Axis<'a>, Fault> {
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
        // The mistake is in the file here, at the swept key.
        Fault::new(field.item.origin, format!("{} ({})", field.path, fault.key), fault.found, fault.expected)
    })?;
    Ok(Axis { key, field, values })
}

#[cfg(test)]
mod tests {
    use super::super::document;
    use super::*;

    fn swept(sweep: &str) -> Result<Vec<String>, String> {
        let text = format!("seed = 1\n[node.ap]\nforward = true\n[sweep]\n{sweep}\n");
        let tree = document::parse(&text).expect("test text is TOML");
        let one = |set: &Vec<(String, String)>| {
            set.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
        };
        combinations(&tree).map(|all| all.iter().map(one).collect()).map_err(|f| f.in_file("f").to_string())
    }

    #[test]
    fn product_in_the_order_of_the_file() {
        let all =
            swept("seed = \"1..2\"\n\"node.ap.forward\" = [true, false]\nduration = [\"5 s\"]").unwrap();
        assert_eq!(
            all,
            [
                "seed=1 node.ap.forward=true duration=5 s",
                "seed=1 node.ap.forward=false duration=5 s",
                "seed=2 node.ap.forward=true duration=5 s",
                "seed=2 node.ap.forward=false duration=5 s",
            ]
        );
        // Unquoted dotted keys are the same table of keys.
        assert_eq!(swept("node.ap.forward = [true]").unwrap(), ["node.ap.forward=true"]);
        assert_eq!(swept("").unwrap(), [""]);
    }

    #[test]
    fn mistakes() {
        for (text, says) in [
            ("seed = 3", "f:5: sweep.seed: found 3, expected a list of values or a range such as \"1..30\""),
            (
                "seed = []",
                "f:5: sweep.seed: found an empty list, expected a list of values or a range such as \"1..30\"",
            ),
            (
                "seed = \"0..100000\"",
                "f:5: sweep.seed: found \"0..100000\", expected at most 100000 values in a sweep",
            ),
            (
                "seed = \"1..1000\"\nduration = \"1..1000\"",
                "f:6: sweep.duration: found 1000 times 1000 runs, expected at most 100000 in a sweep",
            ),
            (
                "\"node.app.forward\" = [true]",
                "f:5: sweep.node.app.forward (node.app): found no such name, expected \"ap\"",
            ),
        ] {
            assert_eq!(swept(text).unwrap_err(), says);
        }
    }
}
