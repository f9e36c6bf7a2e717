//! Retry limits of the sender, and pseudo retry-out at the receiver.

use stillair_model::wifi::rx::retry_out::RetryOutParams;

use super::super::Scheme;
use super::super::contract::{Form, Key, Shape};
use super::super::error::Fault;
use super::super::reader::Section;
use super::device::Device;
use super::scheme::Choice;

/// Retry limit of ath9k, and of the schemes that stand for it.
// linux: drivers/net/wireless/ath/ath9k/ath9k.h ATH_MAX_SW_RETRIES (3.11, 4.4) - 30; trees before about 3.7 have 10.
const RETRY_LIMIT: u8 = 30;

/// The same by the firmware behind ath9k_htc.
// ath9k_htc-firmware: wlan/if_owl.c ath_tx_retry_subframe, OWLMAX_RETRIES (e888634).
const HTC_RETRY_LIMIT: u8 = 10;

/// The same of mt76.
// linux: drivers/net/wireless/mediatek/mt76/mt7915/mac.c mt7915_mac_write_txwi (5.15), mt76_connac_mac.c mt76_connac2_mac_write_txwi
// (6.12) - tx_count is 15 for each frame.
const MT76_RETRY_LIMIT: u8 = 15;

/// The same of ath10k and ath11k.
// qcacld-3.0: components/mlme/dispatcher/inc/cfg_qos.h gTxAggSwRetry, gTxNonAggSwRetry (2021) - 16 by default, 0 to 64.
// deviation: assumed to be what ath10k's and ath11k's firmware does, for which these drivers set no number, and to count tries of the hardware.
pub(in crate::scenario) const FIRMWARE_RETRY_LIMIT: u8 = 16;

/// Retry limit of a scheme, or of a device that has its own.
pub(in crate::scenario) fn limit_of(scheme: Scheme, device: Option<&Device>) -> u8 {
    let own = device.filter(|device| device.scheme == scheme).and_then(|device| device.retry_limit);
    own.unwrap_or(match scheme {
        Scheme::Ath9kHtc => HTC_RETRY_LIMIT,
        Scheme::Mt76 => MT76_RETRY_LIMIT,
        Scheme::Ath10k | Scheme::Ath11k => FIRMWARE_RETRY_LIMIT,
        _ => RETRY_LIMIT,
    })
}

/// Keys of a sender.
pub(super) const SENDER: &[Key] = &[
    Key::open(
        "retry_limit",
        Form::Integer(0, 255),
        "30 (ath9k) for the schemes `fifo` to `mac80211`; 10 for `ath9k_htc`; 15 for `mt76` (16 for MT7615); 16 for `ath10k` and `ath11k` (assumed; \
         plausible range 4 to 64)",
        "tries after which a frame is given up. `mt76`, `ath10k`, `ath11k`: total hardware tries per frame, in and outside Block Ack sessions, unless \
         `retry_chain` is set. Other schemes: software retries of frames in a Block Ack session, counted before the PPDU that failed; `ath9k_htc` counts PPDUs, \
         each with its whole retry chain",
    ),
    Key::open(
        "report_failed_ppdus",
        Form::Boolean,
        "true for `mt76`, `ath10k`, `ath11k` (assumed where rate control is in firmware) and `ath9k_htc`; false for ath9k",
        "report PPDUs that failed as a whole to rate control; ath9k reports a PPDU of a Block Ack session only if at least one frame is acknowledged or \
         given up",
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
    pub reports_failed: bool,
    pub limit_by_rate: bool,
    pub retry_out: Option<RetryOutParams>,
}

pub(super) fn read(
    section: &mut Section<'_>,
    is_ap: bool,
    scheme: &Choice,
    device: Option<&Device>,
) -> Result<Retries, Fault> {
    let limit = section.or("retry_limit", limit_of(scheme.name, device))?;
    let reports_failed = section.or("report_failed_ppdus", scheme.driver.reports_failed_ppdus())?;
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
    Ok(Retries { limit, reports_failed, limit_by_rate, retry_out })
}
