//! Profiles of commercial Wi-Fi devices: the driver and its parameters, each with its source, or with a range
//! if no source gives the value.

use std::sync::LazyLock;

use stillair_model::types::Duration;
use stillair_model::wifi::config::{AirtimeReport, DriverConfig, FirmwareParams, WhenFirmwareFull};

use super::super::Scheme;
use super::super::Wifi;
use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::{self, Table, Value};
use super::super::error::{Diagnostic, Diagnostics, Origin, suggest};
use super::super::parts::Parts;
use super::super::reader::{Field, Section, Typed};
use super::Domain;

macro_rules! files {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("../../../devices/", $name, ".toml")))),*] };
}

const FILES: [(&str, &str); 11] = files!(
    "ipq8074", "mt7615", "mt7915", "mt7916", "mt7921", "mt7922", "qca4019", "qca9880", "qca9984", "qcn9074",
    "wcn6855"
);

/// Well-known devices whose driver is not modelled.
const OTHERS: [(&str, &str); 12] = [
    ("ax200", IWLWIFI),
    ("ax201", IWLWIFI),
    ("ax210", IWLWIFI),
    ("ax211", IWLWIFI),
    ("be200", EHT),
    ("mt7925", EHT),
    ("mt7996", EHT),
    ("qcn9274", EHT),
    ("wcn7850", EHT),
    ("rtl8852be", "rtw89 is not modelled"),
    ("bcm4366", "brcmfmac is not modelled: its firmware does what mac80211 does of others"),
    ("ar9580", "ath9k is the default on 20 and 40 MHz"),
];
const IWLWIFI: &str = "iwlwifi is not modelled";
const EHT: &str = "802.11be is not modelled";

const SOURCE: Key =
    Key::open("source", ValueType::Text, "none: then `least` and `most`", "where it is written");

macro_rules! entry {
    ($title:literal, $form:expr) => {
        TableSchema {
            title: $title,
            about: "A number with its source, or with the range it lies in.",
            groups: &[&[
                Key::need("value", $form, "what is taken"),
                SOURCE,
                Key::open("least", $form, "none", "the least it may be"),
                Key::open("most", $form, "none", "the most it may be"),
            ]],
        }
    };
}

static NUMBER: TableSchema = entry!("Number of a device", ValueType::Integer(1, 65_536));
static TIME: TableSchema =
    entry!("Time of a device", ValueType::Times { least: "0 us", most: None, why: "" });
static WORD: TableSchema = entry!("Word of a device", ValueType::Text);

static FILE: TableSchema = TableSchema {
    title: "Device",
    about: "A Wi-Fi device that is sold.",
    groups: &[&[
        Key::need("scheme", ValueType::Table(&WORD), "its driver"),
        Key::need("standard", ValueType::Table(&WORD), "the newest that it can"),
        Key::need("streams", ValueType::Table(&NUMBER), "spatial streams"),
        Key::open("streams_160", ValueType::Table(&NUMBER), "as streams", "spatial streams in 160 MHz"),
        Key::need("width", ValueType::Table(&NUMBER), "MHz of the widest channel"),
        Key::need("frames", ValueType::Table(&NUMBER), "frames that its firmware has room for"),
        Key::need("report_frames", ValueType::Table(&NUMBER), "frames of a report at most"),
        Key::need("report_delay", ValueType::Table(&TIME), "how long a report waits"),
        Key::need("airtime_report", ValueType::Table(&WORD), "how the host learns of airtime"),
        Key::need("amsdu_frames", ValueType::Table(&NUMBER), "packets of an MPDU at most"),
        Key::need("amsdu_by", ValueType::Table(&WORD), "who joins packets"),
        Key::need("amsdu_bytes", ValueType::Table(&NUMBER), "bytes of the longest MPDU that it receives"),
        Key::open(
            "amsdu_sent",
            ValueType::Table(&NUMBER),
            "what the receiver announces",
            "bytes of an MPDU with several packets that it sends at most",
        ),
        Key::open("retry_limit", ValueType::Table(&NUMBER), "its driver's", "tries of a frame"),
        Key::need("block_ack_window", ValueType::Table(&NUMBER), "frames of a Block Ack session"),
    ]],
};

