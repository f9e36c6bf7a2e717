//! A station's path to its access point: rates, losses and traces.

use stillair_model::wifi::phy::{PhyRate, RetryChain, Width};
use stillair_model::wifi::rate::minstrel::LegacyMinstrel;
use stillair_model::wifi::rate::table::Formats;
use stillair_scenario_derive::Section;

use super::super::description::ValueType;
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::Field;
use super::super::units;
use super::domain::{
    Bytes, Choice, FileName, Flag, Inner, Int, Length, List, Listed, Named, OneOrTable, OrTable, Period,
    Ratio, Share, Steps, Time, alternatives, as_written, named,
};
use super::{Domain, Key};

/// Keys of a station's interface.
#[derive(Section, Clone, Debug, Default)]
pub struct OfStation {
    /// its access point, such as `ap.wlan0`
    #[key(need = "its access point's interface, such as \"ap.wlan0\"")]
    pub ap: Key<AccessPoint>,
    /// interface whose radio it shares, such as `wlan0`: a second station on one radio, or a relay if that
    /// interface is an access point
    #[key(or = "its own radio")]
    pub radio: Key<Radio>,
    // linux: net/wireless/nl80211.c NL80211_ATTR_AIRTIME_WEIGHT (5.1) - 1 to 65535.
    /// its share of the airtime against other stations', where its access point's scheme is `mac80211`;
    /// hardly any effect with `ath10k` and `mt76`, whose firmware serves stations in an order of its own
    #[key(default = "256")]
    pub airtime_weight: Key<Int<1, 65_535>>,
    /// fixed rate of both directions, no wider than the channel; or a rate control, which runs at each end
    #[key(need = "a rate such as \"ht20-mcs15-sgi\"")]
    pub rate: Key<Rate>,
    /// one to four rates tried in turn, the first being `rate`. Not with a rate control, which makes its own.
    /// An empty list removes an inherited one
    #[key(
        or = "`rate` alone, tried four times; single frames of `mt76`, `ath10k` and `ath11k` as often as `retry_limit` says"
    )]
    pub retry_chain: Key<Chain>,
    /// rate of frames the station sends, if different; `rate` is then only for frames to the station
    #[key(or = "as `rate`")]
    pub uplink_rate: Key<Rate>,
    /// the chain that begins with `uplink_rate`, as `retry_chain`
    #[key(or = "`uplink_rate` alone, as `retry_chain`")]
    pub uplink_retry_chain: Key<Chain>,
    /// signal-to-noise ratio in 20 MHz, both ways. Loss follows from it by rate and frame length. A list
    /// starts with a value and continues with up to 15 changes; an empty list removes an inherited one
    #[key(or = "errors are given")]
    pub snr: Key<Steps<Ratio, SnrChange>>,
    /// distance to the access point; `snr` follows by the channel's path loss. A list starts with a distance
    /// and continues with up to 15 changes
    #[key(or = "errors are given")]
    pub distance: Key<Steps<Length, DistanceChange>>,
    /// probability that a data MPDU is corrupted: one for all rates, or by rate
    #[key(or = "0.0 without `snr` and `distance`")]
    pub error_rate: Key<Chances>,
    /// probability that an ACK or Block Ack is lost
    #[key(or = "0.0 without `snr` and `distance`")]
    pub ack_error_rate: Key<Share>,
    /// probability that the preamble of a data PPDU is not understood, so that the whole PPDU is missed
    #[key(or = "0.0 without `snr` and `distance`")]
    pub preamble_loss_rate: Key<Share>,
    /// a file of rate and loss over time, in both directions, instead of `error_rate`, `snr` and `distance`;
    /// beside a fixed HT `rate`. A changed rate applies from the next PPDU on
    #[key(or = "none")]
    pub trace: Key<Trace>,
}

as_written! {
    /// The interface of an access point.
    AccessPoint = ValueType::Name("interface");
    /// The interface whose radio another interface shares.
    Radio = ValueType::Name("radio");
}

alternatives! {
    /// Rate control.
    pub enum Control: bare { MinstrelHt, Minstrel, Ath9kHtc }
}

