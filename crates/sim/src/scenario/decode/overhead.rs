//! Link-layer overhead of a packet, under tc's names and keywords.

use stillair_model::qdisc::cake::{Cells, Framing};

use super::super::contract::{Form, Key};
use super::super::document::Value;
use super::super::error::{Fault, suggest};
use super::super::reader::Section;

/// Bytes beside an IP packet, the least that a packet costs, and its cells, by keyword.
// linux: iproute2 man/man8/tc-cake.8, tc/q_cake.c cake_parse_opt (6.1).
const KEYWORDS: [(&str, (i16, u32, Cells)); 13] = [
    ("conservative", (48, 0, Cells::Atm)),
    ("ethernet", (38, 84, Cells::None)),
    ("docsis", (18, 64, Cells::None)),
    ("pppoe-ptm", (30, 0, Cells::Ptm)),
    ("bridged-ptm", (22, 0, Cells::Ptm)),
    ("pppoa-vcmux", (10, 0, Cells::Atm)),
    ("pppoa-llc", (14, 0, Cells::Atm)),
    ("pppoe-vcmux", (32, 0, Cells::Atm)),
    ("pppoe-llcsnap", (40, 0, Cells::Atm)),
    ("bridged-vcmux", (24, 0, Cells::Atm)),
    ("bridged-llcsnap", (32, 0, Cells::Atm)),
    ("ipoa-vcmux", (8, 0, Cells::Atm)),
    ("ipoa-llcsnap", (16, 0, Cells::Atm)),
];

const CELLS: [(&str, Cells); 3] =
    [(Cells::None.name(), Cells::None), (Cells::Atm.name(), Cells::Atm), (Cells::Ptm.name(), Cells::Ptm)];

/// The keywords, as a form has them.
const NAMES: [&str; 13] = {
    let mut out = [""; KEYWORDS.len()];
    let mut n = 0;
    while n < KEYWORDS.len() {
        out[n] = KEYWORDS[n].0;
        n += 1;
    }
    out
};

/// A number of bytes, or a keyword.
const OVERHEAD: Form = Form::Either(&[Form::Integer(-64, 256), Form::Choice(&NAMES), Form::Choice(&[RAW])]);

/// The keyword for what cake does without a word: the length with the Ethernet header, and nothing else.
const RAW: &str = "raw";

/// The keys, with what holds without `overhead`.
pub(super) const fn keys(otherwise: &'static str) -> [Key; 3] {
    [
        Key::open(
            "overhead",
            OVERHEAD,
            otherwise,
            "bytes added to an IP packet on the link, or `tc`'s keyword for the kind of link, which sets `mpu` and `atm` too; a VLAN's tag \
             (`ether-vlan`) is 4 more, such as 34 with `atm = \"ptm\"` in place of `pppoe-ptm`",
        ),
        Key::open(
            "mpu",
            Form::Integer(0, 256),
            "that of the keyword: 0",
            "bytes that a packet costs at least",
        ),
        Key::open(
            "atm",
            Form::Choice(&[CELLS[0].0, CELLS[1].0, CELLS[2].0]),
            "that of the keyword: `noatm`",
            "the pieces that packets are cut into on the link",
        ),
    ]
}

/// What a keyword stands for.
pub(super) fn framing(keyword: &str) -> Option<Framing> {
    if keyword == RAW {
        return Some(Framing::RAW);
    }
    let (_, (overhead, mpu, cells)) = KEYWORDS.iter().find(|(name, _)| *name == keyword)?;
    Some(Framing { overhead: Some(*overhead), mpu: *mpu, cells: *cells })
}

/// Reads the keys.
pub(super) fn read(section: &mut Section<'_>, without: Framing) -> Result<Framing, Fault> {
    let mut p = section.or_by("overhead", without, |field| match &field.item.value {
        Value::String(keyword) => framing(keyword)
            .ok_or_else(|| field.wrong(suggest(keyword, &NAMES).to_owned() + ", or a number of bytes")),
        _ => match field.item.value {
            Value::Integer(bytes) if (-64..=256).contains(&bytes) => {
                Ok(Framing { overhead: Some(bytes as i16), mpu: 0, cells: Cells::None })
            }
            _ => Err(field.wrong("a whole number from -64 to 256, or a keyword such as \"docsis\"")),
        },
    })?;
    p.mpu = section.or("mpu", p.mpu)?;
    p.cells = section.or_by("atm", p.cells, |field| field.choice(&CELLS))?;
    Ok(p)
}
