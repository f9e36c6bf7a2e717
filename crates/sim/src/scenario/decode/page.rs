//! Web pages: a built-in page by name, or a page that the scenario describes in full.

use stillair_model::app::Page;

use super::super::contract::{Form, Key, Shape};
use super::super::document::{self, Table, Value};
use super::super::error::{Fault, Origin, suggest};
use super::super::parts::Parts;
use super::super::reader::{Field, Section};

/// Pages that are shipped, as the files that they stand in.
const FILES: [(&str, &str); 13] = [
    ("small", include_str!("../../../pages/small.toml")),
    ("large", include_str!("../../../pages/large.toml")),
    ("google", include_str!("../../../pages/google.toml")),
    ("live", include_str!("../../../pages/live.toml")),
    ("twitter", include_str!("../../../pages/twitter.toml")),
    ("wikipedia", include_str!("../../../pages/wikipedia.toml")),
    ("reddit", include_str!("../../../pages/reddit.toml")),
    ("yahoo", include_str!("../../../pages/yahoo.toml")),
    ("ebay", include_str!("../../../pages/ebay.toml")),
    ("instagram", include_str!("../../../pages/instagram.toml")),
    ("youtube", include_str!("../../../pages/youtube.toml")),
    ("facebook", include_str!("../../../pages/facebook.toml")),
    ("amazon", include_str!("../../../pages/amazon.toml")),
];

/// Bytes that a client of curl's library asks with: a line with the address, one with the host, one with what it takes.
const REQUEST: u32 = 80;
/// Bytes of the head of an answer as Apache writes it: date, server, age and tag of the file, ranges, length, kind.
const HEADER: u32 = 270;
/// Most objects of a page.
const MOST: usize = 10_000;
const BYTES: Form = Form::Bytes(1, 1 << 30);

const SIZE: &Form = &BYTES;

/// What `page` may be.
pub(super) const FORM: Form = Form::Either(&[
    Form::Listed {
        title: "page",
        words: "a page that is shipped: `small`, `large`, or one of 2018 such as `google`",
        names,
    },
    Form::Table(&PAGE),
]);

static PAGE: Shape = Shape {
    title: "Page",
    about: "What a client of the web loads: a list, then the objects in it. A file of `crates/sim/pages` is such a table.",
    groups: &[&[
        Key::or("request", BYTES, "80 B", "a request"),
        Key::or("header", BYTES, "270 B", "the head of an answer, before a list or an object"),
        Key::need("list", BYTES, "the list of the objects"),
        Key::need(
            "objects",
            Form::List(&Form::Either(&[BYTES, Form::Table(&OBJECTS)])),
            "the objects in the order of the list: a size, or several of one size",
        ),
    ]],
};

static OBJECTS: Shape = Shape {
    title: "Objects of a page",
    about: "Objects of equal size, one after the other.",
    groups: &[&[
        Key::need("count", Form::Integer(1, MOST as i64), "how many"),
        Key::need("size", BYTES, "the size of each"),
    ]],
};

fn names() -> Vec<String> {
    FILES.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Reads a page.
pub(super) fn read(field: &Field<'_>) -> Result<Page, Fault> {
    match &field.item.value {
        Value::Table(_) => table(field.section("a table with list and objects")?),
        Value::String(name) => match FILES.iter().find(|(known, _)| known == name) {
            Some((_, text)) => shipped(text),
            None => Err(field.wrong(suggest(name, &FILES.map(|(known, _)| known)))),
        },
        _ => Err(field.wrong("the name of a page, or a table with list and objects")),
    }
}

fn shipped(text: &str) -> Result<Page, Fault> {
    let tree: Table = document::parse(text)?;
    table(Section::new("", Origin::Line(1), &tree, &PAGE, Parts::none()))
}

fn table(mut section: Section<'_>) -> Result<Page, Fault> {
    let size = "a size such as \"18 kB\"";
    let mut objects = Vec::new();
    let (request, header) = (section.or("request", REQUEST)?, section.or("header", HEADER)?);
    let list = section.need("list", size)?.value()?;
    let field = section.need("objects", "a list of sizes")?;
    for entry in field.list() {
        if let Value::Table(_) = entry.item.value {
            let mut one = entry.section("a table with count and size")?;
            let (count, size): (u32, u32) =
                (one.need("count", "a number")?.value()?, one.need("size", size)?.value()?);
            one.finish()?;
            objects.extend(std::iter::repeat_n(size, count as usize));
        } else {
            objects.push(Field { form: SIZE, ..entry.clone() }.value()?);
        }
        if objects.len() > MOST {
            return Err(entry.found(format!("{} objects", objects.len()), format!("{MOST} at most")));
        }
    }
    if !field.is_list() || objects.is_empty() {
        return Err(field.wrong("a list of at least one size"));
    }
    section.finish()?;
    Ok(Page { request, header, list, objects })
}

#[cfg(test)]
mod tests {
    use super::*;

    // paper: bquic table II - objects, and kB of all with their heads.
    #[test]
    fn the_sites_of_the_other_paper() {
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
    fn the_pages_of_the_paper() {
        for (name, requests, bytes) in [("small", 3, 56_000), ("large", 110, 3_000_000)] {
            let (_, text) = FILES.iter().find(|(known, _)| *known == name).expect("a page that is shipped");
            let page = shipped(text).unwrap_or_else(|fault| panic!("{}", fault.in_file(name)));
            let sum: u32 = page.objects.iter().sum();
            assert_eq!((page.objects.len(), sum / 100 * 100), (requests, bytes), "{name}");
            assert_eq!((page.request, page.header, page.list), (80, 270, 30 * requests as u32));
        }
    }
}
