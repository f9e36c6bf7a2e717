//! Profiles of commercial access lines: rates, per-packet overhead, and buffers if a source documents them.

use std::sync::LazyLock;

use serde_json::json;
use stillair_model::qdisc::cake::Framing;
use stillair_model::types::{Duration, Rate};

use stillair_scenario_derive::Section;

use super::super::description::ValueType;
use super::super::document::{self, Table, Value};
use super::super::error::{Diagnostic, Diagnostics, Origin, suggest};
use super::super::parts::Parts;
use super::super::reader::{Field, Section};
use super::domain::{BitRate, Period};
use super::{Domain, Key, Titled as _, alternative, overhead};

macro_rules! files {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("../../../access/", $name, ".toml")))),*] };
}

// LTE and 5G are missing: no product states a rate, and measurements vary by location and second.
const FILES: [(&str, &str); 8] = files![
    "cable-500-50",
    "adsl-16-1",
    "vdsl-25-5",
    "vdsl-40-10",
    "vdsl-80-20",
    "fibre-330-50",
    "fibre-1000-220",
    "starlink-104-14"
];

/// A file about a line.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Line")]
struct File {
    /// rate to the customer
    #[key(need = "a rate")]
    down: Key<BitRate>,
    /// rate from the customer
    #[key(need = "a rate")]
    up: Key<BitRate>,
    /// Overhead of a packet on the line.
    #[key(group, or = "Ethernet's header alone")]
    framing: overhead::Link,
    /// what the provider's side holds
    #[key(or = "unknown")]
    down_buffer: Key<Period>,
    /// what the modem holds
    #[key(or = "unknown")]
    up_buffer: Key<Period>,
}

/// A commercial access line.
#[derive(Debug)]
pub struct Product {
    name: &'static str,
    /// Downlink and uplink rates.
    pub(in super::super) rates: [Rate; 2],
    /// Downlink and uplink buffers; `None` if undocumented.
    pub(in super::super) buffers: [Option<Duration>; 2],
    pub(in super::super) framing: Framing,
}

static PRODUCTS: LazyLock<Vec<Product>> = LazyLock::new(|| {
    let all = FILES.iter().map(|(name, text)| load(name, text)).collect::<Result<Vec<_>, Diagnostic>>();
    all.unwrap_or_else(|fault| {
        unreachable!("the project's own lines are tested: {}", fault.in_file("access"))
    })
});

/// Returns all lines by name, as JSON: rates in bit/s and buffers in ms, for downlink and uplink.
/// Undocumented buffers are null.
pub(in super::super) fn listed() -> String {
    let one = |product: &Product| {
        let buffers = product.buffers.map(|time| time.map(|time| time.nanos() as f64 / 1e6));
        let about = json!({ "rates_bps": product.rates.map(Rate::bps), "buffers_ms": buffers });
        (product.name.to_owned(), about)
    };
    serde_json::Value::Object(PRODUCTS.iter().map(one).collect()).to_string()
}

fn names() -> Vec<String> {
    FILES.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// A commercial access line, by name.
pub struct Line;

impl Domain for Line {
    type Value = &'static Product;
    const TYPE: ValueType = ValueType::Listed {
        title: "line",
        words: "an access line on the market, such as `cable-500-50`",
        names,
    };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Self::Value, Diagnostic> {
        let known = FILES.map(|(name, _)| name);
        let name = field.text(&suggest("", &known))?;
        PRODUCTS.iter().find(|product| product.name == name).ok_or_else(|| field.wrong(suggest(name, &known)))
    }

    fn written(value: &Self::Value) -> Value {
        Value::String(value.name.to_owned())
    }
}

fn load(name: &'static str, text: &str) -> Result<Product, Diagnostic> {
    let tree: Table = document::parse(text)?;
    let root = Section::new("", Origin::Line(1), &tree, File::SCHEMA, Parts::none());
    let mut faults = Diagnostics::default();
    let own: File = alternative(root, &mut faults);
    let rates = [&own.down, &own.up].map(|rate| rate.or(Rate::from_bps(0)));
    let buffers = [&own.down_buffer, &own.up_buffer].map(|time| time.get().copied());
    faults.or(Product { name, rates, buffers, framing: own.framing.framing(Framing::RAW) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_names_end_with_their_rates() {
        for product in PRODUCTS.iter() {
            let [down, up] = product.rates.map(|rate| rate.bps() / 1_000_000);
            assert!(product.name.ends_with(&format!("-{down}-{up}")), "{}", product.name);
        }
    }
}
