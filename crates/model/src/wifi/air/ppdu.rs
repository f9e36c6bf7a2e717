//! PPDUs on their way through the hardware, and the frames in them.

use crate::vocabulary::{
    Ac, ContentView, Ctx, DevId, Duration, Instant, MpduView, Packets, PeerId, Pkt, PpduKind, Sink, SockId,
    Step,
};
use crate::wifi::marks::Marks;
use crate::wifi::phy::frame;
use crate::wifi::phy::{PhyRate, RateTry, RetryChain};
use crate::wifi::rate::Probe;
use crate::wifi::seq_window::Seq;
use alloc::vec::Vec;

/// Whether the hardware has returned a frame unsent, and why it did last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returned {
    /// It has not.
    No,
    /// Its receiver fell asleep. In mac80211's hands such a frame expires.
    Asleep,
    /// Another to its receiver had failed, and mac80211 sent it once more.
    Once,
}

/// One data frame of a PPDU: the sender's entry for a packet from the time it got its sequence number until its fate
/// is known.
#[derive(Clone, Copy, Debug)]
pub struct Mpdu {
    /// The packet, of an A-MSDU the first, as long as the receiver has not got it.
    pub pkt: Option<Pkt>,
    /// Sequence number.
    pub seq: Seq,
    /// Length in bytes from the MAC header to the frame check sequence.
    pub len: u16,
    /// Hardware tries so far.
    pub tries: u8,
    /// The hardware has returned it unsent before.
    pub returned: Returned,
    /// What it shall find out: it is sent alone then, with that rate in its chain.
    pub probe: Option<Probe>,
    /// Whose memory is charged once the packet has gone up at the receiver.
    pub charge: SockId,
    /// How much.
    pub truesize: u32,
    /// Airtime that it counts for until its driver hears of it, in units of 4 us.
    pub airtime: u16,
    /// Packets in it: more than one in an A-MSDU.
    pub msdus: u8,
}

impl Mpdu {
    /// Packets that it holds, as long as the receiver has not got them.
    #[inline]
    pub fn held(&self) -> u64 {
        if self.pkt.is_some() { u64::from(self.msdus) } else { 0 }
    }
}

/// What a PPDU is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Data frames, in an A-MPDU (answered by a Block Ack) or a single one (answered by an ACK).
    Data {
        /// Whether it is an A-MPDU.
        aggregate: bool,
    },
    /// A request for a Block Ack that moves the receiver's window to `start`.
    Bar {
        /// The new left edge.
        start: Seq,
    },
    /// The request to open a Block Ack session.
    AddbaRequest {
        /// First sequence number of the session.
        start: Seq,
        /// Frames of the window that is asked for.
        frames: u16,
    },
    /// The answer to such a request.
    AddbaResponse {
        /// Frames of the window that is granted.
        frames: u16,
    },
    /// A beacon, which has no response.
    Beacon,
    /// A null frame of a station, which says whether it sleeps.
    Null {
        /// It does.
        pm: bool,
    },
    /// A QoS null frame: a station asks for a service period by one, and its access point ends one by it.
    QosNull {
        /// The end of a service period.
        eosp: bool,
    },
    /// A sleeping station asks for one frame.
    PsPoll,
    /// A group-addressed data frame, which has no response.
    Group,
}

impl Content {
    /// Whether it carries packets.
    #[inline]
    pub const fn is_data(self) -> bool {
        matches!(self, Self::Data { .. } | Self::Group)
    }

    /// Whether nobody answers it, and none is it for alone.
    #[inline]
    pub const fn is_for_all(self) -> bool {
        matches!(self, Self::Beacon | Self::Group)
    }
}

impl Content {
    /// Bytes of a frame that carries no data; zero for data, whose length the builder sets.
    pub const fn fixed_bytes(self) -> u32 {
        match self {
            Self::Data { .. } | Self::Group => 0,
            Self::Bar { .. } => frame::BLOCK_ACK_REQUEST,
            Self::AddbaRequest { .. } => frame::ADDBA_REQUEST,
            Self::AddbaResponse { .. } => frame::ADDBA_RESPONSE,
            Self::Beacon => frame::BEACON,
            Self::Null { .. } => frame::NULL,
            Self::QosNull { .. } => frame::QOS_NULL,
            Self::PsPoll => frame::PS_POLL,
        }
    }

    /// As a capture sees it.
    pub const fn view(self) -> ContentView {
        match self {
            Self::Data { aggregate } => ContentView::Data { aggregate },
            Self::Bar { start } => ContentView::Bar { start: start.get() },
            Self::AddbaRequest { start, frames } => ContentView::AddbaRequest { start: start.get(), frames },
            Self::AddbaResponse { frames } => ContentView::AddbaResponse { frames },
            Self::Beacon => ContentView::Beacon,
            Self::Null { pm } => ContentView::Null { pm },
            Self::QosNull { eosp } => ContentView::QosNull { eosp },
            Self::PsPoll => ContentView::PsPoll,
            Self::Group => ContentView::Group,
        }
    }

