//! Interference that is not Wi-Fi.

use stillair_model::types::Duration;
use stillair_scenario_derive::Section;

use super::super::description::ValueType;
use super::super::units;
use super::Key;
use super::channel::ChannelName;
use super::domain::{
    Choice, FileName, Inner, Level, Period, Position, Thing, Time, alternatives, named, quantity,
};

/// A non-Wi-Fi source: it does not defer, makes the medium busy where it is strong enough
/// (`cca_ed_threshold` of the channel), and is noise to received frames. It is spread evenly over the
/// channel. Every station on the channel needs an `snr`, a `distance` or a position.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Interference", expected = "a table with channel and power")]
pub struct Interference {
    /// the channel that it is on
    #[key(need = "the name of a channel")]
    pub channel: Key<ChannelName>,
    /// its level at every receiver, in 20 MHz
    #[key(or = "by `position`")]
    pub power: Key<Level>,
    /// its position: its level at each node follows from the channel's loss, and every node on the channel
    /// needs a position
    #[key(or = "equally loud everywhere")]
    pub position: Key<Position>,
    /// the level that it sends at, in 20 MHz, with `position`
    #[key(or = "none")]
    pub tx_power: Key<Level>,
    /// when it is on
    #[key(default = "always")]
    pub pattern: Key<Pattern>,
    /// from when on it works, before the end of the run
    #[key(default = "0 s")]
    pub start: Key<Time>,
    /// until when it works, after `start`
    #[key(or = "the end of the run")]
    pub stop: Key<Period>,
}

impl Thing for Inner<Interference> {
    const WHAT: &'static str = "interference";
}

alternatives! {
    /// When a source is on.
    pub enum Pattern: bare {
        Always,
        Cycle needs "a table with its times",
        Microwave,
        Random needs "a table with its times",
        Trace needs "a table with its file",
    }
}

/// On throughout.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Pattern always", kind = "always")]
pub struct Always {}

/// On for the first part of each period.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Pattern cycle", kind = "cycle")]
pub struct Cycle {
    /// how long it is on
    #[key(need = "how long it is on")]
    pub on: Key<On>,
    /// from one beginning to the next, longer than `on`
    #[key(need = "a time longer than on")]
    pub period: Key<On>,
    /// How it begins.
    #[key(group, or = "drawn for each run")]
    pub phase: Phase,
}

/// A household's microwave oven: on for half of each cycle of the mains, as its magnetron is fed by one half
/// of the wave.
// paper: Gawthrop, Sanders, Nebbia and Sell, Radio spectrum measurements of individual microwave ovens (NTIA
// report 94-303, 1994), and Kamerman and Erkocevic, Microwave oven interference on wireless LANs operating in
// the 2.4 GHz ISM band (IEEE PIMRC 1997) - a domestic oven emits once per mains cycle; its magnetron is off
// for the other half-wave.
// deviation: a burst has constant power and lasts a full half-cycle - real ones are slightly shorter.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Pattern microwave", kind = "microwave")]
pub struct Microwave {
    /// the mains: on for 10 of 20 ms, or for 8.3 of 16.7 ms
    #[key(default = "50 Hz")]
    pub mains: Key<Choice<Mains>>,
    /// How it begins.
    #[key(group, or = "drawn for each run")]
    pub phase: Phase,
}

/// On and off for exponentially distributed times.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Pattern random", kind = "random")]
pub struct Random {
    /// mean time on
    #[key(need = "the mean time on")]
    pub on: Key<On>,
    /// mean time off
    #[key(need = "the mean time off")]
    pub off: Key<On>,
}

/// Lines of time in s after `start` and 1 for on or 0 for off: `0.5, 1`. The first is at 0 s; `t_s,on` may
/// stand above them.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "Pattern trace", kind = "trace")]
pub struct Trace {
    /// file name, relative to the scenario's folder
    #[key(need = "the name of a file")]
    pub file: Key<FileName>,
    /// interval after which the pattern repeats
    #[key(or = "the last line holds for good")]
    pub repeat: Key<Period>,
}

/// Start of a periodic source.
#[derive(Section, Clone, Debug, Default)]
pub struct Phase {
    /// how long after `start` the first period begins, less than a period
    #[key(or = "drawn for each run")]
    pub phase: Key<Time>,
}

/// Mains frequency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mains {
    /// 50 Hz.
    Hz50,
    /// 60 Hz.
    Hz60,
}

named!(Mains { Hz50 = "50 Hz", Hz60 = "60 Hz" });

quantity! {
    /// On-time of a source. Shorter times are below the frames and gaps of a channel, and cost an event each.
    On: Duration = ValueType::Times {
        least: "10 us",
        most: Some("1000 s"),
        why: "shorter than that is shorter than a gap between frames",
    }, "_ns", units::duration_text;
}
