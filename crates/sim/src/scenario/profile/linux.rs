//! Linux releases as data: one table of defaults, and the changes of each release.

use std::sync::LazyLock;

use super::super::document::{self, Item, Table, Value};

/// Releases with a profile of their own: long-term and other common ones.
pub(super) const RELEASES: [&str; 12] = [
    "linux-3.13",
    "linux-3.19",
    "linux-4.4",
    "linux-4.6",
    "linux-4.14",
    "linux-4.19",
    "linux-5.10",
    "linux-5.15",
    "linux-6.1",
    "linux-6.6",
    "linux-6.12",
    "linux-6.18",
];

/// Key in a release's table for changes backported to that release.
const STABLE: &str = "stable";

/// Changes in release order.
static CHANGES: LazyLock<Vec<((u16, u16), Table)>> =
    LazyLock::new(|| changes(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/linux.toml"))));

/// Returns the major and minor version in a profile's name; `None` for systems other than Linux.
pub(super) fn version(name: &str) -> Option<(u16, u16)> {
    numbers(name.strip_prefix("linux-")?)
}

fn numbers(text: &str) -> Option<(u16, u16)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Parses the releases in `text`, the project's own data file.
fn changes(text: &str) -> Vec<((u16, u16), Table)> {
    let Table(releases) = document::parse(text).expect("the project's own profiles are tested");
    let mut changes: Vec<_> = releases
        .into_iter()
        .map(|(name, item)| match (numbers(&name), item.value) {
            (Some(version), Value::Table(changed)) => (version, changed),
            _ => unreachable!("profiles/linux.toml: {name} is not a table of a release"),
        })
        .collect();
    changes.sort_by_key(|(version, _)| *version);
    changes
}

/// Returns the defaults of the release `own`: all changes up to it, and those backported to it.
pub(super) fn defaults(own: (u16, u16)) -> Table {
    let mut sum = Table::default();
    for (version, changed) in CHANGES.iter().take_while(|(version, _)| *version <= own) {
        overlay(&mut sum, &changed.without(STABLE));
        if let (true, Some(Item { value: Value::Table(stable), .. })) = (*version == own, changed.get(STABLE))
        {
            overlay(&mut sum, stable);
        }
    }
    sum
}

/// Copies the values of `changed` into `base`, table by table.
pub(super) fn overlay(base: &mut Table, changed: &Table) {
    for (key, item) in &changed.0 {
        match (base.0.iter_mut().find(|(known, _)| known == key), &item.value) {
            (Some((_, Item { value: Value::Table(inner), .. })), Value::Table(changed)) => {
                overlay(inner, changed);
            }
            (Some((_, known)), _) => *known = item.clone(),
            (None, _) => base.0.push((key.clone(), item.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects the rows of `changed` that do not change `base`.
    fn without_effect(base: &Table, changed: &Table, path: &str, found: &mut Vec<String>) {
        for (key, item) in &changed.0 {
            let path = document::join(path, key);
            match (base.get(key).map(|known| &known.value), &item.value) {
                (Some(Value::Table(base)), Value::Table(changed)) => {
                    without_effect(base, changed, &path, found);
                }
                (Some(known), value) if known == value => found.push(path),
                _ => {}
            }
        }
    }

    #[test]
    fn every_row_changes_a_default() {
        let mut sum = Table::default();
        let mut found = Vec::new();
        for ((major, minor), changed) in CHANGES.iter() {
            let own = changed.without(STABLE);
            without_effect(&sum, &own, &format!("{major}.{minor}"), &mut found);
            overlay(&mut sum, &own);
            if let Some(Item { value: Value::Table(stable), .. }) = changed.get(STABLE) {
                without_effect(&sum, stable, &format!("{major}.{minor}.stable"), &mut found);
            }
        }
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn changes_add_up_and_backports_stay_in_their_release() {
        let value = |version, key: &str| {
            let sum = defaults(version);
            let Some(Item { value: Value::Table(tcp), .. }) = sum.get("tcp") else { panic!("a table") };
            tcp.get(key).map(|item| item.value.describe())
        };
        // A release without its own table has the defaults of its predecessor.
        assert_eq!(defaults((4, 6)), defaults((4, 5)));
        assert_eq!(value((6, 1), "hystart").as_deref(), Some("\"6.14\""));
        assert_eq!(value((6, 6), "hystart").as_deref(), Some("\"5.16\""));
        assert_eq!(value((6, 2), "small_head"), None);
        assert_eq!(value((6, 3), "small_head").as_deref(), Some("640"));
        // linux: net/ipv4/tcp_output.c tcp_schedule_loss_probe (4.13, 4.14).
        assert_eq!(value((4, 13), "tlp").as_deref(), Some("\"3.10\""));
        assert_eq!(value((4, 14), "tlp").as_deref(), Some("\"4.14\""));
    }

    #[test]
    fn releases_are_sorted() {
        let versions = RELEASES.map(|name| version(name).expect("a release of Linux"));
        assert!(versions.is_sorted());
    }
}
