//! Web browsing and pages: a built-in page by name, or a page described in full.

use std::iter::repeat_n;

use stillair_model::app::Page;
use stillair_model::types::Duration;
use stillair_scenario_derive::Section;

use super::super::super::FlowKind;
use super::super::super::description::ValueType;
use super::super::super::document::{self, Value};
use super::super::super::error::{Diagnostic, Diagnostics, Origin, suggest};
use super::super::super::parts::Parts;
use super::super::super::reader::{self, Field};
use super::super::super::units;
use super::super::domain::{Bytes, Inner, Int, bytes_text, quantity};
use super::super::{Domain, Key, Titled as _, item};
use super::{Context, Traffic};

/// Built-in pages and their files.
const FILES: [(&str, &str); 13] = [
    ("small", include_str!("../../../../pages/small.toml")),
    ("large", include_str!("../../../../pages/large.toml")),
    ("google", include_str!("../../../../pages/google.toml")),
    ("live", include_str!("../../../../pages/live.toml")),
    ("twitter", include_str!("../../../../pages/twitter.toml")),
    ("wikipedia", include_str!("../../../../pages/wikipedia.toml")),
    ("reddit", include_str!("../../../../pages/reddit.toml")),
    ("yahoo", include_str!("../../../../pages/yahoo.toml")),
    ("ebay", include_str!("../../../../pages/ebay.toml")),
    ("instagram", include_str!("../../../../pages/instagram.toml")),
    ("youtube", include_str!("../../../../pages/youtube.toml")),
    ("facebook", include_str!("../../../../pages/facebook.toml")),
    ("amazon", include_str!("../../../../pages/amazon.toml")),
];

/// Size of a request by a libcurl client: one line each for address, host and accepted types.
const REQUEST: u32 = 80;
/// Size of a response header from Apache: date, server, age and tag of the file, ranges, length, type.
const HEADER: u32 = 270;
/// Maximum number of objects per page.
const MOST: usize = 10_000;
/// A browser at `from` that loads a page from `to` over and over: it looks the name up, fetches a list, then
/// what is in it over four connections.
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Flow of kind web",
    kind = "web",
    common = super::Common,
    params = (Duration,),
    base = (Duration::from_millis(200),)
)]
pub struct Web {
    /// the page
    #[key(need = "the name of a page, or a table with list and objects")]
    pub page: Key<PageOrName>,
    /// least time from the beginning of a load to that of the next, which begins at once where one takes
    /// longer
    #[key(to = 0)]
    pub interval: Key<LoadInterval>,
}

quantity! {
    /// Interval between the starts of two loads.
    LoadInterval: Duration = ValueType::Times { least: "1 ms", most: None, why: "each load has sockets of its own" },
        "_ns", units::duration_text;
}

type Size = Bytes<1, { 1 << 30 }>;

/// What a client of the web loads: a list, then the objects in it. A file of `crates/sim/pages` is such a
/// table.
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Page",
    expected = "a table with list and objects",
    params = Page,
    base = Page { request: REQUEST, header: HEADER, list: 0, objects: Vec::new() }
)]
pub struct PageTable {
    /// a request
    #[key(to = request)]
    pub request: Key<Size>,
    /// the head of an answer, before a list or an object
    #[key(to = header)]
    pub header: Key<Size>,
    /// the list of the objects
    #[key(to = list, need = "a size such as \"18 kB\"")]
    pub list: Key<Size>,
    /// the objects in the order of the list: a size, or several of one size
    #[key(to = objects, need = "a list of sizes")]
    pub objects: Key<Objects>,
}

/// Objects of equal size, one after the other.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Objects of a page", expected = "a table with count and size")]
pub struct Equal {
    /// how many
    #[key(need = "a number")]
    pub count: Key<Int<1, { MOST as i64 }>>,
    /// the size of each
    #[key(need = "a size such as \"18 kB\"")]
    pub size: Key<Size>,
}

/// Sizes of a page's objects.
pub struct Objects;

