//! Wi-Fi channels.

use stillair_model::types::Duration;
use stillair_model::wifi::phy::frame::Cipher;
use stillair_model::wifi::phy::{Band, DsssRate, OfdmRate, PhyRate, Preamble, Width};

use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::{Diagnostic, suggest};
use super::super::hearing::Audible;
use super::super::reader::Field;
use super::super::{Attachment, Channel, Node, mtu};
use super::{hearing, losses, rate};

const BANDS: [&str; 3] = ["2.4 GHz", "5 GHz", "6 GHz"];
const WIDTHS: [&str; 4] = ["20 MHz", "40 MHz", "80 MHz", "160 MHz"];

/// 15 to 65,535 time units of 1024 us.
// hostapd: hostapd/config_file.c beacon_int (2.10) - any other number is refused; the beacon's field has 16
// bits.
const BEACON_INTERVAL: ValueType = ValueType::Times {
    least: "15.36 ms",
    most: Some("67.10784 s"),
    why: "the 15 to 65535 time units that hostapd takes",
};

pub(super) static SCHEMA: TableSchema = TableSchema {
    title: "Channel",
    about: "One medium, which everyone on it shares.",
    groups: &[
        &[
            Key::need(
                "band",
                ValueType::Choice(&BANDS),
                "frequency band; at 6 GHz all data goes at rates of HE (802.11ax)",
            ),
            Key::need(
                "width",
                ValueType::Choice(&WIDTHS),
                "channel width, at most 40 MHz at 2.4 GHz; stations may use less",
            ),
            mtu::KEY,
            rate::LOWEST,
            Key::or(
                "cipher",
                ValueType::Choice(&["none", "ccmp"]),
                "none",
                "how data frames are encrypted: with `ccmp` (WPA2) each is 16 bytes longer",
            ),
            Key::open(
                "long_slot",
                ValueType::Boolean,
                "`true` if a station on the channel is 802.11b-only",
                "long slot time: 20 us instead of 9 us",
            ),
            Key::open(
                "protection",
                ValueType::Boolean,
                "`true` if a station on the channel is 802.11b-only",
                "CTS-to-self before each OFDM frame, as in Linux: at 11 Mbit/s (24 at 5 GHz), before frames of HT and later at 1 Mbit/s (6 at 5 GHz)",
            ),
            Key::or(
                "busy_backoff",
                ValueType::Boolean,
                "true",
                "a frame that finds the medium busy and has no back-off left draws a new one, as the standard requires; `false`: a back-off is drawn only after a transmission, as by simulated radios (mac80211_hwsim)",
            ),
            Key::or(
                "beacon_interval",
                ValueType::Either(&[ValueType::Choice(&["off"]), BEACON_INTERVAL]),
                "102.4 ms",
                "time between beacons of each access point",
            ),
        ],
        losses::CHANNEL,
        hearing::KEYS,
    ],
};

/// What a channel does for stations without OFDM, if the scenario says.
#[derive(Clone, Copy)]
pub(super) struct ForOld {
    long_slot: Option<bool>,
    protection: Option<bool>,
}

/// Slots and protection of a channel, once its stations are known.
// linux: net/mac80211/cfg.c ieee80211_change_bss (4.4), hostapd: src/ap/ieee802_11.c handle_assoc,
// src/ap/beacon.c ieee802_11_erp_info (2.10) - an access point turns short slots off and protection on when a
// station without short slots or without OFDM associates.
pub(super) fn with_old(channel: &mut Channel, index: usize, given: ForOld, nodes: &[Node]) {
    let old = nodes.iter().flat_map(|n| &n.interfaces).any(|i| match &i.medium {
        Attachment::Wifi(wifi) if wifi.channel == index => wifi.role.is_old(),
        _ => false,
    });
    let rate = match channel.band {
        Band::Ghz2 => PhyRate::Dsss(DsssRate::M11, Preamble::Long),
        Band::Ghz5 | Band::Ghz6 => PhyRate::Ofdm(OfdmRate::M24),
    };
    channel.long_slot = given.long_slot.unwrap_or(old);
    channel.protection = given.protection.unwrap_or(old).then_some(rate);
}

