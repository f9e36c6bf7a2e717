//! Drivers: what happens to a packet between the interface and the hardware.

mod fq;
mod legacy;

pub use fq::Fq;
pub use legacy::Legacy;

use crate::vocabulary::{Ac, Ctx, Duration, Instant, Pkt, PlaceId, Sink};
use crate::wifi::config::DriverConfig;
use crate::wifi::tx::transmitter::{Hardware, TIDS, TidIndex, Transmitter};

/// One of the drivers; closed, because it is on the path of every packet.
#[derive(Debug)]
pub enum Driver {
    /// ath9k before 4.10.
    Legacy(Legacy),
    /// Queues in the MAC.
    Fq(Box<Fq>),
}

impl Driver {
    /// The driver for a device with so many peers.
    pub fn new(config: DriverConfig, peers: usize, place: PlaceId, salt: u64) -> Self {
        match config {
            DriverConfig::Legacy(params) => Self::Legacy(Legacy::new(params, peers * TIDS)),
            DriverConfig::Fq(params, scheduler) => {
                Self::Fq(Box::new(Fq::new(params, scheduler, peers, place, salt)))
            }
        }
    }

    /// Takes a packet; always accepted.
    pub fn push<S: Sink>(&mut self, now: Instant, p: Pkt, tid: TidIndex, ctx: &mut Ctx<'_, S>) {
        match self {
            Self::Legacy(d) => d.push(p, tid, ctx),
            Self::Fq(d) => d.push(now, p, tid, ctx),
        }
    }

    /// Hands PPDUs to the hardware until it is full or nothing is left.
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
        }
    }

    /// A frame is completed; true if the queue above is woken by that.
    pub fn completed(&mut self, ac: Ac) -> bool {
        match self {
            Self::Legacy(d) => d.completed(ac),
            Self::Fq(_) => false,
        }
    }

    /// The identifier has frames to send (again).
    pub fn schedule(&mut self, tid: TidIndex) {
        match self {
            Self::Legacy(d) => d.schedule(tid),
            Self::Fq(d) => d.schedule(tid),
        }
    }

    /// Whether the queue above must hold back frames of this category.
    #[inline]
    pub fn is_stopped(&self, ac: Ac) -> bool {
        match self {
            Self::Legacy(d) => d.is_stopped(ac),
            Self::Fq(_) => false,
        }
    }

    /// A PPDU to a station is done with, after all its tries.
    pub fn charge_tx(&mut self, tid: TidIndex, airtime: Duration) {
        if let Self::Fq(d) = self {
            d.charge_tx(tid, airtime);
        }
    }

    /// A station sent something.
    pub fn charge_rx(&mut self, tid: TidIndex, airtime: Duration) {
        if let Self::Fq(d) = self {
            d.charge_rx(tid, airtime);
        }
    }

    /// Packets in the driver's own queues.
    pub fn queued(&self) -> u64 {
        match self {
            Self::Legacy(d) => d.queued(),
            Self::Fq(d) => d.queued(),
        }
    }

    /// Their bytes, with Ethernet headers.
    pub fn queued_bytes(&self) -> u64 {
        match self {
            Self::Legacy(d) => d.queued_bytes(),
            Self::Fq(d) => d.queued_bytes(),
        }
    }
}
