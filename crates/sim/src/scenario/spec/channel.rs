//! Wi-Fi channels.

use stillair_model::types::Duration;
use stillair_model::wifi::phy::frame::Cipher;
use stillair_model::wifi::phy::{Band, Width};
use stillair_scenario_derive::Section;

use super::super::description::ValueType;
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::Field;
use super::super::{network, units};
use super::domain::{Choice, Flag, Inner, Level, OrOff, Ratio, Thing, as_written, named, quantity};
use super::link::OfMedium;
use super::{Domain, Key};

/// One medium, which everyone on it shares.
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Channel",
    expected = "a table with band and width",
    params = network::Channel,
    base = network::Channel::default()
)]
pub struct Channel {
    /// frequency band; at 6 GHz all data goes at rates of HE (802.11ax)
    #[key(to = band, hidden, need = "one of \"2.4 GHz\", \"5 GHz\", \"6 GHz\"")]
    pub band: Key<Choice<Band>>,
    /// channel width, at most 40 MHz at 2.4 GHz; stations may use less
    #[key(to = width, hidden, need = "one of \"20 MHz\", \"40 MHz\", \"80 MHz\", \"160 MHz\"")]
    pub width: Key<Choice<Width>>,
    /// Its MTU.
    #[key(group)]
    pub mtu: OfMedium,
    /// lowest basic rate: that of beacons and other management frames
    #[key(or = "`dsss-1` at 2.4 GHz, `ofdm-6` at 5 and 6 GHz")]
    pub basic_rate: Key<LegacyRate>,
    /// how data frames are encrypted: with `ccmp` (WPA2) each is 16 bytes longer
    #[key(to = cipher, hidden)]
    pub cipher: Key<Choice<Cipher>>,
    /// long slot time: 20 us instead of 9 us
    #[key(or = "`true` if a station on the channel is 802.11b-only")]
    pub long_slot: Key<Flag>,
    /// CTS-to-self before each OFDM frame, as in Linux: at 11 Mbit/s (24 at 5 GHz), before frames of HT and
    /// later at 1 Mbit/s (6 at 5 GHz)
    #[key(or = "`true` if a station on the channel is 802.11b-only")]
    pub protection: Key<Flag>,
    /// a frame that finds the medium busy and has no back-off left draws a new one, as the standard requires;
    /// `false`: a back-off is drawn only after a transmission, as by simulated radios (mac80211_hwsim)
    #[key(to = busy_backoff)]
    pub busy_backoff: Key<Flag>,
    /// time between beacons of each access point
    #[key(to = beacon_interval, default = "102.4 ms")]
    pub beacon_interval: Key<OrOff<BeaconInterval>>,
    /// transmit power of all radios on the channel
    #[key(to = path_loss.tx_power)]
    pub tx_power: Key<Level>,
    /// loss over the first metre
    #[key(to = path_loss.at_1m, or = "40.2 dB at 2.4 GHz, 46.7 dB at 5 GHz, 47.9 dB at 6 GHz")]
    pub reference_loss: Key<Ratio>,
    /// path loss exponent: each tenfold distance adds ten times this in dB. 2 in free space, 3 between walls
    #[key(to = path_loss.per_decade, hidden, default = "3.0")]
    pub path_loss_exponent: Key<Exponent>,
    /// level of the noise in 20 MHz, the receiver's own included
    #[key(to = path_loss.noise)]
    pub noise: Key<Level>,
    /// hidden stations: in each list no node or interface hears any other
    #[key(or = "everybody hears everybody")]
    pub hidden: Key<Groups>,
    /// in each list the nodes or interfaces sense each other (the medium becomes busy) and decode nothing
    #[key(or = "none: every radio that senses a frame understands it")]
    pub sense_only: Key<Groups>,
    /// capture: a frame survives if it is this much louder at its receiver than all others on the air
    /// together. Every node on the channel then needs a `position`
    #[key(or = "off")]
    pub capture: Key<Capture>,
    /// least level at which a transmission is sensed, of nodes with a `position`
    #[key(to = cca_sensitivity, hidden)]
    pub cca_sensitivity: Key<Level>,
    /// least level at which a preamble is understood, of nodes with a `position`
    #[key(to = preamble_detection_threshold, hidden)]
    pub preamble_detection_threshold: Key<Level>,
    /// least level of interference in 20 MHz that makes the medium busy
    #[key(to = cca_ed_threshold, hidden)]
    pub cca_ed_threshold: Key<Level>,
}

impl Thing for Inner<Channel> {
    const WHAT: &'static str = "channel";
}

named!(Band { Ghz2 = "2.4 GHz", Ghz5 = "5 GHz", Ghz6 = "6 GHz" });
named!(Width { Mhz20 = "20 MHz", Mhz40 = "40 MHz", Mhz80 = "80 MHz", Mhz160 = "160 MHz" });
named!(Cipher { None = "none", Ccmp = "ccmp" });

quantity! {
    /// 15 to 65,535 time units of 1024 us.
    // hostapd: hostapd/config_file.c beacon_int (2.10) - rejects other values; the beacon's field has 16
    // bits.
    BeaconInterval: Duration = ValueType::Times {
        least: "15.36 ms",
        most: Some("67.10784 s"),
        why: "the 15 to 65535 time units that hostapd takes",
    }, "_ns", units::duration_text;
}

as_written! {
    /// The name of a channel.
    ChannelName = ValueType::Name("channel");
    /// Lists of nodes or interfaces.
    Groups = ValueType::List(&ValueType::List(&ValueType::Name("end")));
    /// A rate without HT.
    LegacyRate = ValueType::Listed {
        title: "legacy-rate",
        words: "a rate such as `dsss-1` or `ofdm-6`",
        names: units::legacy_rates,
    };
}

/// A path loss exponent.
pub struct Exponent;

impl Domain for Exponent {
    /// Thousandths of a decibel per decade of distance.
    type Value = i32;
    const TYPE: ValueType = ValueType::Number(0.0, 10.0);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<i32, Diagnostic> {
        field.value::<f64>().map(|exponent| (exponent * 10_000.0).round() as i32)
    }

    fn written(value: &i32) -> Value {
        Value::Float(f64::from(*value) / 10_000.0)
    }
}

/// A ratio of at most 60 dB, or `off`.
pub struct Capture;

impl Domain for Capture {
    /// Thousandths of a decibel.
    type Value = Option<u32>;
    const TYPE: ValueType = ValueType::Written {
        words: "`off`, or a ratio of `0 dB` to `60 dB`",
        pattern: r"^(off|[1-5]?[0-9](\.[0-9]{1,3})? ?dB|60 ?dB)$",
        examples: &["off", "0 dB", "9.5 dB", "60 dB"],
    };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Option<u32>, Diagnostic> {
        if matches!(&field.item.value, Value::String(off) if off == "off") {
            return Ok(None);
        }
        let threshold = field.unit(units::ratio).ok().and_then(|ratio| u32::try_from(ratio).ok());
        let right = "\"off\", or a ratio of 0 dB to 60 dB";
        threshold.filter(|t| *t <= 60_000).map(Some).ok_or_else(|| field.wrong(right))
    }

    fn written(value: &Option<u32>) -> Value {
        value.map_or_else(|| Value::String("off".to_owned()), |ratio| Ratio::written(&(ratio as i32)))
    }
}
