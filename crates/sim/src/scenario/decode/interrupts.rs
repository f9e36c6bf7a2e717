//! Interrupt mitigation of a Wi-Fi device for received frames.

use stillair_model::wifi::rx::interrupts::RxMitigation;

use super::super::contract::{Form, Key, Shape};
use super::super::error::Fault;
use super::super::reader::Section;

static NONE: Shape = Shape {
    title: "Receive interrupts without waiting",
    about: "The host learns of a received PPDU when its exchange ends.",
    groups: &[&[Key::tag("kind", "none")]],
};

static AR9300: Shape = Shape {
    title: "Receive interrupts of the AR9300",
    about: "As ath9k sets the AR9300 and its successors, the AR9580 among them: 0.5 ms after the last PPDU, 2 ms after the first. OpenWrt \
            has had other times.",
    groups: &[&[Key::tag("kind", "ar9300")]],
};

static AR9002: Shape = Shape {
    title: "Receive interrupts of the AR9002",
    about: "As ath9k sets chips before the AR9300: 0.25 ms after the last PPDU, 0.7 ms after the first.",
    groups: &[&[Key::tag("kind", "ar9002")]],
};

const WAIT: Form =
    Form::Times { least: "0 ms", most: Some("65535 us"), why: "the register has 16 bits of microseconds" };

static TIMES: Shape = Shape {
    title: "Receive interrupts by times",
    about: "By two times of one's own.",
    groups: &[&[
        Key::tag("kind", "times"),
        Key::need("last", WAIT, "after the last PPDU, if no other comes before"),
        Key::need("first", WAIT, "after the first one, however many follow"),
    ]],
};

const FORM: Form = Form::Kinds { shapes: &[&NONE, &AR9300, &AR9002, &TIMES], bare: true };

/// The key of a Wi-Fi interface.
pub(super) const KEY: Key = Key::or(
    "rx_mitigation",
    FORM,
    "none",
    "receive interrupt mitigation: how long the device waits before it reports received frames to its host; a broken frame and the end of a transmission report them too",
);

pub(super) fn read(section: &mut Section<'_>) -> Result<Option<RxMitigation>, Fault> {
    let Some(field) = section.get("rx_mitigation") else { return Ok(None) };
    let (kind, section) = field.kind()?;
    let mut times = None;
    if let Some(mut section) = section {
        if kind == "times" {
            let last = section.need("last", "a time such as \"0.5 ms\"")?.value()?;
            let first = section.need("first", "a time such as \"2 ms\"")?.value()?;
            times = Some(RxMitigation { last, first });
        }
        section.finish()?;
    }
    Ok(match kind {
        "none" => None,
        "ar9300" => Some(RxMitigation::AR9300),
        "ar9002" => Some(RxMitigation::AR9002),
        _ => Some(times.ok_or_else(|| field.wrong("a table with kind, last and first"))?),
    })
}
