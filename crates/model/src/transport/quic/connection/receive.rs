//! Receive path: records packets and dispatches their ACKs and frames.

use crate::transport::quic::ack_policy::PacketArrival;
use crate::transport::quic::handshake::CryptoPart;
use crate::transport::quic::received::Came;
use crate::transport::quic::streams::StreamChunk;
use crate::transport::quic::window::Counted;
use crate::types::{Datagram, Duration, Instant, QuicFrame, QuicPacket};

use super::Quic;

impl Quic {
    pub(super) fn receive(&mut self, now: Instant, datagram: &Datagram) {
        if self.closed {
            return;
        }
        self.bytes_received += u64::from(datagram.len);
        let packet = &datagram.packet;
        let came = self.received.insert(packet.number);
        if came == Came::Before {
            return;
        }
        if came == Came::Newest {
            self.largest_time = now;
        }
        if let Some(ack) = packet.ack {
            self.on_ack(now, &packet.ranges, ack.delay);
        }
        packet.frames.iter().for_each(|frame| self.on_frame(frame));
        self.note(now, packet, came == Came::Missing);
    }

    fn on_frame(&mut self, frame: &QuicFrame) {
        match *frame {
            QuicFrame::Stream { id, offset, len, fin } => {
                self.streams.on_part(StreamChunk { id, offset, len, fin });
            }
            QuicFrame::Crypto { step, offset, len, of } => {
                self.handshake.on_part(CryptoPart { step, offset, len, of });
            }
            QuicFrame::Window { id, limit } => self.streams.allow(id, limit),
            QuicFrame::StopWaiting { least } => self.received.stop_waiting(least),
            QuicFrame::Ping => {}
            QuicFrame::Close => self.closed = true,
        }
    }

    /// Updates the ACK policy.
    fn note(&mut self, now: Instant, packet: &QuicPacket, was_missing: bool) {
        let arrival = PacketArrival {
            number: packet.number,
            eliciting: packet.is_ack_eliciting(),
            was_missing,
            since_gap: self.received.since_gap(),
        };
        self.acks.on_packet(now, arrival, self.rtt.min);
        // spec: rfc9000 13.2.1 - acknowledges handshake packets immediately; their PTO excludes
        // max_ack_delay.
        // deviation: quiche waits for up to 1 ms.
        if self.timers.pto().is_some()
            && packet.frames.iter().any(|frame| matches!(frame, QuicFrame::Crypto { .. }))
        {
            self.acks.at_once();
        }
    }

    /// Processes an ACK frame.
    // spec: quic_sent_packet_manager.cc OnIncomingAck (Chromium 62) - in this order: RTT, acknowledged
    // packets, losses, congestion control, timeout counters.
    fn on_ack(&mut self, now: Instant, ranges: &[(u64, u64)], delay: Duration) {
        let Some(&(_, end)) = ranges.first() else { return };
        let largest = end - 1;
        self.counts.acks_received += 1;
        let in_flight = self.sent.in_flight();
        let sample = self.sent.get(largest).filter(|sent| !sent.acked).map(|sent| now - sent.time);
        if let Some(sample) = sample {
            self.rtt.update(sample, delay, self.config.ack_delay_below_min);
        }
        self.landed.clear();
        let landed = &mut self.landed;
        let done = self.sent.acknowledge(ranges, |number, bytes| {
            landed.push(Counted { number, bytes: bytes.into() });
        });
        self.counts.spurious += done.spurious;
        if done.reordered > 0 {
            self.loss.on_reordered(done.reordered);
        }
        self.received.ack_was_received(done.acks);
        self.newly = done.largest.unwrap_or(self.newly);
        self.detect_losses(now);
        let timed_out = self.timers.timeouts() > 0;
        if timed_out {
            // Losses after a timeout do not reduce the window further.
            for i in 0..self.lost.len() {
                self.sent.land(self.lost[i]);
            }
            self.lost.clear();
        }
        self.congestion_event(now, in_flight, sample.is_some());
        self.sent.forget_done();
        if sample.is_some() {
            if timed_out {
                if largest < self.after_timeout {
                    self.rtt.expire();
                } else {
                    self.window.on_timeout();
                }
            }
            // spec: rfc9002 6.2.1 - a client keeps its PTO backoff while the server may be blocked on it.
            if !(self.handshake.may_hold_up() && self.timers.pto().is_some_and(|pto| pto.doubles_while_held))
            {
                self.timers.reset();
            }
        }
    }
}
