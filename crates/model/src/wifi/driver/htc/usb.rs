//! Frame transfers to a device behind USB: one at a time, each with the frames that waited when it started.

use alloc::collections::VecDeque;

use crate::types::{Duration, Instant, SockId};
use crate::wifi::config::UsbParams;

/// Bytes before each frame: the headers of the stream, of HTC and of the driver.
// linux: drivers/net/wireless/ath/ath9k/hif_usb.c __hif_usb_tx, htc.h struct tx_frame_hdr, htc_hst.h struct
// htc_frame_hdr (4.14) - 4, 12 and 8 bytes.
const HEADERS: u32 = 24;

/// State of the current transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Transfer {
    /// No transfer.
    Idle,
    /// A frame is on the bus until `at`; `follow` frames of its transfer remain.
    Moves { at: Instant, follow: u32 },
    /// The target has no buffer for the next frame and refuses it; `left` frames remain.
    // spec: usb 2.0 8.5.1 - NAK: the host retries the packet.
    Refused { left: u32 },
    /// All frames are in the target; the host learns of the completion at `at`.
    Through { at: Instant },
}

/// Transmit side of the bus between a host and its device.
// deviation: each direction has the full bus, and the firmware takes no time.
#[derive(Debug)]
pub(super) struct Usb {
    params: UsbParams,
    transfer: Transfer,
    /// Frames reported by the target that have not reached the host: arrival time, charged socket, and
    /// amount.
    reports: VecDeque<(Instant, SockId, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// A frame has arrived in the target.
    Arrived,
    /// The next frame needs a buffer in the target.
    Asks,
}

impl Usb {
    pub(super) fn new(params: UsbParams) -> Self {
        Self { params, transfer: Transfer::Idle, reports: VecDeque::new() }
    }

    /// Returns the next event due by `now`, if any. `waiting` is the number of frames on the host.
    // linux: drivers/net/wireless/ath/ath9k/hif_usb.c hif_usb_send_tx, hif_usb_tx_cb, __hif_usb_tx (4.14) -
    // starts a transfer for a frame that finds none in progress, and the next one at each completion, so that
    // transfers never overlap.
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

    /// Moves a frame of `mpdu` bytes, the next of `waiting`, for which the target has a buffer.
    pub(super) fn moves(&mut self, now: Instant, waiting: u32, mpdu: u32) {
        let (left, start) = match self.transfer {
            Transfer::Refused { left } => (left, Duration::ZERO),
            _ => (waiting.min(self.params.tx_frames), self.params.start),
        };
        let at = now + start + self.params.takes(mpdu + HEADERS);
        self.transfer = Transfer::Moves { at, follow: left - 1 };
    }

    /// Reports a frame completed by the target.
    // ath9k_htc-firmware: wlan/if_owl.c ath_tx_status_send (e888634) - as a separate event of the command
    // endpoint.
    // linux: drivers/net/wireless/ath/ath9k/hif_usb.c ath9k_hif_usb_alloc_reg_in_urbs (4.14) - polls that
    // endpoint in every microframe.
    pub(super) fn report(&mut self, now: Instant, charge: SockId, truesize: u32) {
        self.reports.push_back((now + self.params.start + self.params.interrupt, charge, truesize));
    }

    /// Takes the next report that has reached the host.
    pub(super) fn reported(&mut self, now: Instant) -> Option<(SockId, u32)> {
        let &(at, charge, truesize) = self.reports.front()?;
        (at <= now).then(|| self.reports.pop_front());
        (at <= now).then_some((charge, truesize))
    }

    /// Returns the charges of frames whose reports are in transfer.
    pub(super) fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.reports.iter().map(|&(_, charge, truesize)| (charge, truesize))
    }

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
