//! The text format of TCP test scripts; see `tests/tcp/README.md`.

use stillair_model::transport::tcp::config::{Exception, LimitOutput, LossDetection, TcpConfig};
use stillair_model::types::Duration;

/// A position in a stream: whole segments, plus bytes beyond them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    pub segments: u32,
    pub bytes: u32,
}

/// Kind of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Syn,
    SynAck,
    /// No data.
    Ack,
    /// One packet, or those of segments `from` to `to`.
    Data {
        from: Place,
        to: Option<u32>,
    },
    /// A FIN without data.
    Fin(Place),
    Rst,
    /// No data, at one byte before the next sequence number.
    Probe,
}

/// A packet as described by a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    pub what: What,
    pub segs: u16,
    pub bytes: Option<u32>,
    pub ack: Option<Place>,
    pub sacks: Vec<(Place, Place)>,
    pub window: Option<u32>,
    pub mss: Option<u16>,
    pub scale: Option<u8>,
    pub ecr_first: bool,
    /// Marks that are set, from `fin ece cwr ce ect nosack nots noscale ecn`.
    pub marks: Vec<String>,
}

impl Packet {
    pub fn has(&self, mark: &str) -> bool {
        self.marks.iter().any(|m| m == mark)
    }
}

/// Time of a line, relative to the previous line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct When {
    pub earliest: Duration,
    pub latest: Duration,
}

/// Content of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    Set(String, String),
    /// A connection over a path with this round-trip time, as the listening end.
    Connected(Duration, Vec<String>),
    Connect,
    In(Packet),
    Out(Packet),
    /// Nothing is sent until this time.
    Nothing,
    Write(u64, bool),
    Flood,
    Read(Option<u64>),
    Sleep,
    Close,
    /// Charges no longer end automatically; `Free` ends the oldest ones.
    Hold,
    Free(usize),
    Refuse(u32),
    Congest(u32),
    Check(Vec<(String, String)>),
}

#[derive(Clone, Debug)]
pub struct Line {
    pub number: usize,
    pub text: String,
    pub when: Option<When>,
    pub step: Step,
}

fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        "ns" => 1.0,
        other => return Err(format!("unit {other:?} of {text:?}")),
    };
    let number: f64 = digits.parse().map_err(|_| format!("number in {text:?}"))?;
    Ok(Duration::from_nanos((number * unit).round() as u64))
}

fn when(text: &str) -> Result<When, String> {
    let (earliest, latest) = text.split_once("..").unwrap_or((text, text));
    Ok(When { earliest: duration(earliest)?, latest: duration(latest)? })
}

fn number<T: core::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("number {text:?}"))
}

fn place(text: &str) -> Result<Place, String> {
    let (segments, bytes) = text.split_once('+').unwrap_or((text, "0"));
    Ok(Place { segments: number(segments)?, bytes: number(bytes)? })
}

fn blocks(text: &str) -> Result<Vec<(Place, Place)>, String> {
    let block = |b: &str| {
        let (start, end) = b.split_once('-').ok_or(format!("block {b:?}"))?;
        Ok((place(start)?, place(end)?))
    };
    text.split(',').map(block).collect()
}

fn packet(words: &[&str]) -> Result<Packet, String> {
    let mut words = words.iter().copied();
    let mut next = |what: &str| words.next().ok_or(format!("{what} is missing"));
    let mut p = Packet {
        what: What::Ack,
        segs: 1,
        bytes: None,
        ack: None,
        sacks: Vec::new(),
        window: None,
        mss: None,
        scale: None,
        ecr_first: false,
        marks: Vec::new(),
    };
    p.what = match next("packet")? {
        "syn" => What::Syn,
        "synack" => What::SynAck,
        "ack" => {
            p.ack = Some(place(next("acknowledgement")?)?);
            What::Ack
        }
        "data" => {
            let text = next("place")?;
            let (from, to) = match text.split_once("..") {
                Some((from, to)) => (from, Some(number(to)?)),
                None => (text, None),
            };
            What::Data { from: place(from)?, to }
        }
        "fin" => What::Fin(place(next("place")?)?),
        "rst" => What::Rst,
        "probe" => What::Probe,
        other => return Err(format!("packet {other:?}")),
    };
    while let Ok(word) = next("") {
        match word {
            "ack" => p.ack = Some(place(next("acknowledgement")?)?),
            "sack" => p.sacks = blocks(next("blocks")?)?,
            "win" => p.window = Some(number(next("window")?)?),
            "mss" => p.mss = Some(number(next("size")?)?),
            "scale" => p.scale = Some(number(next("scale")?)?),
            "bytes" => p.bytes = Some(number(next("bytes")?)?),
            "ecr-first" => p.ecr_first = true,
            "fin" | "ece" | "cwr" | "ce" | "ect" | "nosack" | "nots" | "noscale" | "ecn" => {
                p.marks.push(word.into());
            }
            _ if word.starts_with('x') => p.segs = number(&word[1..])?,
            _ => return Err(format!("word {word:?}")),
        }
    }
    Ok(p)
}