/// Minstrel-HT as the kernel of each end has it. Both ends can do the same.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Rate control minstrel_ht", kind = "minstrel_ht")]
pub struct MinstrelHt {
    /// most spatial streams
    #[key(default = "2")]
    pub streams: Key<Int<1, 4, u8>>,
    /// widest channel; no wider than the channel
    #[key(or = "the channel's width, required at 160 MHz; at most 40 MHz with `standard = \"802.11n\"`")]
    pub width: Key<UpTo<3>>,
    /// rates that both ends support: HT, or VHT (at 5 GHz). 802.11ax has none: Linux sends to such a station
    /// at VHT rates
    #[key(or = "`802.11ac` where `width` is 80 MHz, else `802.11n`")]
    pub standard: Key<Standard>,
    /// 802.11ac stations get no HT rates: the parameter `minstrel_vht_only` of the kernel's module
    #[key(or = "true")]
    pub vht_only: Key<Flag>,
    /// the short guard interval may be used
    #[key(default = "true")]
    pub short_gi: Key<Flag>,
    /// MCS that frames of this link may be sent at, in both directions: in place of another that rate control
    /// chooses or probes the next lower one, as with `iw set bitrates` (which limits all that one interface
    /// sends); not with `802.11ac`
    #[key(or = "all")]
    pub ht_mcs: Key<Schemes>,
}

/// Minstrel, the rate control of Linux for stations without HT, as it was until it became a part of
/// Minstrel-HT (5.12).
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Rate control minstrel", kind = "minstrel")]
pub struct Minstrel {
    /// what both ends can do: OFDM, DSSS and CCK, or both of them
    #[key(or = "`802.11a` at 5 GHz, `802.11g` at 2.4 GHz")]
    pub standard: Key<Choice<LegacyMinstrel>>,
}

/// The rate control of the AR9271's firmware, which replaces mac80211's: two tries each at three rates, each
/// slower than the previous one, and four at the next, all but the first with RTS; based on packet error
/// rates.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Rate control ath9k_htc", kind = "ath9k_htc")]
pub struct Ath9kHtc {
    /// width of HT transmissions; at most the width of the channel
    #[key(or = "the channel's")]
    pub width: Key<UpTo<2>>,
    /// the short guard interval may be used
    #[key(default = "true")]
    pub short_gi: Key<Flag>,
}

/// A rate with its number of tries, and whether each of them begins with RTS and CTS.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Entry of a retry chain", expected = "a table with rate and tries")]
pub struct ChainEntry {
    /// the rate
    #[key(need = "a rate such as \"mcs15\"")]
    pub rate: Key<InChain>,
    /// tries before the next entry
    // linux: drivers/net/wireless/ath/ath9k/mac.h AR_XmitDataTries0 (4.4) - four bits in the
    // descriptor.
    #[key(default = "4")]
    pub tries: Key<Int<1, 15, u8>>,
    /// each try begins with RTS and CTS, at the control rate of the entry's rate; an RTS without an answer is
    /// a try
    // linux: include/net/mac80211.h IEEE80211_TX_RC_USE_RTS_CTS (4.14) - a flag of each entry.
    #[key(default = "false")]
    pub rts: Key<Flag>,
}

/// The ratio from a time on.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Change of a ratio", expected = "a table with at and snr")]
pub struct SnrChange {
    /// when it changes, after the one before
    #[key(need = "a time such as \"5 s\"")]
    pub at: Key<Period>,
    /// the new value
    #[key(need = "a ratio such as \"25 dB\"")]
    pub snr: Key<Ratio>,
}

/// The distance from a time on.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Change of a distance", expected = "a table with at and distance")]
pub struct DistanceChange {
    /// when it changes, after the one before
    #[key(need = "a time such as \"5 s\"")]
    pub at: Key<Period>,
    /// the new value
    #[key(need = "a distance such as \"20 m\"")]
    pub distance: Key<Length>,
}

/// The probability that a data MPDU is corrupted at some rates. Every rate that the station may use must be
/// in the list once, and may be in it again for a later time.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Error rate by rate", expected = "a table with rates and probability")]
pub struct ByRate {
    /// the rates
    #[key(need = "a rate such as \"mcs7\", or a list of them")]
    pub rates: Key<RatesNamed>,
    /// the probability
    #[key(need = "a fraction from 0 to 1")]
    pub probability: Key<Share>,
    /// MPDU length for which the probability holds, from MAC header to FCS (1538 for a full packet). Errors
    /// affect each byte alike, so longer frames are corrupted more often
    #[key(or = "it holds for frames of any length")]
    pub bytes: Key<Bytes<1, 65_535>>,
    /// time from which the probability applies; entries are in the order of their times, starting with those
    /// that apply from the start
    #[key(default = "0 s")]
    pub at: Key<Time>,
}

