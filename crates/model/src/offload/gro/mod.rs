//! Generic receive offload (GRO): merges consecutive TCP segments that an interface receives in one poll.

mod bytes;

use crate::types::{BytesId, Fate, PacketKind, Packets, Pkt, SockId, TcpFlags};
use alloc::vec::Vec;

/// Packets that are looked at together: the budget of one poll, after which what is held goes up.
// linux: include/linux/netdevice.h NAPI_POLL_WEIGHT (4.4).
const BUDGET: usize = 64;
/// Most flows of which a packet is held.
// linux: net/core/dev.c MAX_GRO_SKBS (4.4) - the oldest goes up for another.
const FLOWS: usize = 8;
/// A packet stays below so many bytes. With one segment a page fragment this is reached before anything else:
/// beyond 17 fragments the kernel chains buffers.
// linux: net/core/skbuff.c skb_gro_receive (4.4).
const MAX_BYTES: u32 = 65_536;

/// A packet that may still grow: whom it is for, and its place in the batch. One from outside is for nobody
/// here, and has its last bytes.
#[derive(Clone, Copy, Debug)]
struct Held {
    to: SockId,
    at: usize,
    last: Option<BytesId>,
}

/// Merges the segments of a batch that was received at once. The order within a flow is kept. A merged packet
/// takes the place of its first segment.
pub fn merge(packets: &mut Packets, batch: &mut Vec<Pkt>) {
    let (mut kept, mut from) = (0, 0);
    while from < batch.len() {
        let to = (from + BUDGET).min(batch.len());
        kept = poll(packets, batch, from, to, kept);
        from = to;
    }
    batch.truncate(kept);
}

/// Moves packets `from..to` of the batch down to `kept` and on, merged; returns where the next one goes.
fn poll(packets: &mut Packets, batch: &mut [Pkt], from: usize, to: usize, mut kept: usize) -> usize {
    let mut held = [Held { to: SockId::NONE, at: 0, last: None }; FLOWS];
    let mut count = 0;
    for n in from..to {
        let p = batch[n];
        let grows = match packets.get(p).kind {
            PacketKind::Tcp => {
                let sock = packets.tcp(p).to;
                let known = held[..count].iter().position(|h| h.to == sock);
                if let Some(i) = known {
                    let into = batch[held[i].at];
                    if continues(packets, into, p) {
                        if join(packets, into, p) {
                            forget(&mut held, &mut count, i);
                        }
                        continue;
                    }
                    forget(&mut held, &mut count, i);
                }
                may_grow(packets, p).then_some((sock, None))
            }
            PacketKind::External => {
                let known =
                    held[..count].iter().position(|h| bytes::is_of_flow(packets, batch[h.at], h.last, p));
                if let Some(i) = known {
                    let into = batch[held[i].at];
                    if let Some(last) = held[i].last.filter(|_| bytes::continues(packets, into, p)) {
                        held[i].last = bytes::join(packets, into, last, p);
                        if held[i].last.is_none() {
                            forget(&mut held, &mut count, i);
                        }
                        continue;
                    }
                    forget(&mut held, &mut count, i);
                }
                bytes::may_grow(packets, p).map(|last| (SockId::NONE, Some(last)))
            }
            _ => None,
        };
        if let Some((to, last)) = grows {
            if count == FLOWS {
                forget(&mut held, &mut count, 0);
            }
            held[count] = Held { to, at: kept, last };
            count += 1;
        }
        batch[kept] = p;
        kept += 1;
    }
    kept
}

/// Takes a flow off the list, whose order is that of age.
fn forget(held: &mut [Held; FLOWS], count: &mut usize, i: usize) {
    held.copy_within(i + 1..*count, i);
    *count -= 1;
}

/// Flags with which a segment ends what it is merged into.
const ENDING: u8 = TcpFlags::PSH.0 | TcpFlags::RST.0 | TcpFlags::SYN.0 | TcpFlags::FIN.0;

/// Whether a packet may have others merged into it: it carries data, full segments if it stands for several,
/// and no flag that ends it. What a single one carries is from now on the size of its segments.
// linux: net/ipv4/tcp_offload.c tcp_gro_receive (4.4).
fn may_grow(packets: &mut Packets, p: Pkt) -> bool {
    let segs = u32::from(packets.get(p).segs);
    let header = packets.tcp_mut(p);
    if header.payload == 0 || header.flags.0 & ENDING != 0 {
        return false;
    }
    if segs == 1 {
        header.mss = u16::try_from(header.payload).unwrap_or(u16::MAX);
    }
    header.payload == segs * u32::from(header.mss)
}

/// Whether `p` continues `into`.
// linux: net/ipv4/tcp_offload.c tcp_gro_receive, net/ipv4/af_inet.c inet_gro_receive (4.4) - the next
// sequence number, the same acknowledgement, options, type of service and time to live, no flag that differs
// but FIN and PSH, never with CWR, no more data than a segment of the first has.
// deviation: the window is compared too - the kernel keeps the first one's; a sender of data rarely changes
// it.
fn continues(packets: &Packets, into: Pkt, p: Pkt) -> bool {
    let (a, b) = (packets.get(into), packets.get(p));
    let (x, y) = (packets.tcp(into), packets.tcp(p));
    let ignored = TcpFlags::FIN.0 | TcpFlags::PSH.0;
    // As long as the kernel's packet, which has its headers once.
    let len = (a.len - x.payload) / u32::from(a.segs) + x.payload;
    b.segs == 1
        && y.payload > 0
        && y.payload <= u32::from(x.mss)
        && b.seq == a.seq.wrapping_add(x.payload)
        && (a.ack, a.tos, a.ttl) == (b.ack, b.tos, b.ttl)
        && (x.ts_val, x.ts_ecr, x.window) == (y.ts_val, y.ts_ecr, y.window)
        && x.sack_blocks() == y.sack_blocks()
        && (x.flags.0 ^ y.flags.0) & !ignored == 0
        && !y.flags.has(TcpFlags::CWR)
        && len + y.payload < MAX_BYTES
}

/// Merges `p` into `into`; true if that can grow no more.
fn join(packets: &mut Packets, into: Pkt, p: Pkt) -> bool {
    let (len, truesize, payload, flags) = {
        let (hot, header) = (packets.get(p), packets.tcp(p));
        (hot.len, hot.truesize, header.payload, header.flags)
    };
    packets.free(p, Fate::Merged);
    let hot = packets.get_mut(into);
    hot.segs += 1;
    hot.len += len;
    hot.truesize += truesize;
    let header = packets.tcp_mut(into);
    header.payload += payload;
    header.flags = header.flags.with(flags);
    payload < u32::from(header.mss) || flags.0 & ENDING != 0
}

#[cfg(test)]
mod tests;
