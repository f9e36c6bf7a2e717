//! Transmit path: decides whether a packet may be sent, and fills it.
// spec: quic_connection.cc OnCanWrite, quic_packet_generator.cc (Chromium 62) - retransmissions first, then
// handshake, control frames and streams; a delayed ACK is bundled, and sent alone once it is due.

use alloc::vec::Vec;

use crate::transport::quic::config::Refresh;
use crate::transport::quic::handshake::QuicHandshake;
use crate::transport::quic::received::AckMemory;
use crate::transport::quic::sizes;
use crate::types::{AckFrame, Datagram, Instant, QuicFrame};

use super::Quic;

impl Quic {
    pub(super) fn transmit(&mut self, now: Instant, out: &mut Datagram) -> bool {
        if self.closed {
            return false;
        }
        debug_assert!(out.packet.frames.is_empty() && out.packet.ranges.is_empty(), "an empty record");
        if self.closing {
            self.closed = true;
            out.packet.frames.push(QuicFrame::Close);
            self.finish_packet(now, out, false);
            return true;
        }
        let content = self.has_content();
        if !content {
            // A timeout forces two packets, but there may be only one to retransmit; the loss timer stays off
            // while any is forced.
            self.forced = 0;
            self.window.on_idle();
        }
        let full = content && self.may_send(now);
        if !full && !self.acks.is_due() {
            return false;
        }
        let packet_is_old = full && self.sent.has_again();
        if packet_is_old {
            self.fill_again(now, out);
        } else {
            let ack_alone = !full;
            if ack_alone || self.acks.may_go_along() {
                self.add_ack(now, out);
            }
            if full {
                self.fill(out);
            } else {
                self.refresh(now, out);
            }
        }
        let pads =
            self.handshake.pads_all()
                || out.packet.frames.iter().any(
                    |frame| matches!(frame, QuicFrame::Crypto { step, .. } if QuicHandshake::pads(*step)),
                );
        self.finish_packet(now, out, pads);
        true
    }

    /// Adds an ack-eliciting frame to an ACK-only packet if one is due.
    fn refresh(&mut self, now: Instant, out: &mut Datagram) {
        match self.config.refresh {
            // spec: quic_connection.cc SendAck, quic_session.cc OnAckNeedsRetransmittableFrame (Chromium 62).
            Refresh::Packets(most) if self.bare >= most => {
                let limit = self.streams.connection_limit();
                out.packet.frames.push(QuicFrame::Window { id: None, limit });
            }
            Refresh::RoundTrip
                if out.packet.ranges.len() > 1
                    && now.saturating_since(self.sent.last_in_flight()) >= self.rtt.smoothed_or_initial() =>
            {
                out.packet.frames.push(QuicFrame::Ping);
            }
            Refresh::Packets(_) | Refresh::RoundTrip => {}
        }
    }

    /// Returns true if there are ack-eliciting frames to send.
    pub(super) fn has_content(&self) -> bool {
        self.sent.has_again()
            || self.handshake.has_data()
            || !self.control.is_empty()
            || (self.handshake.is_ready() && self.streams.has_data())
    }

    /// Returns true if amplification limit, window and pacer allow a packet.
    fn may_send(&mut self, now: Instant) -> bool {
        if let Some(times) = self.handshake.amplification()
            && self.bytes_sent + u64::from(self.config.packet) > times * self.bytes_received
        {
            return false;
        }
        if self.forced > 0 {
            return true;
        }
        let in_flight = self.sent.in_flight();
        let allowed = self.window.can_send(in_flight, self.sent.in_flight_packets());
        match &mut self.pacer {
            None => allowed,
            Some(pacer) if !allowed => {
                pacer.cancel();
                false
            }
            Some(pacer) => pacer.can_send(now, in_flight),
        }
    }

    /// Bytes available for frames in the next packet.
    fn room(&self) -> u32 {
        self.config.packet - sizes::around(self.sent.next_number(), self.sent.least())
    }

