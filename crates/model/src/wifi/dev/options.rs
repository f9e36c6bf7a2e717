//! What a device may do beyond what all do.

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
    /// The same device with a lower limit of tries at low rates: the earlier remedy, at the station.
    #[must_use]
    pub const fn with_limit_by_rate(mut self) -> Self {
        self.limit_by_rate = true;
        self
    }

    /// The same device with pseudo retry-out of what it receives.
    #[must_use]
    pub fn with_retry_out(mut self, params: RetryOutParams) -> Self {
        self.retry_out = Some((params, vec![SmoothedRate::default(); self.tx.peers.len()]));
        self
    }

    /// The same device, which tells the host of received frames some of them together.
    #[must_use]
    pub fn with_rx_mitigation(mut self, params: RxMitigation) -> Self {
        self.held_back = Some(HeldBack::new(params));
        self
    }

    /// The same device, whose host is behind USB.
    #[must_use]
    pub fn behind_usb(mut self, params: UsbParams) -> Self {
        self.transfers = Some(Box::new(Transfers::new(params)));
        self
    }

    /// The same device on a host that takes time from an interrupt to the stack.
    #[must_use]
    pub fn with_softirq(mut self, softirq: Softirq) -> Self {
        let held_back = self.held_back.unwrap_or_else(|| HeldBack::new(RxMitigation::NONE));
        self.held_back = Some(held_back.with_softirq(softirq));
        self
    }

    /// The same station, which sleeps or leaves its channel.
    #[must_use]
    pub fn with_saver(mut self, saver: Saver) -> Self {
        self.power = Some(Box::new(Power::Station(saver)));
        self.timed = true;
        self
    }

    /// The same access point, which has stations that do, or does so itself.
    #[must_use]
    pub fn with_sleepers(mut self, sleepers: Sleepers) -> Self {
        self.power = Some(Box::new(Power::AccessPoint(sleepers)));
        self.timed = true;
        self
    }
}
