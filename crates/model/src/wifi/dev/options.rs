//! Optional features of a device.

use super::WifiDev;
use crate::node::jitter::Softirq;
use crate::wifi::config::UsbParams;
use crate::wifi::power::Power;
use crate::wifi::power::saver::Saver;
use crate::wifi::power::sleepers::Sleepers;
use crate::wifi::rx::interrupts::{HeldBack, RxMitigation};
use crate::wifi::rx::retry_out::{RetryOutParams, SmoothedRate};
use crate::wifi::rx::transfers::Transfers;
use alloc::boxed::Box;
use alloc::vec;

impl WifiDev {
    /// Lowers the limit of tries at low rates (the station-side remedy of the earlier paper).
    #[must_use]
    pub const fn with_limit_by_rate(mut self) -> Self {
        self.limit_by_rate = true;
        self
    }

    /// Sets whether rate control gets a report of a PPDU whose frames are all retried. Default: as the driver
    /// does.
    #[must_use]
    pub const fn with_failed_ppdus_reported(mut self, reported: bool) -> Self {
        self.reports_failed = reported;
        self
    }

    /// Enables pseudo retry-out for received frames.
    #[must_use]
    pub fn with_retry_out(mut self, params: RetryOutParams) -> Self {
        self.retry_out = Some((params, vec![SmoothedRate::default(); self.tx.peers.len()]));
        self
    }

    /// Enables interrupt mitigation for received frames.
    #[must_use]
    pub fn with_rx_mitigation(mut self, params: RxMitigation) -> Self {
        self.held_back = Some(HeldBack::new(params));
        self
    }

    /// Puts the device behind USB.
    #[must_use]
    pub fn behind_usb(mut self, params: UsbParams) -> Self {
        self.transfers = Some(Box::new(Transfers::new(params)));
        self
    }

    /// Adds the host's delay from an interrupt to the network stack (softirq).
    #[must_use]
    pub fn with_softirq(mut self, softirq: Softirq) -> Self {
        let held_back = self.held_back.unwrap_or_else(|| HeldBack::new(RxMitigation::NONE));
        self.held_back = Some(held_back.with_softirq(softirq));
        self
    }

    /// Enables power save or scans of a station.
    #[must_use]
    pub fn with_saver(mut self, saver: Saver) -> Self {
        self.power = Some(Box::new(Power::Station(saver)));
        self.timed = true;
        self
    }

    /// Enables buffering for sleeping stations, or scans, of an access point.
    #[must_use]
    pub fn with_sleepers(mut self, sleepers: Sleepers) -> Self {
        self.power = Some(Box::new(Power::AccessPoint(sleepers)));
        self.timed = true;
        self
    }
}
