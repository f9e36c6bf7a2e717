//! Wi-Fi devices.

use stillair_model::types::Duration;
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
    /// Index in [`Scenario::channels`](super::super::Scenario::channels).
    pub channel: usize,
    /// Role: access point or station.
    pub role: Role,
    /// Queueing scheme, which determines `driver` and the qdisc; for reports.
    pub scheme: Scheme,
    /// Queues and scheduler of the driver.
    pub driver: DriverConfig,
    /// Depth of the hardware queues.
    pub hardware: HardwareDepth,
    /// The scenario's overrides of the EDCA parameters of this device, by
    /// [`Ac::index`](stillair_model::types::Ac::index). An access point uses its own parameters; a station
    /// uses those in the beacons of its access point.
    pub edca: [EdcaOverride; 4],
    /// Retry limit: attempts before a frame is dropped, counted as the driver counts.
    pub retry_limit: u8,
    /// True if rate control gets a report for a PPDU that is retransmitted as a whole.
    pub report_failed_ppdus: bool,
    /// True if the retry limit is lower for frames sent at low rates.
    pub retry_limit_by_rate: bool,
    /// Pseudo retry-out parameters for an access point as receiver.
    pub retry_out: Option<RetryOutParams>,
    /// Interrupt mitigation: delay between the reception of frames and the interrupt.
    pub rx_mitigation: Option<RxMitigation>,
    /// Trace file of a station's path, which replaces the path's rates and errors.
    pub trace: Option<PathTrace>,
    /// Destination filter in the hardware: after a failed PPDU, frames queued for the same station return to
    /// the driver unsent.
    pub filter: Option<DestinationFilter>,
    /// RTS threshold: PPDUs longer than this many bytes start with RTS and CTS.
    pub rts_threshold: u32,
    /// Empty A-MPDU delimiters that the hardware needs between frames to encrypt them.
    pub cipher_delimiters: u32,
    /// Maximum Block Ack window in frames that the device requests and grants; at most 64 between HT and VHT
    /// devices.
    pub block_ack_window: u16,
    /// The interface whose radio the device shares, if it has no radio of its own. The hardware depth and
    /// EDCA parameters of that radio apply.
    pub radio: Option<InterfaceRef>,
    /// Power save of a station: name of the kind, and parameters.
    pub power_save: Option<(&'static str, SaverParams)>,
    /// Background scans of a station.
    pub scan: Option<ScanParams>,
    /// DTIM period of an access point, in beacon intervals.
    pub dtim_period: u32,
    /// The device profile that the scenario names.
    pub device: Option<&'static Device>,
}

/// Role of a Wi-Fi device.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each interface, read once when the world is wired")]
pub enum Role {
    /// Access point.
    Ap,
    /// Station.
    Station(Station),
}

impl Role {
    /// Returns true if this is a station with DSSS rates only.
    pub fn is_old(&self) -> bool {
        let Self::Station(station) = self else { return false };
        station.all_rates().all(|rate| matches!(rate, PhyRate::Dsss(..)))
    }
}

/// EDCA parameters of one access category that the scenario sets; `None` keeps the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EdcaOverride {
    /// AIFSN: slots of the arbitration interframe space after SIFS.
    pub aifsn: Option<u8>,
    /// Minimum contention window: 1, 3, 7, ... slots.
    pub cw_min: Option<u16>,
    /// Maximum contention window in slots.
    pub cw_max: Option<u16>,
    /// TXOP limit; zero allows one frame exchange.
    pub txop: Option<Duration>,
}

impl EdcaOverride {
    /// Applies the overrides to `params`.
    pub fn apply(&self, params: &mut EdcaParams) {
        params.aifsn = self.aifsn.unwrap_or(params.aifsn);
        params.cw_min = self.cw_min.unwrap_or(params.cw_min);
        params.cw_max = self.cw_max.unwrap_or(params.cw_max);
        params.txop = self.txop.unwrap_or(params.txop);
    }
}