alternatives! {
    /// A file of rate and loss over time.
    pub enum Trace: "a table with kind and file" { Rates, Mahimahi, Theaterq }
}

/// Each line has a time in s, a rate (`mcs3` takes width and guard interval from `rate`) and the share of
/// corrupted data frames: `0.5, mcs3, 0.1`. The first line is at 0 s, the last applies until the end. The
/// header `t_s,rate,error_rate` is optional.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Trace of rates", kind = "rates")]
pub struct Rates {
    /// file name, relative to the scenario's folder
    #[key(need = "the name of a file")]
    pub file: Key<FileName>,
}

/// Lines of times in ms at which 1504 bytes may leave. In each tenth of a second the rate is the fastest HT
/// rate with the width, guard interval and at most the streams of `rate` that carries no more, MCS 0 at
/// least; where nothing may leave, nothing is heard.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Trace of mahimahi", kind = "mahimahi")]
pub struct Mahimahi {
    /// file name, relative to the scenario's folder
    #[key(need = "the name of a file")]
    pub file: Key<FileName>,
    /// repeat the trace when it ends, as mahimahi does; if false, its last rate applies until the end
    #[key(default = "true")]
    pub repeat: Key<Flag>,
}

/// Each line has duration, latency, rate, loss and limit, or nine or ten fields. Only rate and loss are used.
/// The rate becomes an HT rate as with mahimahi; -1 (no limit) becomes `rate` itself, and at 0 nothing is
/// received. The loss is the share of corrupted data frames.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Trace of TheaterQ", kind = "theaterq")]
pub struct Theaterq {
    /// file name, relative to the scenario's folder
    #[key(need = "the name of a file")]
    pub file: Key<FileName>,
    /// repeat the trace when it ends (`cont LOOP`); if false, its last values apply until the end
    /// (`cont HOLD`)
    #[key(default = "false")]
    pub repeat: Key<Flag>,
}

named!(LegacyMinstrel { A = "802.11a", B = "802.11b", G = "802.11g" });
named!(Formats { Ht = "802.11n", Vht = "802.11ac" });

/// A fixed rate, or a rate control.
#[derive(Clone, Debug)]
pub enum Rate {
    /// A fixed rate.
    Fixed(PhyRate),
    /// A rate control.
    Control(Control),
}

impl Domain for Rate {
    type Value = Self;
    const TYPE: ValueType = ValueType::Either(&[
        ValueType::Listed {
            title: "rate",
            words: "a rate such as `ht20-mcs15-sgi`, `ht40-mcs7-lgi`, `vht80-mcs9-nss2-sgi`, `he80-mcs11-nss2-gi0.8`, `ofdm-24` or `cck-11`",
            names: || units::phy_rates(false),
        },
        Control::TYPE,
    ]);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self, Diagnostic> {
        let is_control = match &field.item.value {
            Value::Table(_) => true,
            Value::String(text) => field.kinds().iter().any(|kind| kind == text),
            _ => false,
        };
        if is_control {
            let field = Field { form: const { &Control::TYPE }, ..field.clone() };
            return Control::read(&field, faults).map(Self::Control);
        }
        field.unit(|text| units::phy_rate(text, None)).map(Self::Fixed)
    }

    fn written(value: &Self) -> Value {
        match value {
            Self::Fixed(rate) => Value::String(rate.to_string()),
            Self::Control(control) => Control::written(control),
        }
    }
}

/// A rate of a retry chain, which may inherit width and guard interval from the first. Stored as text.
pub struct InChain;

impl Domain for InChain {
    type Value = String;
    const TYPE: ValueType = ValueType::Listed {
        title: "rate-in-chain",
        words: "a rate; `mcs14` takes width and guard interval from `rate`",
        names: || units::phy_rates(true),
    };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<String, Diagnostic> {
        Ok(match &field.item.value {
            Value::String(text) => text.clone(),
            other => other.describe(),
        })
    }

    fn written(value: &String) -> Value {
        Value::String(value.clone())
    }
}

/// The rates of a retry chain; an empty list cancels an inherited chain.
pub struct Chain;

