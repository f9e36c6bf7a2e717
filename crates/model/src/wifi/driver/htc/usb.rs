//! Frames on their way to a device behind USB: one transfer after the other, each with what waited when it
//! began.

use alloc::collections::VecDeque;

use crate::types::{Duration, Instant, SockId};
use crate::wifi::config::UsbParams;

/// What goes ahead of a frame: the stream's header, HTC's and the driver's.
// linux: drivers/net/wireless/ath/ath9k/hif_usb.c __hif_usb_tx, htc.h struct tx_frame_hdr, htc_hst.h struct
// htc_frame_hdr (4.14) - 4, 12 and 8 bytes.
const HEADERS: u32 = 24;

/// The transfer that is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Transfer {
    /// None.
    Idle,
    /// A frame is on the bus until `at`, and so many of its transfer follow.
    Moves { at: Instant, follow: u32 },
    /// The target has no buffer for the next frame and refuses it: so many are left.
    // spec: usb 2.0 8.5.1 - NAK: the host tries the packet again.
    Refused { left: u32 },
    /// All frames are in the target, and the host hears of that at `at`.
    Through { at: Instant },
}

/// The bus between a host and its device, as the sending side sees it.
// deviation: each direction has the bus for itself, and the firmware takes no time.
#[derive(Debug)]
pub(super) struct Usb {
    params: UsbParams,
    transfer: Transfer,
    /// Frames whose fate the target knows and the host does not: when it will, whose memory they are charged
    /// to, and how much.
    reports: VecDeque<(Instant, SockId, u32)>,
}

/// What the bus has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// A frame has come into the target.
    Arrived,
    /// The first frame of what is to be moved next asks for a buffer.
    Asks,
}

impl Usb {
    pub(super) fn new(params: UsbParams) -> Self {
        Self { params, transfer: Transfer::Idle, reports: VecDeque::new() }
    }

    /// What is due by now, if anything; `waiting` frames are on the host.
    // linux: drivers/net/wireless/ath/ath9k/hif_usb.c hif_usb_send_tx, hif_usb_tx_cb, __hif_usb_tx (4.14) - a
    // frame that finds no transfer under way begins one, and each that is through begins the next, so that
    // there is never a second beside it.
    pub(super) fn step(&mut self, now: Instant, waiting: u32) -> Option<Step> {
        match self.transfer {
            Transfer::Moves { at, follow } if at <= now => {
                self.transfer = match follow {
                    0 => Transfer::Through { at: at + self.params.interrupt },
                    left => Transfer::Refused { left },
                };
                Some(Step::Arrived)
            }
            Transfer::Through { at } if at <= now => {
                self.transfer = Transfer::Idle;
                self.step(now, waiting)
            }
            Transfer::Idle if waiting > 0 => Some(Step::Asks),
            Transfer::Refused { .. } => Some(Step::Asks),
            _ => None,
        }
    }

    /// The target has a buffer for a frame of `mpdu` bytes, the next of `waiting`: it is moved.
    pub(super) fn moves(&mut self, now: Instant, waiting: u32, mpdu: u32) {
        let (left, start) = match self.transfer {
            Transfer::Refused { left } => (left, Duration::ZERO),
            _ => (waiting.min(self.params.tx_frames), self.params.start),
        };
        let at = now + start + self.params.takes(mpdu + HEADERS);
        self.transfer = Transfer::Moves { at, follow: left - 1 };
    }

    /// The target reports a frame.
    // ath9k_htc-firmware: wlan/if_owl.c ath_tx_status_send (e888634) - in an event of its own, of the command
    // endpoint.
    // linux: drivers/net/wireless/ath/ath9k/hif_usb.c ath9k_hif_usb_alloc_reg_in_urbs (4.14) - which is asked
    // in every microframe.
    pub(super) fn report(&mut self, now: Instant, charge: SockId, truesize: u32) {
        self.reports.push_back((now + self.params.start + self.params.interrupt, charge, truesize));
    }

    /// The next report that the host has got by now.
    pub(super) fn reported(&mut self, now: Instant) -> Option<(SockId, u32)> {
        let &(at, charge, truesize) = self.reports.front()?;
        (at <= now).then(|| self.reports.pop_front());
        (at <= now).then_some((charge, truesize))
    }

    /// Charges of frames whose reports are under way.
    pub(super) fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.reports.iter().map(|&(_, charge, truesize)| (charge, truesize))
    }

    /// When there is something to do.
    #[inline]
    pub(super) fn next_timer(&self) -> Option<Instant> {
        let report = self.reports.front().map(|&(at, ..)| at);
        let at = match self.transfer {
            Transfer::Moves { at, .. } | Transfer::Through { at } => Some(at),
            _ => None,
        };
        match (report, at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}
