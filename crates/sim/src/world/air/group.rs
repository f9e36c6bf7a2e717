//! Group-addressed frames. Each receiving device passes a copy to its host if the host is a member of the
//! group.

use stillair_model::types::{Addr, DevId, Fate, FlowId, Instant, PeerId, Reason, Step};
use stillair_model::wifi::air::medium::TxOutcome;
use stillair_model::wifi::air::ppdu::Ppdu;
use stillair_model::wifi::air::reception::RxOutcome;
use stillair_model::wifi::marks::Marks;

use super::exchange::At;
use super::tries::TryOutcome;
use super::{Air, UpperLayer};

/// Membership of a host in a group.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct Member {
    /// Flow of the packets to the group.
    pub(in crate::world) flow: FlowId,
    /// Flow under which this host counts the packets, and the host's address.
    pub(in crate::world) own: (FlowId, Addr),
}

impl Air {
    /// Joins the host of a device to a group.
    pub(in crate::world) fn join(&mut self, dev: DevId, member: Member) {
        self.wlans[dev.index()].groups.push(member);
    }

    /// Concludes the exchange of a group-addressed frame. The frame counts as received unless it collided,
    /// even if some members lost it.
    #[cold]
    pub(super) fn group_concluded<A: UpperLayer>(
        &mut self,
        above: &mut A,
        at: At,
        ppdu: Box<Ppdu>,
        fate: TryOutcome,
    ) {
        let came = if fate.collided { Marks::NONE } else { Marks::first(1) };
        let got = RxOutcome { whole: came, readable: came };
        self.report(above.core(), at.index, &ppdu, at.start, at.took, &got, fate);
        self.leaves(at.radio, at.queue, &ppdu, true);
        self.back_off(above.core().now, at, TxOutcome::Finished);
        self.group_sent(above, ppdu, at.start, fate.collided);
    }

    /// Completes a group-addressed frame, which is sent once and not acknowledged. Its packet ends here;
    /// copies are passed up at the members that received the frame.
    // deviation: with hidden stations, neither overlapping frames nor interference destroy group-addressed
    // frames.
    pub(super) fn group_sent<A: UpperLayer>(
        &mut self,
        above: &mut A,
        mut ppdu: Box<Ppdu>,
        start: Instant,
        collided: bool,
    ) {
        let dev = ppdu.header.dev;
        let stations = self.wlans[dev.index()].dev.tx.peers.len() - 1;
        let mpdu = ppdu.mpdus.first_mut().and_then(|mpdu| Some((mpdu.pkt.take()?, mpdu)));
        let (packet, mpdu) = mpdu.expect("a frame to a group has a packet");
        let core = above.core();
        let flow = core.packets.get(packet).flow;
        (mpdu.charge, mpdu.truesize) = core.packets.take_charge(packet);
        for n in 0..stations {
            let peer = PeerId::from_index(n);
            let sender = &mut self.wlans[dev.index()];
            let path = &mut sender.dev.tx.peers[peer.index()];
            let (remote, heard) = (path.remote.0, path.errors.receive(start, &ppdu, &mut sender.errors));
            let wlan = &mut self.wlans[remote.index()];
            let comes = wlan.dev.takes_group(ppdu.more) && heard.whole.any() && !collided;
            let Some(member) = wlan.groups.iter().find(|member| member.flow == flow).copied() else {
                continue;
            };
            let (interface, place) = (wlan.interface, wlan.dev.place());
            let core = above.core();
            let copy = core.packets.duplicate(packet);
            core.step(&Step::Copied { from: packet, to: copy });
            let hot = core.packets.get_mut(copy);
            (hot.flow, hot.dst) = (member.own.0, member.own.1.of(hot.dst.ip()));
            if comes {
                let mut up = self.batches.pop().unwrap_or_default();
                up.push(copy);
                above.up(self, interface, &mut up);
                self.batches.push(up);
            } else {
                let now = core.now;
                core.ctx().drop(now, copy, Reason::Missed, place);
            }
        }
        above.core().packets.free(packet, Fate::Consumed);
        ppdu.acknowledged = true;
        self.tx_status(above, ppdu);
        let (wlan, mut hw) = self.open(dev);
        let core = above.core();
        wlan.dev.next_group(core.now, &mut hw, &mut core.ctx());
    }
}
