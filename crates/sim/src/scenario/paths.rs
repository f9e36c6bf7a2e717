//! Network paths for testing a transport protocol: scenarios with the external hosts `client` and `server`.
//! Each states the sources of its numbers and the purposes it is unsuitable for.

use super::error::suggest;

/// A shipped path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preset {
    /// Name of the preset.
    pub name: &'static str,
    /// The scenario as TOML text.
    pub text: &'static str,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(Preset { name: $name, text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/paths/", $name, ".toml")) }),*]
    };
}

static PRESETS: [Preset; 17] = files![
    "bad-neighbour",
    "cable-500-50",
    "cafe-busy-11n",
    "fibre-1000-220",
    "home-80211ac-far",
    "home-80211ac-near",
    "home-ax-6ghz",
    "home-cable-bloat",
    "home-cable-cake",
    "home-walk-away",
    "hotel-hidden",
    "mesh-two-hops",
    "microwave-oven",
    "office-calls",
    "openwrt-aql",
    "phone-power-save",
    "vdsl-40-10",
];

/// Returns all presets, sorted by name.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// Returns the preset with this name, or an error message.
pub fn preset(name: &str) -> Result<&'static Preset, String> {
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let found = PRESETS.iter().find(|preset| preset.name == name);
    found.ok_or_else(|| format!("found no path {name:?}, expected {}", suggest(name, &names)))
}

impl Preset {
    /// Returns the description of the preset in one sentence.
    pub fn about(&self) -> String {
        self.said("")
    }

    /// Returns the sources of the numbers.
    pub fn sources(&self) -> String {
        self.said("Sources: ")
    }

    /// Returns the purposes that the preset must not be used for.
    pub fn not_for(&self) -> String {
        self.said("Not for: ")
    }

    /// Returns the header paragraph that starts with `label`, without line breaks.
    fn said(&self, label: &str) -> String {
        let head = self.text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
        let paragraphs: Vec<&str> = head.collect();
        let found = paragraphs.split(|line| line.is_empty()).map(|lines| lines.join(" "));
        found.into_iter().find_map(|text| text.strip_prefix(label).map(str::to_owned)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{self, Host};

    #[test]
    fn each_preset_states_purpose_sources_and_exclusions() {
        assert!(PRESETS.is_sorted_by(|a, b| a.name < b.name));
        for preset in &PRESETS {
            for text in [preset.about(), preset.sources(), preset.not_for()] {
                assert!(text.len() > 30 && text.ends_with('.'), "{}: {text:?}", preset.name);
            }
        }
    }

    #[test]
    fn all_presets_have_the_same_hosts() {
        for Preset { name, text } in &PRESETS {
            let scenario = scenario::parse(text, name, &[]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((&*scenario.name, scenario.is_open_ended()), (*name, true));
            let of = |host: Host| {
                let nodes = scenario.nodes.iter().filter(move |node| node.host == host);
                nodes.map(|node| node.name.as_str()).collect::<Vec<_>>()
            };
            assert_eq!(of(Host::External), ["server", "client"], "{name}");
            for rival in ["rival", "rival-server"] {
                assert!(of(Host::Model).contains(&rival), "{name} has no {rival}");
            }
        }
    }

    #[test]
    fn wrong_name_suggests_the_intended_one() {
        let says = preset("home-80211ac-fat").expect_err("no such preset");
        assert_eq!(
            says,
            "found no path \"home-80211ac-fat\", expected a known name; did you mean \"home-80211ac-far\"?"
        );
    }
}