    /// The kind that the trace shows.
    pub const fn kind(self) -> PpduKind {
        match self {
            Self::Data { aggregate: true } => PpduKind::Aggregate,
            Self::Data { aggregate: false } => PpduKind::Single,
            Self::Bar { .. } => PpduKind::Bar,
            Self::AddbaRequest { .. } | Self::AddbaResponse { .. } => PpduKind::Management,
            Self::Null { .. } | Self::QosNull { .. } | Self::PsPoll => PpduKind::Management,
            Self::Beacon => PpduKind::Beacon,
            Self::Group => PpduKind::Group,
        }
    }
}

/// Whose PPDU it is and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Who sends it.
    pub dev: DevId,
    /// To which of the sender's peers.
    pub peer: PeerId,
    /// From which queue.
    pub ac: Ac,
    /// TID of its frames.
    pub tid: u8,
    /// What it is for.
    pub content: Content,
    /// Its frames belong to a Block Ack session.
    pub in_session: bool,
}

impl Header {
    /// Whether it is data of a session: of this device, to this peer, of this TID.
    pub fn is_data_of(&self, whose: (DevId, PeerId, u8)) -> bool {
        (self.dev, self.peer, self.tid) == whose
            && self.in_session
            && matches!(self.content, Content::Data { .. })
    }
}

/// A PPDU with its retry chain: what the driver hands to the hardware, and gets back with the result.
#[derive(Debug)]
pub struct Ppdu {
    /// Whose it is and what it is for.
    pub header: Header,
    /// Rates to try.
    pub chain: RetryChain,
    /// It is so long that it asks for RTS and CTS.
    pub long: bool,
    /// Length of the PSDU in bytes.
    pub bytes: u32,
    /// Its data frames, at most [`Marks::MOST`].
    pub mpdus: Vec<Mpdu>,
    /// The receiver has taken it, if it carries no data: what comes again after a lost ACK is no new request.
    pub taken: bool,
    /// A Block Ack that answers it has marks for 256 frames.
    pub wide: bool,
    /// The sender got an acknowledgement.
    pub acknowledged: bool,
    /// It lifts the hardware's filter by destination.
    pub lifts: bool,
    /// The hardware has returned it unsent.
    pub filtered: bool,
    /// Its sender says that it sleeps.
    pub pm: bool,
    /// Others wait for its receiver, which sleeps.
    pub more: bool,
    /// It ends a service period.
    pub eosp: bool,
    /// It is the last of what a sleeping station has asked for.
    pub ends: bool,
    /// Entry of the chain that is tried now.
    entry: u8,
    /// Tries made at that entry.
    entry_tries: u8,
    /// Tries made in all.
    pub tries: u8,
    /// Airtime that it is charged for, as ath9k reckons it: that of its tries, and of some that were no more than an RTS.
    pub airtime: Duration,
    /// Tries at that entry that were no more than an RTS without an answer.
    entry_unsent: u8,
    /// It was on the air itself.
    on_air: bool,
}

impl Ppdu {
    /// A PPDU that has not been tried; `mpdus` is an empty vector to be filled.
    pub fn new(header: Header, chain: RetryChain, mpdus: Vec<Mpdu>) -> Self {
        Self {
            header,
            chain,
            long: false,
            bytes: header.content.fixed_bytes(),
            mpdus,
            taken: false,
            wide: false,
            acknowledged: false,
            lifts: false,
            filtered: false,
            pm: false,
            more: false,
            eosp: false,
            ends: false,
            entry: 0,
            entry_tries: 0,
            tries: 0,
            airtime: Duration::ZERO,
            entry_unsent: 0,
            on_air: false,
        }
    }

    /// The rate that the next try uses.
    #[inline]
    pub fn rate(&self) -> PhyRate {
        self.chain.entries()[usize::from(self.entry)].rate
    }

    /// Whether RTS and CTS go before the next try.
    #[inline]
    pub fn asks_for_rts(&self) -> bool {
        self.long || self.chain.entries()[usize::from(self.entry)].rts
    }

    /// Takes note of a try of a PPDU that lasts for `took`: `sent` unless the RTS before it was not answered, `done` if it needs
    /// no other. True if it is to be tried once more, along its retry chain.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_count_airtime (4.11) - of an entry that has failed all tries are charged,
    // on the air or not; of the last one those on the air, and one at least.
    #[inline]
    pub fn tried(&mut self, took: Duration, sent: bool, done: bool) -> bool {
        self.tries = self.tries.saturating_add(1);
        self.entry_tries += 1;
        if sent {
            self.airtime += took;
            self.on_air = true;
        } else {
            self.entry_unsent += 1;
        }
        let entries = self.chain.entries();
        if !done && self.entry_tries < entries[usize::from(self.entry)].tries {
            return true;
        }
        if !done && usize::from(self.entry) + 1 < entries.len() {
            self.airtime += took * u64::from(self.entry_unsent);
            (self.entry, self.entry_tries, self.entry_unsent) = (self.entry + 1, 0, 0);
            return true;
        }
        if self.entry_unsent == self.entry_tries {
            self.airtime += took;
        }
        false
    }

