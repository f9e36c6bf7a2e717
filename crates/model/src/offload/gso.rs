//! Splits a packet of several segments: in the device (TSO), or just above a device without TSO (GSO).

use crate::types::{Ctx, Instant, PacketKind, Packets, Pkt, Sink, Step, TcpFlags, linear_truesize};

/// Splits `p` into its segments and hands them on in order; the last segment is `p` itself. If the packet's
/// truesize is the sum of its segments', each segment carries its part of the charge; otherwise the last
/// carries all of it, so that the socket is uncharged when the whole packet has left.
// linux: net/ipv4/tcp_offload.c tcp_gso_segment (4.4) - each segment is charged to the socket with its own
// memory. FIN and PSH stay with the last, CWR with the first.
// deviation: a whole that weighs less is not charged for what its segments hold more - it does not know the
// socket. Senders whose device never splits are charged for them from the beginning.
pub fn split(packets: &mut Packets, p: Pkt, mut each: impl FnMut(&mut Packets, Pkt)) {
    let whole = packets.get(p);
    if whole.kind == PacketKind::External {
        return split_external(packets, p, each);
    }
    let (segs, len, seq, kind) = (u32::from(whole.segs), whole.len, whole.seq, whole.kind);
    let truesize = whole.truesize;
    let header = (kind == PacketKind::Tcp).then(|| *packets.tcp(p));
    let payload = header.map_or(0, |h| h.payload);
    let headers = headers(len, segs, payload);
    let mss = header.map_or(0, |h| u32::from(h.mss));
    let apart = truesize / segs >= linear_truesize(headers + mss);
    for n in 0..segs {
        let last = n + 1 == segs;
        let segment = if last { p } else { packets.duplicate(p) };
        let data = if last { payload.saturating_sub(n * mss) } else { mss };
        if apart && !last {
            packets.charge_as(segment, p);
        }
        let hot = packets.get_mut(segment);
        hot.segs = 1;
        hot.len = match (last, header) {
            (true, None) => len - n * headers,
            _ => headers + data,
        };
        match (apart, last) {
            (true, true) => hot.truesize = truesize - n * (truesize / segs),
            (true, false) => hot.truesize = truesize / segs,
            (false, true) => {}
            (false, false) => hot.truesize = linear_truesize(hot.len),
        }
        if let Some(header) = &header {
            hot.seq = seq.wrapping_add(n * mss);
            let part = packets.tcp_mut(segment);
            part.payload = data;
            part.flags = flags(header.flags, n == 0, last);
        }
        each(packets, segment);
    }
}

/// The same of a packet that comes from outside, whose segments have their bytes. The last carries the
/// charge.
// deviation: the driver's token is on the last alone - where a discipline splits and then drops that, the
// token ends while others still wait.
#[cold]
fn split_external(packets: &mut Packets, p: Pkt, mut each: impl FnMut(&mut Packets, Pkt)) {
    while packets.get(p).segs > 1 {
        let segment = packets.split_off(p);
        let hot = packets.get_mut(segment);
        hot.truesize = linear_truesize(hot.len);
        each(packets, segment);
    }
    let hot = packets.get_mut(p);
    hot.truesize = linear_truesize(hot.len);
    each(packets, p);
}

