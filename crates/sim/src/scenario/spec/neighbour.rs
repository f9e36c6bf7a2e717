//! Neighbouring networks as load.

use stillair_model::types::Duration;
use stillair_scenario_derive::Section;

use super::super::description::ValueType;
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::Field;
use super::super::units;
use super::channel::ChannelName;
use super::domain::{FileName, Inner, Int, Period, Series, Share, Steps, Thing, alternatives, quantity};
use super::{Domain, Key};

/// A neighbouring network as load: its senders contend as stations with best effort do, everybody hears them,
/// and their frames are in no capture. What it asks for is what it gets while there is room; with 1 it sends
/// without end.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Neighbour", expected = "a table with channel, load and frame")]
pub struct Neighbour {
    /// the channel that it is on
    #[key(need = "the name of a channel")]
    pub channel: Key<ChannelName>,
    /// share of time that its PPDUs and their acknowledgements take; a list starts with a value and continues
    /// with changes
    #[key(need = "a share of time from 0 to 1")]
    pub load: Key<Load>,
    /// how long each PPDU lasts
    #[key(need = "how long each PPDU lasts")]
    pub frame: Key<Frame>,
    /// stations that send, by turns at random
    #[key(default = "1")]
    pub senders: Key<Int<1, 64, u16>>,
    /// maximum number of PPDUs that wait at each sender; further ones are not sent
    // 1000 packets, txqueuelen's default, in aggregates of 32.
    #[key(default = "32")]
    pub queue: Key<Int<1, 100_000>>,
}

impl Thing for Inner<Neighbour> {
    const WHAT: &'static str = "neighbour";
}

/// The load from a time on.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Change of a load", expected = "a table with at and load")]
pub struct LoadChange {
    /// when it changes, after the one before and before the end of the run
    #[key(need = "when it changes")]
    pub at: Key<Period>,
    /// the new value
    #[key(need = "the new value")]
    pub load: Key<Share>,
}

/// Lines of time in s and share of time: `0.5, 0.25`. The first is at 0 s, the last holds for good;
/// `t_s,busy` may stand above them.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Load from lines of shares", kind = "shares")]
pub struct Shares {
    /// file name, relative to the scenario's folder
    #[key(need = "the name of a file")]
    pub file: Key<FileName>,
}

/// What `iw dev wlan0 survey dump` printed, at least twice, one after the other: of the channel in use, the
/// growth of busy time but for transmit time over that of active time; the last share holds for good.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Load from a survey", kind = "survey")]
pub struct Survey {
    /// file name, relative to the scenario's folder
    #[key(need = "the name of a file")]
    pub file: Key<FileName>,
}

alternatives! {
    /// A file of shares of time.
    pub enum LoadFile: "a table with kind and file" { Shares, Survey }
}

/// A constant or changing share of time, or one read from a file.
#[derive(Clone, Debug)]
pub enum Load {
    /// Given in the scenario.
    Steps(Series<f64, LoadChange>),
    /// Read from a file.
    File(LoadFile),
}

impl Domain for Load {
    type Value = Self;
    const TYPE: ValueType =
        ValueType::Either(&[Share::TYPE, ValueType::List(&Steps::<Share, LoadChange>::ONE), LoadFile::TYPE]);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self, Diagnostic> {
        if let Value::Table(_) = field.item.value {
            let field = Field { form: &const { LoadFile::TYPE }, ..field.clone() };
            return LoadFile::read(&field, faults).map(Self::File);
        }
        let steps = Steps::<Share, LoadChange>::read(field, faults)?;
        if steps.first.is_none() {
            return Err(field.wrong("a share of time from 0 to 1, or a list that begins with one"));
        }
        Ok(Self::Steps(steps))
    }

    fn written(value: &Self) -> Value {
        match value {
            Self::Steps(steps) => Steps::<Share, LoadChange>::written(steps),
            Self::File(file) => LoadFile::written(file),
        }
    }
}

quantity! {
    /// Duration of a PPDU.
    // spec: ieee80211-2016 10.22.2.9 and table 19-25 - aPPDUMaxTime, 5.484 ms; an ACK at 54 Mbit/s lasts 24
    // us.
    Frame: Duration = ValueType::Times {
        least: "24 us",
        most: Some("5.484 ms"),
        why: "an ACK at 54 Mbit/s to the longest PPDU of HT",
    }, "_ns", units::duration_text;
}
