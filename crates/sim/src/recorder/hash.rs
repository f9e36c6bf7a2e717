//! Hash over the whole trace: runs with equal events at equal times have equal hashes.

use stillair_model::types::{Instant, QuicTrace, TraceEvent};

/// Running hash. Mixes in each word by multiplication and rotation, cheap enough to be always on.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceHash(u64);

impl TraceHash {
    /// Adds one event.
    #[inline(always)]
    pub fn add(&mut self, now: Instant, what: &TraceEvent) {
        if let Some(words) = Self::words(now, what) {
            self.mix_event(words);
        }
    }

    /// Adds the words of one event.
    #[inline]
    pub(super) fn mix_event(&mut self, words: [u64; 2]) {
        words.into_iter().for_each(|word| self.mix(word));
    }

    /// Returns the words of an event, or `None` if the event is not hashed.
    #[inline(always)]
    pub(super) fn words(now: Instant, what: &TraceEvent) -> Option<[u64; 2]> {
        let (low, high) = match *what {
            TraceEvent::Delivered { flow, kind, seq, len, .. } => {
                (pack(1, flow.0, kind as u64), u64::from(seq) << 32 | u64::from(len))
            }
            TraceEvent::Read { flow, forth, bytes } => (pack(4, flow.0, u64::from(forth)), u64::from(bytes)),
            // Not hashed, because their consequences are: packets sent, dropped or answered.
            TraceEvent::Asked { .. }
            | TraceEvent::Skipped { .. }
            | TraceEvent::Doubled { .. }
            | TraceEvent::Quic { what: QuicTrace::HandedDown { .. }, .. } => return None,
            TraceEvent::Quic { flow, what } => quic(flow.0, what),
            TraceEvent::Loaded { flow, took } => (pack(5, flow.0, 0), took.nanos()),
            TraceEvent::Probed { flow, probe, took } => (pack(7, flow.0, probe as u64), took.nanos()),
            TraceEvent::Dropped { flow, seq, reason, place, .. } => {
                (pack(2, flow.0, reason as u64), u64::from(seq) << 32 | u64::from(place.0))
            }
            TraceEvent::Ppdu(t) => (
                pack(3, u32::from(t.dev.0) << 16 | u32::from(t.peer.0), t.kind as u64),
                t.airtime.nanos() << 24
                    | u64::from(t.mpdus) << 16
                    | u64::from(t.received) << 8
                    | u64::from(t.attempt) << 2
                    | u64::from(t.collided) << 1
                    | u64::from(t.acknowledged),
            ),
        };
        Some([now.nanos() ^ low.rotate_left(40), high])
    }

    #[inline]
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// Returns the hash so far.
    pub const fn finish(self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// Returns the words of a QUIC event.
#[inline]
fn quic(flow: u32, what: QuicTrace) -> (u64, u64) {
    let (kind, high) = match what {
        QuicTrace::Sent { src, number, len, .. } => {
            (0, u64::from(src.0) << 48 ^ number << 16 ^ u64::from(len))
        }
        QuicTrace::Received { src, number, len, .. } => {
            (1, u64::from(src.0) << 48 ^ number << 16 ^ u64::from(len))
        }
        QuicTrace::Window { cwnd, in_flight, srtt, slow_start } => {
            (2 + u64::from(slow_start == Some(true)), cwnd << 32 ^ in_flight ^ srtt.nanos() << 16)
        }
        QuicTrace::Lost { number } => (4, number),
        QuicTrace::Established => (5, 0),
        QuicTrace::Done => (6, 0),
        QuicTrace::HandedDown { .. } => unreachable!("left out above"),
    };
    (pack(6, flow, kind), high)
}

#[inline]
fn pack(tag: u64, id: u32, small: u64) -> u64 {
    tag << 60 | small << 32 | u64::from(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stillair_model::types::{
        Ac, Addr, ChannelId, DevId, Duration, FlowId, PacketKind, PeerId, PlaceId, PpduKind, PpduTry, Probe,
        Rate, Reason,
    };

    fn delivered(flow: u32, kind: PacketKind, seq: u32, len: u32) -> TraceEvent {
        TraceEvent::Delivered { flow: FlowId(flow), kind, seq, len, delay: Duration::ZERO, src: Addr(0) }
    }

    fn dropped(flow: u32, seq: u32, reason: Reason, place: u16) -> TraceEvent {
        TraceEvent::Dropped {
            flow: FlowId(flow),
            seq,
            sent: Instant::ZERO,
            src: Addr(0),
            reason,
            place: PlaceId(place),
        }
    }

    fn probed(flow: u32, probe: Probe, took: u64) -> TraceEvent {
        TraceEvent::Probed { flow: FlowId(flow), probe, took: Duration::from_nanos(took) }
    }

    fn ppdu(change: impl FnOnce(&mut PpduTry)) -> TraceEvent {
        let mut t = PpduTry {
            channel: ChannelId(0),
            dev: DevId(1),
            peer: PeerId(1),
            ac: Ac::Be,
            kind: PpduKind::Single,
            start: Instant::ZERO,
            airtime: Duration::from_micros(100),
            rate: Rate::from_bps(6_500_000),
            mpdus: 1,
            received: 1,
            attempt: 0,
            collided: false,
            acknowledged: true,
        };
        change(&mut t);
        TraceEvent::Ppdu(t)
    }

    fn hash(events: &[(u64, TraceEvent)]) -> u64 {
        let mut h = TraceHash::default();
        events.iter().for_each(|(at, what)| h.add(Instant::from_nanos(*at), what));
        h.finish()
    }

    #[test]
    fn any_difference_changes_the_hash() {
        let one = |what| hash(&[(1_000, what)]);
        let mut all = vec![
            hash(&[]),
            one(delivered(1, PacketKind::Udp, 1, 100)),
            hash(&[(1_001, delivered(1, PacketKind::Udp, 1, 100))]),
            one(delivered(2, PacketKind::Udp, 1, 100)),
            one(delivered(1, PacketKind::EchoReply, 1, 100)),
            one(delivered(1, PacketKind::Udp, 2, 100)),
            one(delivered(1, PacketKind::Udp, 1, 101)),
            one(dropped(1, 1, Reason::Codel, 1)),
            one(dropped(2, 1, Reason::Codel, 1)),
            one(dropped(1, 2, Reason::Codel, 1)),
            one(dropped(1, 1, Reason::RetryLimit, 1)),
            one(dropped(1, 1, Reason::Codel, 2)),
            one(probed(1, Probe::Tcp, 5)),
            one(probed(2, Probe::Tcp, 5)),
            one(probed(1, Probe::Loaded, 5)),
            one(probed(1, Probe::Tcp, 6)),
            one(ppdu(|_| ())),
            one(ppdu(|t| t.dev = DevId(2))),
            one(ppdu(|t| t.peer = PeerId(2))),
            one(ppdu(|t| t.kind = PpduKind::Aggregate)),
            one(ppdu(|t| t.airtime = Duration::from_nanos(100_001))),
            one(ppdu(|t| t.mpdus = 2)),
            one(ppdu(|t| t.received = 0)),
            one(ppdu(|t| t.attempt = 1)),
            one(ppdu(|t| t.collided = true)),
            one(ppdu(|t| t.acknowledged = false)),
        ];
        let (a, b) = ((5, delivered(1, PacketKind::Udp, 1, 100)), (5, delivered(2, PacketKind::Udp, 1, 100)));
        all.extend([hash(&[a, b]), hash(&[b, a]), hash(&[a, a])]);
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
