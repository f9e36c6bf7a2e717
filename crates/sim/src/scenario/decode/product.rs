//! Profiles of commercial access lines: rates, per-packet overhead, and buffers where a source gives them.

use std::sync::LazyLock;

use serde_json::{Value, json};
use stillair_model::qdisc::cake::Framing;
use stillair_model::types::{Duration, Rate};

use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::{self, Table};
use super::super::error::{Diagnostic, Origin, suggest};
use super::super::parts::Parts;
use super::super::reader::{Field, Section};
use super::super::spec::overhead;

macro_rules! files {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("../../../access/", $name, ".toml")))),*] };
}

// No line of LTE or 5G: there is no product with a rate, and what was measured differs by place and second.
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

/// Key of an access line.
pub(super) const KEY: Key = Key::open(
    "line",
    ValueType::Listed { title: "line", words: "an access line on the market, such as `cable-500-50`", names },
    "none",
    "sets `rate` and `overhead`, and `buffer` if a source states it: a modem of `cable-500-50` holds 250 ms; keys beside it override it. The sources, and what a line must not be used for, are in `crates/sim/access`",
);

static FILE: TableSchema = TableSchema {
    title: "Line",
    about: "An access line that is sold.",
    groups: &[&[
        Key::need("down", ValueType::Rate, "rate to the customer"),
        Key::need("up", ValueType::Rate, "rate from the customer"),
        Key::need("overhead", ValueType::Text, "tc's keyword"),
        Key::open("down_buffer", ValueType::Period, "unknown", "what the provider's side holds"),
        Key::open("up_buffer", ValueType::Period, "unknown", "what the modem holds"),
    ]],
};

/// A line that is sold.
pub(super) struct Product {
    name: &'static str,
    /// Down and up.
    pub(super) rates: [Rate; 2],
    /// The same of the buffers, where a source tells.
    pub(super) buffers: [Option<Duration>; 2],
    pub(super) framing: Framing,
}

static PRODUCTS: LazyLock<Vec<Product>> = LazyLock::new(|| {
    let all = FILES.iter().map(|(name, text)| load(name, text)).collect::<Result<Vec<_>, Diagnostic>>();
    all.unwrap_or_else(|fault| {
        unreachable!("the project's own lines are tested: {}", fault.in_file("access"))
    })
});

/// All lines by name, as JSON: rates in bit/s and buffers in ms, down and up; a buffer that no source tells
/// is null.
pub(in super::super) fn listed() -> String {
    let one = |product: &Product| {
        let buffers = product.buffers.map(|time| time.map(|time| time.nanos() as f64 / 1e6));
        let about = json!({ "rates_bps": product.rates.map(Rate::bps), "buffers_ms": buffers });
        (product.name.to_owned(), about)
    };
    Value::Object(PRODUCTS.iter().map(one).collect()).to_string()
}

fn names() -> Vec<String> {
    FILES.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// The line that a field names.
pub(super) fn read(field: &Field<'_>) -> Result<&'static Product, Diagnostic> {
    let known = FILES.map(|(name, _)| name);
    let name = field.text(&suggest("", &known))?;
    PRODUCTS.iter().find(|product| product.name == name).ok_or_else(|| field.wrong(suggest(name, &known)))
}

fn load(name: &'static str, text: &str) -> Result<Product, Diagnostic> {
    let tree: Table = document::parse(text)?;
    let mut root = Section::new("", Origin::Line(1), &tree, &FILE, Parts::none());
    let rates = [root.need("down", "a rate")?.value()?, root.need("up", "a rate")?.value()?];
    let keyword = root.need("overhead", "a keyword")?;
    let framing = overhead::framing(keyword.text("a keyword")?).ok_or_else(|| keyword.wrong("a keyword"))?;
    let buffers = [root.find("down_buffer")?, root.find("up_buffer")?];
    root.finish()?;
    Ok(Product { name, rates, buffers, framing })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_called_after_its_rates() {
        for product in PRODUCTS.iter() {
            let [down, up] = product.rates.map(|rate| rate.bps() / 1_000_000);
            assert!(product.name.ends_with(&format!("-{down}-{up}")), "{}", product.name);
        }
    }
}
