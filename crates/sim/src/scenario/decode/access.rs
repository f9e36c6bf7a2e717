//! Access lines: a rate and a modem's buffer for each direction.

use stillair_model::qdisc::cake::Framing;
use stillair_model::types::{Duration, Rate};
use stillair_model::wire::{LineBuffer, LineParams};

use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::Diagnostic;
use super::super::reader::{Field, Section};
use super::super::spec::{self, Section as _, overhead};
use super::super::{InterfaceRef, Node, units};
use super::product::{self, Product};

/// Slower is a slip in the unit: a packet would outlast most runs.
pub(super) const RATE: ValueType = ValueType::RateOrZero("1 kbit/s", "at which a full packet takes 12 s");
const PORT: ValueType = ValueType::RateFrom("1 kbit/s", "at which a full packet takes 12 s");

/// Both directions of what is the same where one value stands alone.
const fn both(form: ValueType, [down, up]: [&'static str; 2]) -> [Key; 2] {
    let otherwise = "that of `line`; required without one";
    [Key::open("down", form, otherwise, down), Key::open("up", form, otherwise, up)]
}

const RATES: [Key; 2] = both(RATE, ["rate to the customer", "rate from the customer"]);

const BUFFER: ValueType = ValueType::Written {
    words: "a size such as `256 KiB`, a time at the line's rate such as `100 ms`, or a number such as `1000 packets`",
    pattern: r"^[0-9]+(\.[0-9]+)? ?(B|kB|MB|KiB|MiB|ns|us|µs|ms|s|packets)$",
    examples: &["256 KiB", "100 ms", "1000 packets"],
};

const BUFFERS: [Key; 2] = both(BUFFER, ["buffer on the provider's side", "buffer of the customer's modem"]);

static RATES_SHAPE: TableSchema =
    TableSchema { title: "Rates of an access line", about: "Other rates each way.", groups: &[&RATES] };
static BUFFERS_SHAPE: TableSchema =
    TableSchema { title: "Buffers of an access line", about: "Other buffers each way.", groups: &[&BUFFERS] };

/// Ethernet's header and FCS, as on cable.
const FRAMING: &str = "docsis";

const EITHER_RATE: ValueType = ValueType::Either(&[RATE, BOTH_RATES]);
const EITHER_BUFFER: ValueType = ValueType::Either(&[BUFFER, BOTH_BUFFERS]);
const BOTH_RATES: ValueType = ValueType::Table(&RATES_SHAPE);
const BOTH_BUFFERS: ValueType = ValueType::Table(&BUFFERS_SHAPE);

/// The keys that no other link has.
pub(super) static KEYS: [Key; 9] = [
    product::KEY,
    Key::open(
        "rate",
        EITHER_RATE,
        "that of `line`; required without one",
        "rate of the line, of both directions or as `{ down = \"500 Mbit/s\", up = \"50 Mbit/s\" }`; `0 bit/s` is an outage until a `step`",
    ),
    Key::open(
        "buffer",
        EITHER_BUFFER,
        "that of `line` as far as it has one; else required",
        "the modem's buffer, which no queueing discipline sees; packets beyond it are dropped. One value for both directions, or a table of \
         `down` and `up`. A time is converted to bytes at the initial rate",
    ),
    Key::need("delay", ValueType::Time, "one-way propagation delay"),
    Key::open(
        "cpe",
        ValueType::Name("end"),
        "the end that forwards, if the other does not",
        "the node, or its interface, on the customer's side of the modem: the direction towards it is `down`",
    ),
    Key::open(
        "port",
        PORT,
        "`1 Gbit/s`; `10 Gbit/s` where the line is faster",
        "rate of the Ethernet between each host and its end of the line",
    ),
    LINK[0],
    LINK[1],
    LINK[2],
];

const LINK: [Key; 3] =
    spec::with_default(overhead::Link::KEYS, "`docsis`: Ethernet's header and FCS, 18 bytes");

/// An access line as it is read, before its devices are.
pub(super) struct Access {
    /// Rate of the Ethernet at its ends.
    pub(super) port: Rate,
    pub(super) delay: Duration,
    /// The number of the customer's end.
    cpe: usize,
    /// Down and up.
    lines: [LineParams; 2],
}

impl Access {
    /// From the first end to the second, and back.
    pub(super) fn lines(&self) -> [LineParams; 2] {
        let [down, up] = self.lines;
        if self.cpe == 0 { [up, down] } else { [down, up] }
    }
}

/// A value for both directions, or a table of each, where `known` stands in for what is not there.
fn each<'a, T: Copy>(
    field: &Field<'a>,
    known: [Option<T>; 2],
    read: impl Fn(&Field<'a>) -> Result<T, Diagnostic>,
) -> Result<[T; 2], Diagnostic> {
    if !matches!(field.item.value, Value::Table(_)) {
        return read(field).map(|same| [same; 2]);
    }
    let mut section = field.section("a table of down and up")?;
    let mut one = |key: &str, known: Option<T>| match (section.get(key), known) {
        (None, Some(known)) => Ok(known),
        _ => read(&section.need(key, "both down and up")?),
    };
    let all = [one("down", known[0])?, one("up", known[1])?];
    section.finish()?;
    Ok(all)
}

fn buffer(field: &Field<'_>) -> Result<(LineBuffer, Option<Duration>), Diagnostic> {
    let expected =
        "a size such as \"256 KiB\", a time such as \"100 ms\", or a number such as \"1000 packets\"";
    let text = field.text(expected)?;
    if let Some(packets) = text.strip_suffix("packets") {
        let packets = packets.trim().parse().map_err(|_| field.wrong(expected))?;
        return Ok((LineBuffer::Packets(packets), None));
    }
    if let Ok(time) = units::duration(text) {
        return Ok((LineBuffer::Bytes(0), Some(time)));
    }
    match units::bytes(text) {
        Ok(bytes) => Ok((LineBuffer::Bytes(bytes), None)),
        Err(_) => Err(field.wrong(expected)),
    }
}

/// What waits before both directions.
fn buffers(
    section: &mut Section<'_>,
    product: Option<&Product>,
) -> Result<[(LineBuffer, Option<Duration>); 2], Diagnostic> {
    let known = product.map_or([None; 2], |product| product.buffers);
    let known = known.map(|time| time.map(|time| (LineBuffer::Bytes(0), Some(time))));
    if let (None, [Some(down), Some(up)]) = (section.get("buffer"), known) {
        return Ok([down, up]);
    }
    let right = match (product, known) {
        (None, _) => "what the modems hold, such as { down = \"100 ms\", up = \"250 ms\" }",
        (Some(_), [None, Some(_)]) => {
            "what the provider's side holds, such as { down = \"100 ms\" }: no source tells it of this line"
        }
        (Some(_), _) => {
            "what the modems hold, such as { down = \"100 ms\", up = \"250 ms\" }: no source tells it of this line"
        }
    };
    each(&section.need("buffer", right)?, known, buffer)
}

/// Reads what only an access line has; `ends` are the interfaces that name it.
pub(super) fn read(
    section: &mut Section<'_>,
    ends: &[InterfaceRef],
    nodes: &[Node],
) -> Result<Access, Diagnostic> {
    let product = section.get("line").map(|field| product::read(&field)).transpose()?;
    let rates = match (section.get("rate"), product) {
        (None, Some(product)) => product.rates,
        (_, product) => {
            let right =
                "a rate, { down = \"500 Mbit/s\", up = \"50 Mbit/s\" }, or a line such as \"cable-500-50\"";
            each(
                &section.need("rate", right)?,
                product.map_or([None; 2], |known| known.rates.map(Some)),
                rate_of,
            )?
        }
    };
    let buffers = buffers(section, product)?;
    let delay = section.need("delay", "a time such as \"5 ms\"")?.value()?;
    // Ethernet's next rate above that of a line.
    let fastest = rates[0].max(rates[1]);
    let fits = |mbps: u64| fastest <= Rate::from_mbps(mbps);
    let usual = Rate::from_mbps(if fits(1_000) { 1_000 } else { 10_000 });
    let port = section.or_by("port", usual, |field| {
        let port: Rate = field.value()?;
        if port >= fastest { Ok(port) } else { Err(field.wrong("a rate that is not below that of the line")) }
    })?;
    if port < fastest {
        return Err(
            section.wrong("a line faster than the Ethernet before it, 10 Gbit/s", "a port as fast beside it")
        );
    }
    let usual =
        product.map_or(overhead::framing(FRAMING), |product| Some(product.framing)).unwrap_or(Framing::RAW);
    let framing = spec::read::<overhead::Link>(section)?.framing(usual);
    let line = |n: usize| {
        let (rate, (buffer, time)) = (rates[n], buffers[n]);
        let buffer = time.map_or(buffer, |time| LineBuffer::Bytes(bytes_in(rate, time)));
        LineParams { rate, buffer, framing }
    };
    let lines = [line(0), line(1)];
    let cpe = cpe(section, ends, nodes)?;
    Ok(Access { port, delay, cpe, lines })
}

/// A rate, whether it stands for both ways or for one.
fn rate_of(field: &Field<'_>) -> Result<Rate, Diagnostic> {
    Field { form: &RATE, ..field.clone() }.value()
}

fn bytes_in(rate: Rate, time: Duration) -> u64 {
    (u128::from(rate.bps()) * u128::from(time.nanos()) / 8_000_000_000) as u64
}

/// Which of the ends is the customer's.
fn cpe(section: &mut Section<'_>, ends: &[InterfaceRef], nodes: &[Node]) -> Result<usize, Diagnostic> {
    // A link of more or fewer ends than two is refused afterwards.
    let [a, b] = ends else { return Ok(section.get("cpe").map_or(0, |_| 0)) };
    let name = |at: &InterfaceRef| {
        let node = &nodes[at.node];
        [node.name.clone(), format!("{}.{}", node.name, node.interfaces[at.interface].name)]
    };
    let names = [name(a), name(b)];
    let either = format!("{:?} or {:?}", names[0][0], names[1][0]);
    match section.get("cpe") {
        Some(field) => {
            let text = field.text(&either)?;
            let end = names.iter().position(|end| end.iter().any(|name| name == text));
            end.ok_or_else(|| field.wrong(either))
        }
        None => match [a, b].map(|at| nodes[at.node].forward) {
            [true, false] => Ok(0),
            [false, true] => Ok(1),
            _ => {
                let found = "an access line of which nothing says who is the customer";
                Err(section
                    .wrong(found, format!("cpe = {either}, or forward = true at one of the two alone")))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_what_the_line_sends_in_it() {
        let bytes = |mbps, ms| bytes_in(Rate::from_mbps(mbps), Duration::from_millis(ms));
        assert_eq!((bytes(8, 1), bytes(50, 250), bytes(500, 20)), (1_000, 1_562_500, 1_250_000));
    }
}