    fn add_ack(&mut self, now: Instant, out: &mut Datagram) {
        let delay = now - self.largest_time;
        out.packet.ack = Some(AckFrame { delay });
        out.packet.ranges.extend(self.received.newest_first());
        // spec: quic_connection.cc (Chromium 62) - bundles STOP_WAITING with the least unacked packet number.
        if self.config.ack_memory == AckMemory::StopWaiting {
            out.packet.frames.push(QuicFrame::StopWaiting { least: self.sent.least() });
        }
        self.acks.sent();
        self.counts.acks_sent += 1;
    }

    /// Bytes of frames in the packet so far.
    fn used(out: &Datagram) -> u32 {
        let frames: u32 = out.packet.frames.iter().map(sizes::frame).sum();
        frames + sizes::ack(out.packet.ranges.iter().copied())
    }

    /// Fills a packet with the frames of a lost packet, and an ACK if it fits.
    fn fill_again(&mut self, now: Instant, out: &mut Datagram) {
        let Some((_, frames)) = self.sent.take_again() else { return };
        let bytes: u32 = frames.iter().map(sizes::frame).sum();
        let stop_waiting = match self.config.ack_memory {
            AckMemory::StopWaiting => sizes::frame(&QuicFrame::StopWaiting { least: 0 }),
            AckMemory::Acknowledged { .. } => 0,
        };
        let ack = sizes::ack(self.received.newest_first()) + stop_waiting;
        if self.acks.may_go_along() && bytes + ack <= self.room() {
            self.add_ack(now, out);
        }
        out.packet.frames.extend_from_slice(&frames);
        self.sent.give_back(frames);
    }

    /// Fills a packet with new data.
    fn fill(&mut self, out: &mut Datagram) {
        let room = self.room();
        let left = |out: &Datagram| room.saturating_sub(Self::used(out));
        if self.handshake.has_data() {
            let head = sizes::stream_head(1, u64::from(u16::MAX), true);
            if let Some(p) = self.handshake.next_part(left(out).saturating_sub(head)) {
                let (step, offset, len, of) = (p.step, p.offset, p.len, p.of);
                out.packet.frames.push(QuicFrame::Crypto { step, offset, len, of });
            }
            return;
        }
        while let Some(frame) = self.control.front()
            && sizes::frame(frame) <= left(out)
        {
            out.packet.frames.push(*frame);
            self.control.pop_front();
        }
        if !self.handshake.is_ready() {
            return;
        }
        loop {
            let left = left(out);
            // The last STREAM frame of a packet needs no length field.
            let fits = |id, offset| left.saturating_sub(sizes::stream_head(id, offset, false));
            let Some(part) = self.streams.next_part(fits) else { break };
            let (id, offset, len, fin) = (part.id, part.offset, part.len, part.fin);
            out.packet.frames.push(QuicFrame::Stream { id, offset, len, fin });
            if len + sizes::stream_head(id, offset, true) >= left {
                break;
            }
        }
    }

    /// Sets the packet's number and length, and records it.
    fn finish_packet(&mut self, now: Instant, out: &mut Datagram, pads: bool) {
        let number = self.sent.next_number();
        let around = sizes::around(number, self.sent.least());
        let bytes =
            if pads { self.config.packet } else { (around + Self::used(out)).min(self.config.packet) };
        out.packet.number = number;
        out.len = bytes;
        let eliciting = out.packet.is_ack_eliciting();
        let pace = self.pace();
        // Packets that are not ack-eliciting store no frames: their list would never be returned to the pool.
        let mut kept = if eliciting { self.sent.frames() } else { Vec::new() };
        kept.extend(out.packet.frames.iter().filter(|frame| frame.is_ack_eliciting()));
        let acks = out.packet.ranges.first().map_or(0, |&(_, end)| end - 1);
        self.sent.push(now, bytes, kept, eliciting, acks);
        self.counts.sent += 1;
        self.bytes_sent += u64::from(bytes);
        if eliciting {
            self.bare = 0;
            self.forced = self.forced.saturating_sub(1);
            self.window.on_sent(now, number, u64::from(bytes));
            if let Some(pacer) = &mut self.pacer {
                pacer.on_sent(now, u64::from(bytes), &pace);
            }
        } else {
            self.bare += 1;
        }
    }
}