/// The same within a world: an observer that follows packets is told of each new one.
#[inline]
pub fn split_by<S: Sink>(
    now: Instant,
    p: Pkt,
    ctx: &mut Ctx<'_, S>,
    mut each: impl FnMut(&mut Ctx<'_, S>, Pkt),
) {
    let Ctx { packets, trace } = ctx;
    split(packets, p, |packets, segment| {
        let ctx = &mut Ctx { packets, trace: &mut **trace };
        if S::STEPS && segment != p {
            ctx.step(now, &Step::Copied { from: p, to: segment });
        }
        each(ctx, segment);
    });
}

/// Headers of each segment; what carries no TCP is split evenly, the rest going to the last.
fn headers(len: u32, segs: u32, payload: u32) -> u32 {
    (len - payload) / segs
}

/// Length in bytes of each segment except the last, from the IP header on.
pub fn full_segment(packets: &Packets, p: Pkt) -> u32 {
    let whole = packets.get(p);
    let (payload, mss) = match whole.kind {
        PacketKind::Tcp => (packets.tcp(p).payload, u32::from(packets.tcp(p).mss)),
        PacketKind::External => return packets.bytes(p).len() as u32,
        _ => (0, 0),
    };
    headers(whole.len, u32::from(whole.segs), payload) + mss
}

fn flags(whole: TcpFlags, first: bool, last: bool) -> TcpFlags {
    let TcpFlags(mut bits) = whole;
    if !first {
        bits &= !TcpFlags::CWR.0;
    }
    if !last {
        bits &= !(TcpFlags::FIN.0 | TcpFlags::PSH.0);
    }
    TcpFlags(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::{Bench, SOCK, TRUESIZE};
    use crate::types::{Addr, FlowId, Instant, NewPacket, SockId, TcpHeader};
    use alloc::vec::Vec;

    fn tcp(b: &mut Bench, payload: u32, segs: u16, flags: TcpFlags) -> Pkt {
        let new = NewPacket {
            now: Instant::ZERO,
            flow: FlowId(1),
            flow_hash: 5,
            len: payload + 52 * u32::from(segs),
            truesize: TRUESIZE,
            charge: SOCK,
            seq: u32::MAX - 999,
            src: Addr(0),
            dst: Addr(1),
            tos: 2,
            kind: PacketKind::Tcp,
        };
        let header = TcpHeader { payload, mss: 1448, flags, ..TcpHeader::blank(SockId(4)) };
        b.packets.create_tcp(new, segs, 9, &header)
    }

    #[test]
    fn segments_have_their_own_headers_and_the_last_has_the_charge() {
        let mut b = Bench::new();
        let all = TcpFlags::ACK.with(TcpFlags::PSH).with(TcpFlags::FIN).with(TcpFlags::CWR);
        let p = tcp(&mut b, 2 * 1448 + 100, 3, all);
        let mut seen = Vec::new();
        split(&mut b.packets, p, |packets, s| {
            let (hot, header) = (packets.get(s).clone(), *packets.tcp(s));
            assert_eq!((hot.segs, hot.ack, hot.tos), (1, 9, 2));
            seen.push((hot.seq, hot.len, header.payload, header.flags.0, packets.charge(s) == SOCK));
            packets.free(s, crate::types::Fate::Delivered);
        });
        let (ack, fin_psh, cwr) = (TcpFlags::ACK.0, TcpFlags::FIN.0 | TcpFlags::PSH.0, TcpFlags::CWR.0);
        assert_eq!(
            seen,
            [
                (u32::MAX - 999, 1500, 1448, ack | cwr, false),
                (448, 1500, 1448, ack, false),
                (1896, 152, 100, ack | fin_psh, true),
            ]
        );
        assert_eq!((b.uncharged(), b.packets.account().created, b.packets.live()), (1, 3, 0));
    }

    #[test]
    fn what_weighs_as_much_as_its_segments_apart_shares_its_charge() {
        let mut b = Bench::new();
        let p = tcp(&mut b, 2 * 1448 + 100, 3, TcpFlags::ACK);
        b.packets.get_mut(p).truesize = 3 * TRUESIZE;
        let mut seen = Vec::new();
        split(&mut b.packets, p, |packets, s| {
            seen.push((packets.get(s).truesize, packets.charge(s) == SOCK));
            packets.free(s, crate::types::Fate::Delivered);
        });
        assert_eq!(seen, [(TRUESIZE, true); 3]);
        assert_eq!(b.uncharged(), 3);
    }

    #[test]
    fn whatever_is_split_keeps_its_bytes() {
        for (payload, segs) in [(1448, 1), (1449, 2), (45 * 1448, 45), (44 * 1448 + 1, 45)] {
            let mut b = Bench::new();
            let p = tcp(&mut b, payload, segs, TcpFlags::ACK);
            let (mut data, mut len, mut count) = (0, 0, 0);
            split(&mut b.packets, p, |packets, s| {
                (data, len) = (data + packets.tcp(s).payload, len + packets.get(s).len);
                count += 1;
            });
            assert_eq!((data, len, count), (payload, payload + 52 * u32::from(segs), segs));
        }
        // Something else than TCP: as even as it goes.
        let mut b = Bench::new();
        let p = b.packet(1, 100);
        b.packets.get_mut(p).segs = 3;
        let mut lens = Vec::new();
        split(&mut b.packets, p, |packets, s| lens.push(packets.get(s).len));
        assert_eq!(lens, [33, 33, 34]);
    }
}