/// Refuses levels of a channel on which nobody says where he is. `loud`: there is interference, beside which
/// the noise has its effect.
pub(super) fn levels(
    channel: usize,
    field: &Field<'_>,
    nodes: &[Node],
    distances: &[usize],
    loud: bool,
) -> Result<(), Diagnostic> {
    let on = |n: &Node| {
        let on = |medium: &Attachment| matches!(medium, Attachment::Wifi(wifi) if wifi.channel == channel);
        n.interfaces.iter().any(|i| on(&i.medium))
    };
    let mut section = field.section("a table with band and width")?;
    let placed = nodes.iter().any(|n| n.position.is_some() && on(n));
    if !placed {
        for key in ["cca_sensitivity", "preamble_detection_threshold"] {
            section.idle(
                key,
                "without a position on the channel",
                "positions of its nodes, or no such level",
            )?;
        }
    }
    if !loud {
        section.idle(
            "cca_ed_threshold",
            "without interference on the channel",
            "some of it, or no such level",
        )?;
    }
    if !placed && !distances.contains(&channel) {
        let keys = ["tx_power", "reference_loss", "path_loss_exponent", "noise"];
        let right = "a distance or a position, or no such level";
        for key in keys.into_iter().filter(|key| !loud || *key != "noise") {
            section.idle(key, "without a distance or a position on the channel", right)?;
        }
    }
    Ok(())
}

/// A channel, and what of it waits for its interfaces.
pub(super) fn read<'a>(
    name: &str,
    field: &Field<'a>,
) -> Result<(Channel, (ForOld, hearing::Given<'a>)), Diagnostic> {
    let mut section = field.section("a table with band and width")?;
    let band = [(BANDS[0], Band::Ghz2), (BANDS[1], Band::Ghz5), (BANDS[2], Band::Ghz6)];
    let widths: [_; WIDTHS.len()] = core::array::from_fn(|n| (WIDTHS[n], Width::ALL[n]));
    let band = section.need("band", &suggest("", &BANDS))?.choice(&band)?;
    let field = section.need("width", &suggest("", &WIDTHS))?;
    let width = field.choice(&widths)?;
    if band == Band::Ghz2 && width > Width::Mhz40 {
        return Err(field.wrong("at most 40 MHz at 2.4 GHz"));
    }
    if band == Band::Ghz6 {
        // spec: ieee80211ax-2021 26.17.2.1 - all stations at 6 GHz have HE: there is nobody to have regard
        // for.
        for key in ["long_slot", "protection"] {
            section.idle(
                key,
                "at 6 GHz, where all stations have OFDM",
                "a channel at another band, or no such key",
            )?;
        }
    }
    let channel = Channel {
        name: name.to_owned(),
        band,
        width,
        mtu: section.or("mtu", mtu::ETHERNET)?,
        cipher: section.or_by("cipher", Cipher::None, |field| {
            field.choice(&[("none", Cipher::None), ("ccmp", Cipher::Ccmp)])
        })?,
        basic_rate: rate::lowest(&mut section, band)?,
        long_slot: false,
        busy_backoff: section.or("busy_backoff", true)?,
        protection: None,
        path_loss: losses::path_loss(&mut section, band)?,
        audible: Audible::default(),
        capture: None,
        interference: Vec::new(),
        cca_ed_threshold: hearing::energy(&mut section)?,
        neighbours: Vec::new(),
        cca_sensitivity: hearing::level(&mut section, "cca_sensitivity")?,
        preamble_detection_threshold: hearing::level(&mut section, "preamble_detection_threshold")?,
        // linux: hostapd.conf beacon_int - 100 time units of 1024 us.
        beacon_interval: section.or_by("beacon_interval", Some(Duration::from_micros(102_400)), |field| {
            match &field.item.value {
                Value::String(off) if off == "off" => Ok(None),
                _ => field.value().map(Some).map_err(|fault| fault.or("\"off\"")),
            }
        })?,
    };
    let for_old = ForOld { long_slot: section.find("long_slot")?, protection: section.find("protection")? };
    let audible = hearing::Given::read(&mut section);
    section.finish()?;
    Ok((channel, (for_old, audible)))
}
