//! The options of htb.

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::htb::HtbParams;

use super::super::super::contract::{Family, Form, Key};
use super::super::super::error::Fault;
use super::super::super::reader::Section;
use super::{BURST, CHILD, DeviceQueue, child};

pub(super) static OPTIONS: &[Key] = &[
    Key::need("rate", Form::Rate, "rate of its single class"),
    Key::open("ceil", Form::Rate, "the rate", "ceiling of the class; without a parent it borrows nothing"),
    Key::open("burst", BURST, "`tc`'s, 1600 bytes", "bytes that may leave at once after a pause"),
    Key::open("cburst", BURST, "`tc`'s, 1600 bytes", "the same of the ceiling"),
    Key::open("child", Form::Part(Family::Qdisc, &CHILD), "`pfifo`", "discipline of the class"),
];

/// Reads the options.
// linux: iproute2 tc/q_htb.c (6.1), net/sched/sch_htb.c htb_change_class (6.1) - the ceiling is the rate by default; a class
// begins with a pfifo of txqueuelen packets.
pub(super) fn read(section: &mut Section<'_>, device: &DeviceQueue<'_>) -> Result<HtbParams, Fault> {
    let rate = section.need("rate", "a rate such as \"100 Mbit/s\"")?.value()?;
    let ceil = section.or("ceil", rate)?;
    let burst = section.or("burst", HtbParams::default_burst(rate))?;
    let cburst = section.or("cburst", HtbParams::default_burst(ceil))?;
    let child = child(section, device)?;
    let child = Box::new(child.unwrap_or(QdiscConfig::Fifo(FifoParams::pfifo(device.txqueuelen))));
    Ok(HtbParams { rate, ceil, burst, cburst, child })
}
