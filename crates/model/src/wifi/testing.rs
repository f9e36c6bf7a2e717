//! A sender with its radio on an idle channel, for the tests of drivers and sessions. Sequence numbers
//! identify packets, and each packet is charged to a socket of its own.

use crate::types::{
    Ac, ChannelId, Ctx, DevId, Duration, Instant, NewPacket, NoSink, Packets, PeerId, Pkt, Rate, Seed, SockId,
};
use crate::wifi::air::edca::EdcaSet;
use crate::wifi::air::medium::{Medium, TxOutcome};
use crate::wifi::air::ppdu::{Content, Header, Mpdu, Ppdu, Returned};
use crate::wifi::air::radio::Radio;
use crate::wifi::config::HardwareDepth;
use crate::wifi::phy::timing::Timing;
use crate::wifi::phy::{Band, PhyRate, RateTry, RetryChain};
use crate::wifi::rate::RateControl;
use crate::wifi::seq_window::Seq;
use crate::wifi::tx::transmitter::{Hardware, Peer, TidIndex, Transmitter};
use alloc::boxed::Box;
use alloc::vec::Vec;

pub(crate) const TRUESIZE: u32 = 2304;

pub(crate) fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

/// A retry chain of the named rates with two tries each.
pub(crate) fn chain(names: &[&str]) -> RetryChain {
    let tries: Vec<_> = names.iter().map(|n| RateTry::new(PhyRate::parse(n).unwrap(), 2)).collect();
    RetryChain::new(&tries).unwrap()
}

/// A peer with at most `frames` frames per aggregate.
pub(crate) fn peer(names: &[&str], frames: u32) -> Peer {
    let mut peer = Peer::new((DevId(1), PeerId(0)), RateControl::Fixed(chain(names)));
    peer.most.0 = frames;
    peer.choose(|_| Duration::ZERO);
    peer.expected = Rate::from_mbps(100);
    peer
}

/// A medium with the five EDCA functions of one radio, and that radio.
pub(crate) fn radio(name: &str) -> (Medium, Radio) {
    let timing = Timing::of(Band::Ghz5);
    let mut medium = Medium::new(timing.sifs, timing.slot);
    let edca = EdcaSet::STATION;
    let functions = [Ac::Vo, Ac::Vi, Ac::Be, Ac::Bk, Ac::Vo]
        .map(|ac| medium.add(edca.get(ac), Seed { seed: 1, run: 0 }.stream(name)));
    (medium, Radio::new(ChannelId(0), functions, HardwareDepth::default(), &edca))
}

/// A device's transmit half and its environment.
pub(crate) struct Rig {
    pub(crate) packets: Packets,
    pub(crate) sink: NoSink,
    pub(crate) radio: Radio,
    pub(crate) medium: Medium,
    pub(crate) tx: Transmitter,
    made: u32,
}

impl Rig {
    pub(crate) fn new(peers: impl IntoIterator<Item = Peer>) -> Self {
        let (medium, radio) = radio("rig");
        let mut tx = Transmitter::new(DevId(0));
        peers.into_iter().for_each(|p| {
            tx.add_peer(p);
        });
        Self { packets: Packets::new(), sink: NoSink, radio, medium, tx, made: 0 }
    }

    /// Creates a sender with Block Ack sessions for all TIDs that can have one.
    pub(crate) fn in_session(peers: impl IntoIterator<Item = Peer>) -> Self {
        let mut rig = Self::new(peers);
        let closed = |s| s == crate::wifi::tx::tid::BlockAckSession::Closed;
        rig.tx.tids.iter_mut().filter(|t| closed(t.session)).for_each(|t| t.open(64));
        rig
    }

    /// Replaces the idle radio by one with other limits.
    pub(crate) fn set_depth(&mut self, depth: HardwareDepth) {
        self.radio = Radio::new(ChannelId(0), self.radio.edcafs, depth, &EdcaSet::STATION);
    }

    pub(crate) fn parts(&mut self) -> (&mut Transmitter, Hardware<'_>, Ctx<'_, NoSink>) {
        (
            &mut self.tx,
            Hardware { radio: &mut self.radio, medium: &mut self.medium },
            Ctx { packets: &mut self.packets, trace: &mut self.sink },
        )
    }

    pub(crate) fn ctx(&mut self) -> Ctx<'_, NoSink> {
        Ctx { packets: &mut self.packets, trace: &mut self.sink }
    }

    /// Creates the next packet of `len` bytes, charged to the socket with its number.
    pub(crate) fn packet(&mut self, tid: TidIndex, len: u32) -> Pkt {
        let p = packet(&mut self.packets, self.made, len);
        let hot = self.packets.get_mut(p);
        (hot.peer, hot.tid) = (tid.peer(), tid.tid());
        self.made += 1;
        p
    }

    /// Completes the PPDU at the head of a hardware queue.
    pub(crate) fn pop(&mut self, now: Instant, ac: Ac) -> Box<Ppdu> {
        let ppdu = self.radio.pop(ac.index()).expect("a PPDU in the queue");
        let more = self.radio.queued(ac.index()) > 0;
        self.medium.done(now, self.radio.edcafs[ac.index()], TxOutcome::Finished, more);
        self.medium.idle(now, now);
        ppdu
    }

    /// Peers of the PPDUs in a queue, first to last.
    pub(crate) fn hardware(&self, ac: Ac) -> Vec<u16> {
        self.radio.ppdus().filter(|p| p.header.ac == ac).map(|p| p.header.peer.0).collect()
    }

    pub(crate) fn uncharged(&mut self) -> Vec<u32> {
        uncharged(&mut self.packets)
    }
}

pub(crate) fn uncharged(packets: &mut Packets) -> Vec<u32> {
    let mut ended: Vec<u32> = core::iter::from_fn(|| packets.pop_uncharged())
        .map(|(sock, size)| {
            assert_eq!(size, TRUESIZE);
            sock.0
        })
        .collect();
    ended.sort_unstable();
    ended
}

/// Creates a packet charged to the socket with its number.
pub(crate) fn packet(packets: &mut Packets, seq: u32, len: u32) -> Pkt {
    packets.create(NewPacket { len, truesize: TRUESIZE, charge: SockId(seq), seq, ..NewPacket::PLAIN })
}

/// Creates a best-effort session PPDU to peer 0 with frames of these sequence numbers; packets have the same
/// numbers.
pub(crate) fn ppdu(packets: &mut Packets, seqs: impl IntoIterator<Item = u16>) -> Ppdu {
    let content = Content::Data { aggregate: true };
    let header = Header { dev: DevId(0), peer: PeerId(0), ac: Ac::Be, tid: 0, content, in_session: true };
    let mpdus = seqs
        .into_iter()
        .map(|seq| Mpdu {
            airtime: 0,
            pkt: Some(packet(packets, u32::from(seq), 1500)),
            seq: Seq::new(seq),
            len: 1538,
            tries: 0,
            returned: Returned::No,
            probe: None,
            charge: SockId::NONE,
            truesize: TRUESIZE,
            msdus: 1,
        })
        .collect();
    Ppdu::new(header, chain(&["ht20-mcs7-lgi"]), mpdus)
}