impl Domain for Chain {
    type Value = Vec<Listed<OneOrTable<String, ChainEntry>>>;
    const TYPE: ValueType = List::<OrTable<InChain, ChainEntry>>::TYPE;

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self::Value, Diagnostic> {
        let right = "a list of one to four rates";
        match field.list().len() {
            _ if !field.is_list() => Err(field.wrong(right)),
            n if n > RetryChain::MAX => Err(field.found(format!("{n} rates"), right)),
            _ => List::<OrTable<InChain, ChainEntry>>::read(field, faults),
        }
    }

    fn written(value: &Self::Value) -> Value {
        List::<OrTable<InChain, ChainEntry>>::written(value)
    }
}

/// One of the first `N` widths.
pub struct UpTo<const N: usize>;

impl<const N: usize> Domain for UpTo<N> {
    type Value = Width;
    const TYPE: ValueType = ValueType::Choice(Width::NAMES.split_at(N).0);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Width, Diagnostic> {
        field.choice(&<Width as Named>::ALL[..N])
    }

    fn written(value: &Width) -> Value {
        Choice::<Width>::written(value)
    }
}

/// A standard supported by Minstrel-HT.
pub struct Standard;

impl Domain for Standard {
    type Value = Formats;
    const TYPE: ValueType = Choice::<Formats>::TYPE;

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Formats, Diagnostic> {
        if matches!(&field.item.value, Value::String(text) if text == "802.11ax") {
            return Err(field.found(
                "802.11ax, of which mac80211's minstrel_ht has no rates",
                "802.11ac, at whose rates it sends to such stations too, or a fixed rate such as \"he80-mcs11-nss2-gi0.8\" in place of rate control",
            ));
        }
        Choice::<Formats>::read(field, faults)
    }

    fn written(value: &Formats) -> Value {
        Choice::<Formats>::written(value)
    }
}

/// A non-empty list of MCS.
pub struct Schemes;

impl Domain for Schemes {
    type Value = Vec<Listed<u8>>;
    const TYPE: ValueType = List::<Int<0, 31, u8>>::TYPE;

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self::Value, Diagnostic> {
        if !field.is_list() || field.list().is_empty() {
            return Err(field.wrong("a list of at least one MCS"));
        }
        List::<Int<0, 31, u8>>::read(field, faults)
    }

    fn written(value: &Self::Value) -> Value {
        List::<Int<0, 31, u8>>::written(value)
    }
}

/// Rates by name; one name may select several rates.
pub struct RatesNamed;

/// A name that selects one or more rates.
pub struct RateName;

impl Domain for RateName {
    type Value = Vec<PhyRate>;
    const TYPE: ValueType = ValueType::Listed {
        title: "rate-with-errors",
        words: "a rate; `mcs14` is that of 802.11n at any width and guard interval",
        names: || units::phy_rates(true),
    };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Self::Value, Diagnostic> {
        field.unit(units::phy_rates_named)
    }

    fn written(value: &Self::Value) -> Value {
        Value::Array(value.iter().map(|rate| super::item(Value::String(rate.to_string()))).collect())
    }
}

impl Domain for RatesNamed {
    type Value = Vec<Listed<Vec<PhyRate>>>;
    const TYPE: ValueType = ValueType::Either(&[RateName::TYPE, List::<RateName>::TYPE]);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self::Value, Diagnostic> {
        List::<RateName>::read(field, faults)
    }

    fn written(value: &Self::Value) -> Value {
        List::<RateName>::written(value)
    }
}

/// One error probability for all rates, or one by rate.
#[derive(Clone, Debug)]
pub enum Chances {
    /// The same for all rates.
    Same(f64),
    /// By rate.
    ByRate(Vec<Listed<ByRate>>),
}

impl Domain for Chances {
    type Value = Self;
    const TYPE: ValueType = ValueType::Either(&[Share::TYPE, List::<Inner<ByRate>>::TYPE]);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self, Diagnostic> {
        if field.is_list() {
            return List::<Inner<ByRate>>::read(field, faults).map(Self::ByRate);
        }
        Share::read(field, faults).map(Self::Same)
    }

    fn written(value: &Self) -> Value {
        match value {
            Self::Same(chance) => Share::written(chance),
            Self::ByRate(all) => List::<Inner<ByRate>>::written(all),
        }
    }
}
