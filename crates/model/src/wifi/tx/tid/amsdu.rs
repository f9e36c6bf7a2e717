//! A-MSDU: new packets join the last frame of the PPDU that is filled.

use crate::types::{Ctx, Pkt, Sink};
use crate::wifi::air::ppdu::Mpdu;
use crate::wifi::phy::frame::joined_mpdu;
use crate::wifi::seq_window::Seq;
use crate::wifi::tx::aggregate::Subframes;

/// Pulls packets and adds them to `last` while they fit. Returns the first packet that does not fit. `next`
/// is the number of the next frame.
///
/// A frame accepts packets only while it is unsent and the last of its PPDU, so that packets keep their
/// order. A packet that arrives while a PPDU waits for the medium joins the same frame as if the PPDU were
/// built later.
// spec: ieee80211-2016 9.3.2.2 - all packets have the same TID, transmitter and receiver.
// deviation: joins only packets charged to the same socket or to none, because an MPDU has one charge:
// locally sent packets of one socket, or any forwarded packets. No source documents how firmware chooses.
#[cold]
pub(super) fn pull<'a, S: Sink>(
    pull: &mut impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    last: Option<&mut Mpdu>,
    next: Seq,
    sealed: u32,
    subframes: &mut Subframes,
    ctx: &mut Ctx<'a, S>,
) -> Option<Pkt> {
    let limits = subframes.limits().amsdu();
    let open = |mpdu: &Mpdu| mpdu.tries == 0 && mpdu.probe.is_none() && mpdu.seq.plus(1) == next;
    let Some((first, last)) = last.filter(|mpdu| open(mpdu)).and_then(|mpdu| Some((mpdu.pkt?, mpdu))) else {
        return pull(ctx);
    };
    loop {
        let p = pull(ctx)?;
        let before = u32::from(last.len);
        let len = joined_mpdu(before, sealed, last.msdus == 1, ctx.packets.get(p).len);
        if limits.by_host && !ctx.packets.get(p).follows
            || last.msdus >= limits.packets
            || len > u32::from(limits.bytes)
            || !subframes.would_grow(len - before)
            || ctx.packets.charge(p) != ctx.packets.charge(first)
        {
            return Some(p);
        }
        let hot = ctx.packets.get(p);
        last.truesize += hot.truesize;
        last.airtime += hot.airtime;
        last.len = len as u16;
        last.msdus += 1;
        ctx.packets.join(first, p);
        subframes.grow(len, len - before);
    }
}