fn step(words: &[&str]) -> Result<Step, String> {
    Ok(match words {
        ["set", key, value] => Step::Set((*key).into(), (*value).into()),
        ["connected", rtt, marks @ ..] => {
            Step::Connected(duration(rtt)?, marks.iter().map(|m| (*m).into()).collect())
        }
        ["connect"] => Step::Connect,
        ["<", rest @ ..] => Step::In(packet(rest)?),
        [">", "nothing"] => Step::Nothing,
        [">", rest @ ..] => Step::Out(packet(rest)?),
        ["write", n] => match n.strip_suffix('b') {
            Some(bytes) => Step::Write(number(bytes)?, true),
            None => Step::Write(number(n)?, false),
        },
        ["flood"] => Step::Flood,
        ["read"] => Step::Read(None),
        ["read", n] => Step::Read(Some(number(n)?)),
        ["sleep"] => Step::Sleep,
        ["close"] => Step::Close,
        ["hold"] => Step::Hold,
        ["free", n] => Step::Free(number(n)?),
        ["refuse", n] => Step::Refuse(number(n)?),
        ["congest", n] => Step::Congest(number(n)?),
        ["=", rest @ ..] => Step::Check(
            rest.chunks(2)
                .map(|pair| match pair {
                    [key, value] => Ok(((*key).into(), value.trim_end_matches(',').into())),
                    _ => Err("a key without value".to_string()),
                })
                .collect::<Result<_, _>>()?,
        ),
        _ => return Err("line".into()),
    })
}

/// Parses a script. The error names the line.
pub fn parse(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (i, raw) in text.lines().enumerate() {
        let words: Vec<&str> = raw.split('#').next().unwrap_or_default().split_whitespace().collect();
        let (time, rest) = match words.first() {
            None => continue,
            Some(first) => match first.strip_prefix('+') {
                Some(time) => (Some(time), &words[1..]),
                None => (None, &words[..]),
            },
        };
        let wrong = |e: String| format!("line {}: {e} not understood: {raw}", i + 1);
        let when = time.map(when).transpose().map_err(wrong)?;
        lines.push(Line { number: i + 1, text: raw.trim().into(), when, step: step(rest).map_err(wrong)? });
    }
    Ok(lines)
}

/// Changes a socket setting.
pub fn set(c: &mut TcpConfig, key: &str, value: &str) -> Result<(), String> {
    let n = || value.parse::<u32>().map_err(|_| format!("value {value:?}"));
    match key {
        "hz" => c.hz = n()?,
        "ecn" => c.ecn = n()? as u8,
        "timestamps" => c.timestamps = n()? == 1,
        "sack" => c.sack = n()? == 1,
        "dsack" => c.dsack = n()? == 1,
        "autocorking" => c.autocorking = n()? == 1,
        "frto" => c.frto = n()? == 1,
        "tlp" => c.tail_loss_probe = n()? == 1,
        "tso" => c.tso = n()? == 1,
        "tso_rtt_log" => c.tso_rtt_log = n()?,
        "rmem" => c.rmem = [4096, n()?, n()?],
        "wmem" => c.wmem = [4096, n()?, n()?],
        "truesize" => c.truesize_segment = n()?,
        "split" => c.split_truesize = n()?,
        "split_at_once" => c.split_at_once = n()? == 1,
        "pacing_ca_ratio" => c.pacing_ca_ratio = n()?,
        "loss" => {
            c.loss = match value {
                "rack" => LossDetection::RackTlp,
                "dupack" => LossDetection::DupAck,
                "fack" => LossDetection::Fack,
                _ => return Err("loss".into()),
            }
        }
        "tsq" => match value {
            "off" => c.small_queues.off = true,
            "4.4" => {
                c.small_queues.cap = LimitOutput::AtMost;
                c.small_queues.exception = Exception::FirstOfWriteQueue;
            }
            "4.15" => c.small_queues.exception = Exception::EmptyRtxQueue,
            _ => return Err("tsq".into()),
        },
        _ => return Err(format!("key {key:?}")),
    }
    Ok(())
}
