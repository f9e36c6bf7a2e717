//! Drivers: the path of a packet between the interface and the hardware.

mod active_tids;
mod firmware;
mod fq;
mod htc;
mod legacy;
mod tid_fifos;

use alloc::boxed::Box;
pub use firmware::FirmwareDriver;
pub use fq::{AirtimeUse, DeviceView, FqDriver, StationScheduler, scheduler_of};
pub use htc::HtcDriver;
pub use legacy::LegacyDriver;

use crate::types::{Ac, Ctx, Duration, Instant, Pkt, PlaceId, Sink, SockId};
use crate::wifi::air::ppdu::{Mpdu, Ppdu};
use crate::wifi::config::{DriverConfig, RetryCount};
use crate::wifi::marks::Marks;
use crate::wifi::phy::{PhyRate, ppdu_duration_without_extension};
use crate::wifi::tx::transmitter::{Hardware, TIDS, TidIndex, Transmitter};

/// A driver. A closed enum, because it is on the path of every packet.
#[derive(Debug)]
pub enum Driver {
    /// ath9k before 4.10.
    Legacy(LegacyDriver),
    /// mac80211's intermediate queues (FQ-CoDel per TID).
    Fq(Box<FqDriver>),
    /// ath9k_htc, behind USB.
    Htc(HtcDriver),
    /// Drivers whose firmware builds the aggregates.
    Firmware(Box<FirmwareDriver>),
}

/// Queues above the device that were woken: bit n is access category n.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[must_use = "a lost wake stalls the queue for ever"]
pub struct Woken(u8);

impl Woken {
    /// The queues of all access categories.
    pub const ALL: Self = Self(0b1111);

    /// Adds other woken queues.
    #[inline]
    pub fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
    /// Returns true if any queue was woken.
    #[inline]
    pub fn any(self) -> bool {
        self.0 != 0
    }
    /// Returns true if the queue of this access category was woken.
    #[inline]
    pub fn has(self, ac: Ac) -> bool {
        self.0 >> ac.index() & 1 == 1
    }
}

impl Driver {
    /// Returns mac80211's intermediate queues, if the driver uses them.
    #[inline]
    pub fn mac_queues(&mut self) -> Option<&mut FqDriver> {
        match self {
            Self::Fq(d) => Some(d),
            Self::Firmware(d) => Some(&mut d.host),
            Self::Legacy(_) | Self::Htc(_) => None,
        }
    }

    /// Creates the driver of a device with `peers` peers.
    pub fn new(config: DriverConfig, peers: usize, place: PlaceId, salt: u64) -> Self {
        match config {
            DriverConfig::Legacy(params) => Self::Legacy(LegacyDriver::new(params, peers * TIDS)),
            DriverConfig::Fq(params, scheduler) => {
                Self::Fq(Box::new(FqDriver::new(params, scheduler, peers, place, salt)))
            }
            DriverConfig::Htc(params) => Self::Htc(HtcDriver::new(params, peers * TIDS)),
            DriverConfig::Firmware(queues, scheduler, params) => {
                Self::Firmware(Box::new(FirmwareDriver::new(queues, scheduler, params, peers, place, salt)))
            }
        }
    }

    /// Takes a packet, and hands PPDUs to the hardware until it is full or no frames are left. Always accepts
    /// the packet.
    #[inline(always)]
    pub fn take<S: Sink>(
        &mut self,
        now: Instant,
        p: Pkt,
        tid: TidIndex,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        if let Self::Firmware(d) = self {
            return d.take(now, p, tid, tx, hw, ctx);
        }
        self.push(now, p, tid, ctx);
        self.fill(now, tid.ac(), tx, hw, ctx);
    }

    /// Takes a packet without filling the hardware.
    #[inline(always)]
    pub fn push<S: Sink>(&mut self, now: Instant, p: Pkt, tid: TidIndex, ctx: &mut Ctx<'_, S>) {
        match self {
            Self::Legacy(d) => d.push(p, tid, ctx),
            Self::Fq(d) => d.push(now, p, tid, ctx),
            Self::Htc(d) => d.push(p, ctx),
            Self::Firmware(d) => d.push(now, p, tid, ctx),
        }
    }