/// A commercial Wi-Fi device.
#[derive(PartialEq, Debug)]
pub struct Device {
    /// Name in a scenario.
    pub name: &'static str,
    /// Queueing scheme of the driver.
    pub scheme: Scheme,
    /// True for 802.11ax (HE), false for 802.11ac.
    pub he: bool,
    /// Spatial streams.
    pub streams: u8,
    /// Spatial streams in 160 MHz.
    pub streams_160: u8,
    /// Maximum channel width in MHz.
    pub width: u16,
    /// Maximum Block Ack window in frames that the device requests and grants.
    pub block_ack_window: u16,
    /// Maximum MPDU length in bytes that the device announces as a receiver.
    pub announces: u16,
    /// Maximum length in bytes of an MPDU with an A-MSDU that the device sends, regardless of the receiver's
    /// capabilities.
    pub sends: Option<u16>,
    /// Hardware attempts per frame, if different from the driver's default.
    pub retry_limit: Option<u8>,
    /// Parameters of the driver and firmware.
    pub firmware: FirmwareParams,
    /// Undocumented values: the key, and a text with the assumed value and its range.
    pub unknown: Vec<(&'static str, String)>,
}

impl Device {
    /// Returns the values of an interface with this device, from the device profile or the scenario, as text.
    pub fn numbers(&self, wifi: &Wifi) -> Vec<String> {
        let mut all = vec![
            format!(
                "802.11{}, {} streams{}, {} MHz",
                if self.he { "ax" } else { "ac" },
                self.streams,
                if self.streams_160 < self.streams {
                    format!(" ({} in 160 MHz)", self.streams_160)
                } else {
                    String::new()
                },
                self.width
            ),
            format!("block_ack_window {}, receives MPDUs of {} bytes", wifi.block_ack_window, self.announces),
        ];
        if let DriverConfig::Firmware(_, _, firmware) = &wifi.driver {
            let FirmwareParams { frames, report_frames, report_delay, amsdu_frames, .. } = firmware;
            all.push(format!("frames {frames}, amsdu_frames {amsdu_frames}"));
            all.push(format!(
                "report_frames {report_frames}, report_delay {} us",
                report_delay.nanos() / 1_000
            ));
        }
        all
    }
}

static DEVICES: LazyLock<Vec<Device>> = LazyLock::new(|| {
    let all = FILES.iter().map(|(name, text)| load(name, text)).collect::<Result<Vec<_>, Diagnostic>>();
    all.unwrap_or_else(|fault| {
        unreachable!("the project's own devices are tested: {}", fault.in_file("devices"))
    })
});

fn names() -> Vec<String> {
    FILES.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// A commercial Wi-Fi device, by name.
pub struct Product;

impl Domain for Product {
    type Value = &'static Device;
    const TYPE: ValueType =
        ValueType::Listed { title: "device", words: "a Wi-Fi device on the market, such as `mt7915`", names };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<&'static Device, Diagnostic> {
        let known = FILES.map(|(name, _)| name);
        let name = field.text(&suggest("", &known))?;
        if let Some((_, why)) = OTHERS.iter().find(|(other, _)| *other == name) {
            return Err(field.found(format!("{name}, of which {why}"), suggest("", &known)));
        }
        DEVICES.iter().find(|device| device.name == name).ok_or_else(|| field.wrong(suggest(name, &known)))
    }

    fn written(value: &&'static Device) -> Value {
        Value::String(value.name.to_owned())
    }
}

/// Reads a device file key by key.
struct Reader<'a> {
    root: Section<'a>,
    unknown: Vec<(&'static str, String)>,
}

impl<'a> Reader<'a> {
    /// Returns the value of a key, which must have either a source or a range.
    fn of<T>(
        &mut self,
        key: &'static str,
        value: impl Fn(&Field<'a>) -> Result<T, Diagnostic>,
        show: impl Fn(&T) -> String,
    ) -> Result<T, Diagnostic> {
        let field = self.root.need(key, "a table")?;
        let mut entry = field.section("a table")?;
        let taken = value(&entry.need("value", "a value")?)?;
        let source: Option<String> =
            entry.get("source").map(|field| field.text("a source").map(str::to_owned)).transpose()?;
        let ends = [entry.get("least"), entry.get("most")];
        match (source, ends) {
            (Some(source), [None, None]) if !source.is_empty() => {}
            (None, [Some(least), Some(most)]) => {
                let [least, most] = [value(&least)?, value(&most)?].map(|end| show(&end));
                self.unknown.push((key, format!("{} is assumed, of {least} to {most}", show(&taken))));
            }
            _ => return Err(field.wrong("a value with a source, or with least and most")),
        }
        entry.finish()?;
        Ok(taken)
    }

    fn number<T: Typed + ToString>(&mut self, key: &'static str) -> Result<T, Diagnostic> {
        self.of(key, |field| field.value(), ToString::to_string)
    }
}

fn load(name: &'static str, text: &str) -> Result<Device, Diagnostic> {
    let tree: Table = document::parse(text)?;
    let root = Section::new("", Origin::Line(1), &tree, &FILE, Parts::none());
    let mut file = Reader { root, unknown: Vec::new() };
    let scheme = file.of("scheme", |field| field.choice(&Scheme::ALL), |scheme| scheme.name().to_owned())?;
    let standards = [("802.11ac", false), ("802.11ax", true)];
    let he = file.of("standard", |field| field.choice(&standards), |_| String::new())?;
    let reports = [
        ("none", AirtimeReport::Nothing),
        ("frames", AirtimeReport::Frames),
        ("counters", AirtimeReport::Counters),
    ];
    let joins = [("firmware", false), ("mac80211", true)];
    let drops = scheme == Scheme::Ath11k;
    let firmware = FirmwareParams {
        frames: file.number("frames")?,
        full: if drops { WhenFirmwareFull::Drops } else { WhenFirmwareFull::Waits },
        report_frames: file.number("report_frames")?,
        report_delay: file.of(
            "report_delay",
            |field| field.value(),
            |time: &Duration| format!("{} us", time.nanos() / 1_000),
        )?,
        airtime: file.of("airtime_report", |field| field.choice(&reports), |_| String::new())?,
        amsdu_frames: file.number("amsdu_frames")?,
        host_joins: file.of("amsdu_by", |field| field.choice(&joins), |_| String::new())?,
        amsdu_bytes: None,
        shares_airtime: false,
        host_sessions: scheme == Scheme::Mt76,
    };
    let streams = file.number("streams")?;
    let streams_160 =
        if file.root.get("streams_160").is_some() { file.number("streams_160")? } else { streams };
    let device = Device {
        name,
        scheme,
        he,
        streams,
        streams_160,
        width: file.number("width")?,
        block_ack_window: file.number("block_ack_window")?,
        announces: file.number("amsdu_bytes")?,
        sends: if file.root.get("amsdu_sent").is_some() { Some(file.number("amsdu_sent")?) } else { None },
        retry_limit: if file.root.get("retry_limit").is_some() {
            Some(file.number("retry_limit")?)
        } else {
            None
        },
        firmware,
        unknown: file.unknown,
    };
    file.root.finish()?;
    Ok(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, scheme, streams, MHz, frames, packets per A-MSDU, maximum MPDU received and sent, window,
    /// undocumented keys.
    type Row = (&'static str, &'static str, u8, u16, u32, u8, u16, Option<u16>, u16, &'static str);

    #[rustfmt::skip]
    const TABLE: [Row; 11] = [
        ("ipq8074", "ath11k", 4, 160, 4_096, 4, 11_454, None, 256, "frames amsdu_frames streams width amsdu_bytes"),
        ("mt7615",  "mt76",   4, 160, 4_032, 6,  3_895, None, 64, "report_delay"),
        ("mt7915",  "mt76",   4, 160, 8_128, 8,  7_991, Some(7_991), 256, "report_delay"),
        ("mt7916",  "mt76",   2, 160, 8_128, 8, 11_454, None, 256, "report_delay"),
        ("mt7921",  "mt76",   2,  80, 8_128, 8, 11_454, Some(7_991), 256, "report_delay"),
        ("mt7922",  "mt76",   2, 160, 8_128, 8, 11_454, Some(7_991), 256, "report_delay streams"),
        ("qca4019", "ath10k", 2,  80, 2_500, 3, 11_454, None, 64, "frames report_delay amsdu_bytes"),
        ("qca9880", "ath10k", 3,  80, 1_424, 3, 11_454, None, 64, "report_delay amsdu_bytes"),
        ("qca9984", "ath10k", 4, 160, 2_500, 3, 11_454, None, 64, "frames report_delay amsdu_bytes"),
        ("qcn9074", "ath11k", 4, 160, 4_096, 4, 11_454, None, 256, "frames amsdu_frames streams width amsdu_bytes"),
        ("wcn6855", "ath11k", 2, 160, 4_096, 4, 11_454, None, 256, "frames amsdu_frames streams width amsdu_bytes"),
    ];

    #[test]
    fn every_number_has_a_source_or_a_range() {
        // Keys with neither a source nor a range, or with both, are rejected.
        let good = FILES[2].1;
        assert!(load("good", good).is_ok());
        for (from, to) in [
            (", source = \"linux: mt76/mt76_connac2_mac.h MT_TX_FREE_MSDU_CNT (6.12) - 10 bits\"", ""),
            (", least = \"0 us\", most = \"1 ms\"", ""),
            (", least = \"0 us\"", ""),
            ("least = \"0 us\"", "source = \"guessed\", least = \"0 us\""),
        ] {
            assert!(good.contains(from), "{from}");
            let fault = load("bad", &good.replace(from, to)).expect_err(from);
            assert!(fault.in_file("f").to_string().contains("a source, or with least and most"), "{from}");
        }
    }

    #[test]
    fn device_profiles() {
        let rows: Vec<_> = DEVICES
            .iter()
            .map(|d| {
                let unknown: Vec<_> = d.unknown.iter().map(|(key, _)| *key).collect();
                let f = &d.firmware;
                let numbers =
                    (d.streams, d.width, f.frames, f.amsdu_frames, d.announces, d.sends, d.block_ack_window);
                (d.name, d.scheme.name(), numbers, unknown.join(" "))
            })
            .collect();
        let want: Vec<_> = TABLE
            .iter()
            .map(|&(n, s, a, b, c, d, e, f, g, u)| (n, s, (a, b, c, d, e, f, g), u.to_owned()))
            .collect();
        assert_eq!(rows, want);
        assert!(OTHERS.iter().all(|(other, _)| DEVICES.iter().all(|device| device.name != *other)));
    }
}