    /// The hardware returns it unsent, which its driver takes for one try at its first rate that lasts for `took`.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr, ath_tx_count_airtime, ath_tx_rc_status (4.11) - the tries that
    // the status tells and one, whatever the status.
    pub fn return_unsent(&mut self, took: Duration) {
        self.filtered = true;
        (self.tries, self.entry_tries, self.airtime) = (1, 1, took);
    }

    /// The entries of the chain that were used, each with the tries made, in the first places; and how many those are.
    pub fn used(&self) -> ([RateTry; RetryChain::MAX], usize) {
        let entries = self.chain.entries();
        let mut used = [entries[0]; RetryChain::MAX];
        let n = usize::from(self.entry);
        used[..=n].copy_from_slice(&entries[..=n]);
        used[n].tries = self.entry_tries;
        (used, n + 1)
    }

    /// Tries at its present entry that were no more than an RTS without an answer.
    #[inline]
    pub const fn unsent(&self) -> u8 {
        self.entry_unsent
    }

    /// How many frames it has before the last one, and how many packets that has.
    #[inline(always)]
    pub fn ends_with(&self) -> (usize, usize) {
        (self.mpdus.len().saturating_sub(1), self.mpdus.last().map_or(0, |mpdu| usize::from(mpdu.msdus)))
    }

    /// Tells a reader that follows packets that its packets are in the hardware, but for those that were when it ended so.
    #[inline(always)]
    pub fn is_in_hardware<S: Sink>(&self, now: Instant, had: (usize, usize), ctx: &mut Ctx<'_, S>) {
        if S::STEPS {
            let Ctx { packets, trace } = ctx;
            let first = self.mpdus[had.0..].iter().filter_map(|m| m.pkt);
            let new = first.flat_map(|first| packets.amsdu(first)).skip(had.1);
            new.for_each(|p| trace.step(now, packets, &Step::InHardware { p }));
        }
    }

    /// Tells a reader that follows packets that the hardware has given it back.
    #[inline(always)]
    pub fn is_given_back<S: Sink>(&self, now: Instant, ctx: &mut Ctx<'_, S>) {
        ctx.each_step(now, self.mpdus.iter().filter_map(|m| m.pkt), |p| Step::GivenBack { p });
    }

    /// Puts the packets that the receiver does not have into `packets`, each with whether its frame has a mark.
    pub fn carries(&self, whole: &Marks, all: &Packets, packets: &mut Vec<(Pkt, bool)>) {
        packets.clear();
        for (n, mpdu) in self.mpdus.iter().enumerate() {
            packets.extend(mpdu.pkt.iter().flat_map(|&p| all.amsdu(p)).map(|p| (p, whole.has(n))));
        }
    }

    /// A mark for each of its frames.
    #[inline]
    pub fn all(&self) -> Marks {
        Marks::first(self.mpdus.len())
    }

    /// How many of its frames its sender knows to have reached the receiver.
    // spec: ieee80211 10.24.7.3 - the scoreboard remembers frames of earlier tries, so that a Block Ack tells of all that the receiver has.
    #[inline]
    pub fn acked(&self) -> u32 {
        if self.acknowledged { self.mpdus.iter().map(|mpdu| u32::from(mpdu.pkt.is_none())).sum() } else { 0 }
    }

    /// Puts its data frames, as a capture sees this try of them, into `views`; a mark of `whole` says that a frame came whole.
    // spec: ieee80211-2016 9.2.4.1.6 - the Retry bit is that of a frame that was on the air before; a failed RTS alone makes none.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_set_retry (4.11) - frames that the driver sends once more have it in any case.
    pub fn view(&self, whole: &Marks, views: &mut Vec<MpduView>) {
        views.clear();
        views.extend(self.mpdus.iter().enumerate().map(|(n, mpdu)| MpduView {
            seq: mpdu.seq.get(),
            len: mpdu.len,
            retry: self.on_air || mpdu.tries > 0,
            whole: whole.has(n),
            packet: mpdu.pkt,
            msdus: mpdu.msdus,
        }));
    }

    /// A mark for each frame that the receiver has, once it got those of `whole` at this try.
    // spec: ieee80211 10.24.7.3 - the scoreboard remembers frames of earlier tries.
    pub fn held(&self, whole: &Marks) -> Marks {
        Marks::each(self.mpdus.len(), |n| whole.has(n) || self.mpdus[n].pkt.is_none())
    }
}

#[cfg(test)]
mod tests;
