//! Retry limits of the sender, and pseudo retry-out at the receiver.

use stillair_model::wifi::rx::retry_out::RetryOutParams;

use super::super::contract::{Form, Key, Shape};
use super::super::error::Fault;
use super::super::reader::Section;

/// Tries of an MPDU by the driver.
// linux: drivers/net/wireless/ath/ath9k/ath9k.h ATH_MAX_SW_RETRIES (3.11, 4.4) - 30; trees before about 3.7 have 10.
const RETRY_LIMIT: u8 = 30;

/// The same by the firmware behind ath9k_htc.
// ath9k_htc-firmware: wlan/if_owl.c ath_tx_retry_subframe, OWLMAX_RETRIES (e888634).
const HTC_RETRY_LIMIT: u8 = 10;

/// Keys of a sender.
pub(super) const SENDER: &[Key] = &[
    Key::open(
        "retry_limit",
        Form::Integer(0, 255),
        "30; with ath9k_htc 10",
        "tries by the hardware (of ath9k_htc: by the firmware, each with its whole retry chain) that a frame of a Block Ack session may have had for the driver to send it once more",
    ),
    Key::or(
        "retry_limit_by_rate",
        Form::Boolean,
        "false",
        "that limit is 2, 5 and 8 at most for frames sent at less than 25, 50 and 100 Mbit/s",
    ),
];

static BY_RATE: Shape = Shape {
    title: "Retry-out by rate",
    about: "A frame with a TCP segment that came broken three, six or nine times counts as lost, where the peer's smoothed data rate \
            is below 25, 50 or 100 Mbit/s: frames that wait for it go up, and it is ignored if it comes after all.",
    groups: &[&[Key::tag("kind", "by_rate")]],
};

static INDEX: Shape = Shape {
    title: "Retry-out at an index",
    about: "The same for all rates.",
    groups: &[&[
        Key::tag("kind", "index"),
        Key::need(
            "index",
            Form::Integer(0, 254),
            "retransmissions that have to come broken, after a first broken reception",
        ),
    ]],
};

const RETRY_OUT: Form = Form::Kinds { shapes: &[&BY_RATE, &INDEX], bare: true };

/// Keys of a receiver.
pub(super) const RECEIVER: &[Key] = &[Key::open(
    "retry_out",
    RETRY_OUT,
    "none",
    "pseudo retry-out: a frame of a station counts as lost once it has come broken too often",
)];

/// What a Wi-Fi interface does with frames that fail.
#[derive(Clone, Copy)]
pub(super) struct Retries {
    pub limit: u8,
    pub limit_by_rate: bool,
    pub retry_out: Option<RetryOutParams>,
}

pub(super) fn read(section: &mut Section<'_>, is_ap: bool, is_htc: bool) -> Result<Retries, Fault> {
    let limit = section.or("retry_limit", if is_htc { HTC_RETRY_LIMIT } else { RETRY_LIMIT })?;
    let limit_by_rate = section.or("retry_limit_by_rate", false)?;
    let mut retry_out = None;
    if let Some(field) = if is_ap { section.get("retry_out") } else { None } {
        retry_out = Some(match field.kind()? {
            ("index", Some(mut section)) => {
                let index = section.need("index", "a whole number")?.value()?;
                section.finish()?;
                RetryOutParams::Index(index)
            }
            ("index", None) => return Err(field.wrong("a table with its index")),
            (_, section) => {
                section.map_or(Ok(()), Section::finish)?;
                RetryOutParams::ByRate
            }
        });
    }
    Ok(Retries { limit, limit_by_rate, retry_out })
}
