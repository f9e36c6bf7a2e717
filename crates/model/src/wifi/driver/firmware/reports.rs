//! Frames completed by the firmware and not yet reported to the host.

use crate::types::{Instant, SockId};
use crate::wifi::config::FirmwareParams;
use crate::wifi::tx::transmitter::TidIndex;
use alloc::vec::Vec;

/// An MPDU to be reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    pub(super) tid: TidIndex,
    /// Airtime counted below the host's queues, in units of 4 us.
    pub(super) airtime: u16,
    /// Length on the air in bytes.
    pub(super) len: u16,
    /// Packets in the MPDU, each of which is a frame to the host.
    pub(super) msdus: u8,
    pub(super) charge: SockId,
    pub(super) truesize: u32,
}

/// MPDUs not yet reported.
#[derive(Debug, Default)]
pub(super) struct Reports {
    mpdus: Vec<Report>,
    frames: u32,
    due: Option<Instant>,
}

impl Reports {
    /// Adds an MPDU. The report is due when enough frames are complete, or a delay after the first one.
    pub(super) fn add(&mut self, now: Instant, report: Report, params: &FirmwareParams) {
        self.mpdus.push(report);
        self.frames += u32::from(report.msdus);
        if self.frames >= params.report_frames {
            self.due = Some(now);
        } else if self.due.is_none() {
            self.due = Some(now + params.report_delay);
        }
    }

    #[inline]
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    pub(super) fn take(&mut self) -> impl Iterator<Item = Report> {
        (self.due, self.frames) = (None, 0);
        self.mpdus.drain(..)
    }

    /// Returns the charges that end with the report.
    pub(super) fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.mpdus.iter().filter(|one| one.charge != SockId::NONE).map(|one| (one.charge, one.truesize))
    }
}