    /// Hands PPDUs to the hardware until it is full or no frames are left.
    #[inline(always)]
    pub fn fill<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        match self {
            Self::Legacy(d) => d.fill(now, ac, tx, hw, ctx),
            Self::Fq(d) => d.fill(now, ac, tx, hw, ctx),
            Self::Htc(d) => d.fill(now, tx, hw, ctx),
            Self::Firmware(d) => d.fill(now, tx, hw, ctx),
        }
    }

    /// Handles the completion of a frame. Returns the queues above that are woken.
    #[inline]
    pub fn completed(&mut self, now: Instant, tid: TidIndex, mpdu: &Mpdu) -> Woken {
        let ac = tid.ac();
        match self {
            Self::Legacy(d) => Woken(u8::from(d.completed(ac)) << ac.index()),
            Self::Fq(_) => Woken::default(),
            Self::Htc(d) => d.completed(),
            Self::Firmware(d) => {
                d.done(now, tid, mpdu, SockId::NONE);
                Woken::default()
            }
        }
    }

    /// Handles the completion of a frame that reached its receiver. Returns true if a later report informs
    /// the host and ends the charge.
    #[inline]
    pub fn reports_later(&mut self, now: Instant, tid: TidIndex, mpdu: &Mpdu) -> bool {
        match self {
            Self::Htc(d) => d.reports_later(now, mpdu.charge, mpdu.truesize),
            Self::Legacy(_) | Self::Fq(_) => false,
            Self::Firmware(d) => {
                d.done(now, tid, mpdu, mpdu.charge);
                true
            }
        }
    }

    /// Returns when to call [`Driver::on_timer`], if needed.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        match self {
            Self::Htc(d) => d.next_timer(),
            Self::Firmware(d) => d.next_timer(),
            Self::Legacy(_) | Self::Fq(_) => None,
        }
    }

    /// Handles due events. Returns the queues above that are woken. The caller then fills the hardware
    /// (`fill`).
    pub fn on_timer<S: Sink>(&mut self, now: Instant, tx: &Transmitter, ctx: &mut Ctx<'_, S>) -> Woken {
        match self {
            Self::Htc(d) => d.on_timer(now, ctx),
            Self::Firmware(d) => {
                d.on_timer(now, tx, ctx);
                Woken::default()
            }
            Self::Legacy(_) | Self::Fq(_) => Woken::default(),
        }
    }

    /// Returns the charges of completed frames that are not yet reported to the host.
    pub fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        let htc = if let Self::Htc(d) = self { Some(d) } else { None };
        let firmware = if let Self::Firmware(d) = self { Some(d) } else { None };
        htc.into_iter().flat_map(HtcDriver::charges).chain(firmware.into_iter().flat_map(|d| d.charges()))
    }

    /// Schedules a TID with frames to send or retry.
    pub fn schedule(&mut self, now: Instant, tid: TidIndex) {
        match self {
            Self::Legacy(d) => d.schedule(tid),
            Self::Fq(d) => d.schedule(now, tid),
            Self::Htc(d) => d.schedule(tid),
            Self::Firmware(d) => d.schedule(tid),
        }
    }

    /// Schedules a TID's held frames, because a Block Ack session opened, or the attempt ended.
    // linux: net/mac80211/agg-tx.c ieee80211_agg_start_txq (4.1, 6.12) - clears the stop bit and wakes the
    // driver.
    pub fn restart(&mut self, now: Instant, tid: TidIndex) {
        match self {
            Self::Firmware(d) => d.restart(now, tid),
            Self::Legacy(_) | Self::Fq(_) | Self::Htc(_) => self.schedule(now, tid),
        }
    }

    /// Returns the tries that count towards the retry limit, as [`RetryCount::of`].
    pub const fn counts(&self) -> RetryCount {
        match self {
            Self::Legacy(_) | Self::Fq(_) => RetryCount::EarlierTries,
            Self::Htc(_) => RetryCount::EarlierPpdus,
            Self::Firmware(_) => RetryCount::Tries,
        }
    }

    /// Returns the driver's default of [`DriverConfig::reports_failed_ppdus`].
    pub const fn reports_failed_ppdus(&self) -> bool {
        match self {
            Self::Legacy(_) | Self::Fq(_) => false,
            Self::Htc(_) | Self::Firmware(_) => true,
        }
    }

    /// Returns true if mac80211 negotiates Block Ack sessions and stops its queues meanwhile.
    pub fn stops_queues(&self) -> bool {
        match self {
            Self::Fq(_) => true,
            Self::Firmware(d) => d.host_negotiates(),
            Self::Legacy(_) | Self::Htc(_) => false,
        }
    }

    /// Returns true if the queue above is stopped for this access category.
    #[inline]
    pub fn is_stopped(&self, ac: Ac) -> bool {
        match self {
            Self::Legacy(d) => d.is_stopped(ac),
            Self::Fq(_) | Self::Firmware(_) => false,
            Self::Htc(d) => d.is_stopped(),
        }
    }

    /// Charges the airtime of a PPDU to a station, after all its tries.
    #[inline]
    pub fn charge_tx(&mut self, now: Instant, tid: TidIndex, airtime: Duration) {
        match self {
            Self::Fq(d) => d.charge(now, tid, airtime, AirtimeUse::Tx),
            Self::Firmware(d) => d.count(tid, airtime, AirtimeUse::Tx),
            Self::Legacy(_) | Self::Htc(_) => {}
        }
    }

    /// Charges a station for a PPDU sent at `rate`, of which the frames in `whole` were received without
    /// error.
    ///
    /// The station is charged for each frame as if it were sent alone, so an aggregate is charged a preamble
    /// for every frame.
    // linux: drivers/net/wireless/ath/ath9k/recv.c ath_rx_count_airtime (4.11) - computes the airtime from
    // length and rate of each frame delivered.
    // deviation: omits the SIFS that Linux adds for non-HT rates.
    #[inline]
    pub fn charge_rx(&mut self, now: Instant, tid: TidIndex, ppdu: &Ppdu, rate: PhyRate, whole: &Marks) {
        if let Self::Firmware(d) = self {
            d.count(tid, ppdu_duration_without_extension(rate, ppdu.bytes), AirtimeUse::Rx);
        }
        if let Self::Fq(d) = self {
            let came = ppdu.mpdus.iter().enumerate().filter(|&(n, _)| whole.has(n));
            let each = came.map(|(_, frame)| ppdu_duration_without_extension(rate, u32::from(frame.len)));
            let used = each.fold(Duration::ZERO, |sum, takes| sum + takes);
            if used > Duration::ZERO {
                d.charge(now, tid, used, AirtimeUse::Rx);
            }
        }
    }

    /// Returns the number of packets of a TID in the driver's queues.
    pub fn backlog(&self, tid: TidIndex) -> u32 {
        match self {
            Self::Legacy(d) => d.backlog(tid),
            Self::Fq(d) => d.backlog(tid),
            Self::Htc(d) => d.backlog(tid),
            Self::Firmware(d) => d.backlog(tid),
        }
    }

    /// Takes the next packet of a TID, for a PPDU that is built although its receiver sleeps.
    pub fn pull<S: Sink>(&mut self, now: Instant, tid: TidIndex, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        match self {
            Self::Legacy(d) => d.pull(tid, ctx),
            Self::Fq(d) => d.pull(now, tid, ctx),
            Self::Htc(d) => d.pull(tid, ctx),
            Self::Firmware(d) => d.pull(tid, ctx),
        }
    }

    /// Returns the number of packets in the driver's queues.
    pub fn queued(&self) -> u64 {
        match self {
            Self::Legacy(d) => d.queued(),
            Self::Fq(d) => d.queued(),
            Self::Htc(d) => d.queued(),
            Self::Firmware(d) => d.queued(),
        }
    }

    /// Returns the bytes of these packets, with Ethernet headers.
    pub fn queued_bytes(&self) -> u64 {
        match self {
            Self::Legacy(d) => d.queued_bytes(),
            Self::Fq(d) => d.queued_bytes(),
            Self::Htc(d) => d.queued_bytes(),
            Self::Firmware(d) => d.queued_bytes(),
        }
    }
}
