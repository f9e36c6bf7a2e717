//! The options of tbf.

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::tbf::{Peak, TbfParams};
use stillair_model::vocabulary::Duration;

use super::super::super::contract::{Family, Form, Key};
use super::super::super::error::Fault;
use super::super::super::reader::Section;
use super::fifo::MIN_BFIFO;
use super::{BURST, CHILD, DeviceQueue, child};

pub(super) static OPTIONS: &[Key] = &[
    Key::need("rate", Form::Rate, "rate of the bucket"),
    Key::need("burst", BURST, "bytes that the bucket holds; no larger packet can leave"),
    Key::open(
        "limit",
        Form::Bytes(MIN_BFIFO, 1 << 30),
        "what follows from `latency`",
        "most bytes of the `bfifo` inside; not beside a `child`",
    ),
    Key::open("latency", Form::Period, "as `limit` has it", "time that a packet waits for tokens at most"),
    Key::open("peakrate", Form::Rate, "none", "rate of a second bucket, above the first one's"),
    Key::open(
        "mtu",
        BURST,
        "required with `peakrate`, and only with it",
        "bytes that the second bucket holds",
    ),
    Key::open("child", Form::Part(Family::Qdisc, &CHILD), "`bfifo`", "discipline that holds the packets"),
];

/// Reads the options.
// linux: iproute2 tc/q_tbf.c tbf_parse_opt (6.1) - a limit or a latency, and a peak rate takes an mtu; net/sched/sch_tbf.c
// tbf_change (6.1) - the peak is above the rate.
// deviation: with a child of another kind tc wants a limit too, which then does nothing - it is refused here.
pub(super) fn read(section: &mut Section<'_>, device: &DeviceQueue<'_>) -> Result<TbfParams, Fault> {
    let rate = section.need("rate", "a rate such as \"100 Mbit/s\"")?.value()?;
    let burst = section.need("burst", "a size such as \"32 KiB\"")?.value()?;
    let peak_rate = section.find("peakrate")?;
    let mtu = section.find("mtu")?;
    let peak = match (peak_rate, mtu) {
        (None, None) => None,
        (Some(peak), Some(mtu)) if peak > rate => Some(Peak { rate: peak, mtu }),
        (Some(_), Some(_)) => {
            return Err(section.wrong("a peakrate that is not above the rate", "a higher one"));
        }
        _ => return Err(section.wrong("one of peakrate and mtu", "both or neither")),
    };
    let limit: Option<u32> = section.find("limit")?;
    let latency: Option<Duration> = section.find("latency")?;
    let given = child(section, device)?;
    if given.is_some() {
        for key in ["limit", "latency"] {
            section.idle(key, "beside a child", "the limit of the child")?;
        }
    }
    let fifo = match (limit, latency) {
        (Some(limit), None) => Some(limit),
        (None, Some(latency)) => Some(TbfParams::limit(rate, burst, peak, latency)),
        (Some(_), Some(_)) => return Err(section.wrong("both limit and latency", "one of them")),
        (None, None) => None,
    };
    let fifo = fifo.map(|limit| QdiscConfig::Fifo(FifoParams::Bytes(limit)));
    match given.or(fifo) {
        Some(child) => Ok(TbfParams { rate, burst, peak, child: Box::new(child) }),
        None => Err(section.wrong("neither limit nor latency", "one of them, or a child")),
    }
}
