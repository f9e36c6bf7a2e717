//! Wi-Fi devices.

use stillair_model::vocabulary::Duration;
use stillair_model::wifi::air::edca::EdcaParams;
use stillair_model::wifi::air::filter::DestinationFilter;
use stillair_model::wifi::config::{DriverConfig, HardwareDepth};
use stillair_model::wifi::phy::PhyRate;
use stillair_model::wifi::power::saver::SaverParams;
use stillair_model::wifi::power::scan::ScanParams;
use stillair_model::wifi::rx::interrupts::RxMitigation;
use stillair_model::wifi::rx::retry_out::RetryOutParams;

use super::super::{Device, PathTrace, Scheme, Station};
use super::InterfaceRef;

/// A Wi-Fi device.
#[derive(Clone, PartialEq, Debug)]
pub struct Wifi {
    /// Position in [`Scenario::channels`](super::super::Scenario::channels).
    pub channel: usize,
    /// Access point or station.
    pub role: Role,
    /// The scheme it was given, of which `driver` and the qdisc follow; for reports.
    pub scheme: Scheme,
    /// Queues and scheduler.
    pub driver: DriverConfig,
    /// Short queues of the hardware.
    pub hardware: HardwareDepth,
    /// What the scenario changes of the EDCA parameters that this device uses, by
    /// [`Ac::index`](stillair_model::vocabulary::Ac::index): an access point's own, a station's from the
    /// beacon of its access point.
    pub edca: [EdcaOverride; 4],
    /// Tries by the hardware that a frame of a Block Ack session may have had for the driver to send it once more.
    pub retry_limit: u8,
    /// That limit is lower for frames sent at low rates.
    pub retry_limit_by_rate: bool,
    /// Pseudo retry-out of what an access point receives.
    pub retry_out: Option<RetryOutParams>,
    /// How long it waits before it tells its host of received frames.
    pub rx_mitigation: Option<RxMitigation>,
    /// What a station's path did over time, as a file has it; it takes the place of its rates and errors.
    pub trace: Option<PathTrace>,
    /// Its hardware filters by destination what follows a PPDU that has failed.
    pub filter: Option<DestinationFilter>,
    /// PPDUs of more bytes begin with RTS and CTS.
    pub rts_threshold: u32,
    /// Delimiters without content that its hardware needs between frames of an aggregate to encrypt them.
    pub cipher_delimiters: u32,
    /// Frames of a Block Ack window that it asks for and grants at most; between devices of HT and VHT never more than 64.
    pub block_ack_window: u16,
    /// The interface whose radio it sends with, if it has none of its own: the radio's hardware depth and EDCA parameters
    /// are then this device's too.
    pub radio: Option<InterfaceRef>,
    /// How a station saves power, after the kind that it was given.
    pub power_save: Option<(&'static str, SaverParams)>,
    /// How a station scans.
    pub scan: Option<ScanParams>,
    /// Every so many beacons of an access point is a DTIM.
    pub dtim_period: u32,
    /// The device that it names.
    pub device: Option<&'static Device>,
}

/// Part that a Wi-Fi device plays.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each interface, read once when the world is wired")]
pub enum Role {
    /// Access point.
    Ap,
    /// Station.
    Station(Station),
}

impl Role {
    /// Whether this is a station without OFDM.
    pub fn is_old(&self) -> bool {
        let Self::Station(station) = self else { return false };
        station.all_rates().all(|rate| matches!(rate, PhyRate::Dsss(..)))
    }
}

/// EDCA parameters of one access category that the scenario sets; none means as shipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EdcaOverride {
    /// Slots of the arbitration space after SIFS.
    pub aifsn: Option<u8>,
    /// Least contention window: 1, 3, 7, ... slots.
    pub cw_min: Option<u16>,
    /// Greatest contention window.
    pub cw_max: Option<u16>,
    /// Longest transmission opportunity; zero is one frame exchange.
    pub txop: Option<Duration>,
}

impl EdcaOverride {
    /// Changes what the scenario sets.
    pub fn apply(&self, params: &mut EdcaParams) {
        params.aifsn = self.aifsn.unwrap_or(params.aifsn);
        params.cw_min = self.cw_min.unwrap_or(params.cw_min);
        params.cw_max = self.cw_max.unwrap_or(params.cw_max);
        params.txop = self.txop.unwrap_or(params.txop);
    }
}