impl Domain for Objects {
    type Value = Vec<u32>;
    const TYPE: ValueType = ValueType::List(&ValueType::Either(&[Size::TYPE, Inner::<Equal>::TYPE]));
    const UNIT: &'static str = Size::UNIT;

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Vec<u32>, Diagnostic> {
        let mut objects = Vec::new();
        for entry in field.list() {
            if let Value::Table(_) = entry.item.value {
                let own = Inner::<Equal>::read(&entry, faults)?;
                if let (Some(count), Some(size)) = (own.count.get(), own.size.get()) {
                    objects.extend(repeat_n(*size, *count as usize));
                }
            } else {
                objects.push(Size::read(&Field { form: &Size::TYPE, ..entry.clone() }, faults)?);
            }
            if objects.len() > MOST {
                return Err(entry.found(format!("{} objects", objects.len()), format!("{MOST} at most")));
            }
        }
        if !field.is_list() || field.list().is_empty() {
            return Err(field.wrong("a list of at least one size"));
        }
        Ok(objects)
    }

    fn written(value: &Vec<u32>) -> Value {
        Value::Array(value.iter().map(|size| item(Value::String(bytes_text(size)))).collect())
    }
}

/// A page, or the name of a built-in one.
pub struct PageOrName;

impl Domain for PageOrName {
    type Value = Page;
    const TYPE: ValueType = ValueType::Either(&[
        ValueType::Listed {
            title: "page",
            words: "a page that is shipped: `small`, `large`, or one of 2018 such as `google`",
            names,
        },
        Inner::<PageTable>::TYPE,
    ]);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Page, Diagnostic> {
        match &field.item.value {
            Value::Table(_) => Inner::<PageTable>::read(field, faults).map(|own| own.applied()),
            Value::String(name) => match FILES.iter().find(|(known, _)| known == name) {
                Some((_, text)) => shipped(text),
                None => Err(field.wrong(suggest(name, &FILES.map(|(known, _)| known)))),
            },
            _ => Err(field.wrong("the name of a page, or a table with list and objects")),
        }
    }

    fn written(page: &Page) -> Value {
        let own = PageTable::default().request(page.request).header(page.header).list(page.list);
        Inner::<PageTable>::written(&own.objects(page.objects.clone()))
    }
}

impl Traffic for Web {
    fn traffic(&self, _: &Context<'_>, _: &mut Diagnostics) -> Option<FlowKind> {
        Some(FlowKind::Web { page: self.page.get()?.clone(), interval: self.applied().0 })
    }
}

fn names() -> Vec<String> {
    FILES.iter().map(|(name, _)| (*name).to_owned()).collect()
}

fn shipped(text: &str) -> Result<Page, Diagnostic> {
    let tree = document::parse(text)?;
    let mut section = reader::Section::new("", Origin::Line(1), &tree, PageTable::SCHEMA, Parts::none());
    super::super::read::<PageTable>(&mut section).map(|own| own.applied())
}

#[cfg(test)]
mod tests {
    use super::*;

    // paper: bquic table II - number of objects, and total kB including headers.
    #[test]
    fn pages_match_bquic_table() {
        for (name, objects, kb) in [
            ("google", 12, 56),
            ("live", 8, 262),
            ("twitter", 16, 421),
            ("wikipedia", 25, 441),
            ("reddit", 39, 470),
            ("yahoo", 86, 839),
            ("ebay", 28, 985),
            ("instagram", 37, 1409),
            ("youtube", 149, 2911),
            ("facebook", 134, 3560),
            ("amazon", 64, 3723),
        ] {
            let (_, text) = FILES.iter().find(|(known, _)| *known == name).expect("a page that is shipped");
            let page = shipped(text).unwrap_or_else(|fault| panic!("{}", fault.in_file(name)));
            let count = page.objects.len() as u32 + 1;
            let sum = page.list + page.objects.iter().sum::<u32>() + count * page.header;
            assert_eq!((count, sum), (objects, kb * 1000), "{name}");
        }
    }

    // paper: ending-the-anomaly sec. 4.2.2 - 56 KB in three requests, 3 MB in 110.
    #[test]
    fn pages_match_paper() {
        for (name, requests, bytes) in [("small", 3, 56_000), ("large", 110, 3_000_000)] {
            let (_, text) = FILES.iter().find(|(known, _)| *known == name).expect("a page that is shipped");
            let page = shipped(text).unwrap_or_else(|fault| panic!("{}", fault.in_file(name)));
            let sum: u32 = page.objects.iter().sum();
            assert_eq!((page.objects.len(), sum / 100 * 100), (requests, bytes), "{name}");
            assert_eq!((page.request, page.header, page.list), (80, 270, 30 * requests as u32));
        }
    }
}
