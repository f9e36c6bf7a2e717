//! Link-layer overhead of a packet, under tc's names and keywords.

use stillair_model::qdisc::cake::{Cells, Framing};
use stillair_scenario_derive::Section;

use super::super::description::ValueType;
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics, suggest};
use super::super::reader::Field;
use super::domain::{Choice, Octets, named};
use super::{Assign, Domain, Key};

/// Link-layer overhead keys.
#[derive(Section, Clone, Debug, Default)]
#[section(params = Framing, base = Framing::RAW)]
pub struct Link {
    /// bytes added to an IP packet on the link, or `tc`'s keyword for the kind of link, which sets `mpu` and
    /// `atm` too; a VLAN's tag (`ether-vlan`) is 4 more, such as 34 with `atm = "ptm"` in place of
    /// `pppoe-ptm`
    #[key(to = overhead, or = "whoever has this group says")]
    pub overhead: Key<Overhead>,
    /// bytes that a packet costs at least
    #[key(to = mpu, or = "that of the keyword: 0")]
    pub mpu: Key<Octets<0, 256>>,
    /// the pieces that packets are cut into on the link
    #[key(to = cells, or = "that of the keyword: `noatm`")]
    pub atm: Key<Choice<Cells>>,
}

impl Link {
    /// Returns the framing; `without` is the default without a keyword.
    pub(in super::super) fn framing(&self, without: Framing) -> Framing {
        let mut framing = self.overhead.get().map_or(without, |keyword| keyword.0);
        self.assign(&mut framing);
        framing
    }
}

named!(Cells { None, Atm, Ptm });

/// A number of bytes, or a keyword.
pub struct Overhead;

/// The framing of a keyword or number.
#[derive(Clone, Debug)]
pub struct Keyword(Framing);

impl From<Keyword> for Option<i16> {
    fn from(keyword: Keyword) -> Self {
        keyword.0.overhead
    }
}

impl Domain for Overhead {
    type Value = Keyword;
    const TYPE: ValueType = ValueType::Either(&[
        ValueType::Integer(-64, 256),
        ValueType::Choice(&NAMES),
        ValueType::Choice(&[RAW]),
    ]);
    const UNIT: &'static str = "_bytes";

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Keyword, Diagnostic> {
        let read = match &field.item.value {
            Value::String(keyword) => framing(keyword)
                .ok_or_else(|| field.wrong(suggest(keyword, &NAMES).to_owned() + ", or a number of bytes")),
            Value::Integer(bytes) if (-64..=256).contains(bytes) => {
                Ok(Framing { overhead: Some(*bytes as i16), mpu: 0, cells: Cells::None })
            }
            _ => Err(field.wrong("a whole number from -64 to 256, or a keyword such as \"docsis\"")),
        };
        read.map(Keyword)
    }

    fn written(value: &Keyword) -> Value {
        value.0.overhead.map_or(Value::String(RAW.to_owned()), |bytes| Value::Integer(bytes.into()))
    }
}

/// Overhead in bytes, minimum packet size, and cell type of each keyword.
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

/// The keywords, as a list for the type.
const NAMES: [&str; 13] = {
    let mut out = [""; KEYWORDS.len()];
    let mut n = 0;
    while n < KEYWORDS.len() {
        out[n] = KEYWORDS[n].0;
        n += 1;
    }
    out
};

/// Keyword for cake's default: the length with the Ethernet header, without further overhead.
const RAW: &str = "raw";

/// Returns the framing of a keyword.
pub(in super::super) fn framing(keyword: &str) -> Option<Framing> {
    if keyword == RAW {
        return Some(Framing::RAW);
    }
    let (_, (overhead, mpu, cells)) = KEYWORDS.iter().find(|(name, _)| *name == keyword)?;
    Some(Framing { overhead: Some(*overhead), mpu: *mpu, cells: *cells })
}
