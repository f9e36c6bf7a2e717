//! Frames that the firmware is through with, until it tells the host.

use crate::types::{Instant, SockId};
use crate::wifi::config::FirmwareParams;
use crate::wifi::tx::transmitter::TidIndex;
use alloc::vec::Vec;

/// An MPDU as the host will hear of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    pub(super) tid: TidIndex,
    /// What it counts for below the host's queues, in units of 4 us.
    pub(super) airtime: u16,
    /// Its bytes on the air.
    pub(super) len: u16,
    /// Packets in it, each of them a frame to the host.
    pub(super) msdus: u8,
    pub(super) charge: SockId,
    pub(super) truesize: u32,
}

/// What the host has not heard of.
#[derive(Debug, Default)]
pub(super) struct Reports {
    mpdus: Vec<Report>,
    frames: u32,
    due: Option<Instant>,
}

impl Reports {
    /// One more. The host is told when there are as many as the hardware waits for, or so long after the
    /// first.
    pub(super) fn add(&mut self, now: Instant, report: Report, params: &FirmwareParams) {
        self.mpdus.push(report);
        self.frames += u32::from(report.msdus);
        if self.frames >= params.report_frames {
            self.due = Some(now);
        } else if self.due.is_none() {
            self.due = Some(now + params.report_delay);
        }
    }

    /// When the host is told.
    #[inline]
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// All of them.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Report> {
        (self.due, self.frames) = (None, 0);
        self.mpdus.drain(..)
    }

    /// Charges that end when the host is told.
    pub(super) fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.mpdus.iter().filter(|one| one.charge != SockId::NONE).map(|one| (one.charge, one.truesize))
    }
}
