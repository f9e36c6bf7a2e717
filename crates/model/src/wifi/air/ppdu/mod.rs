//! PPDUs in the hardware, and the frames in them.

use crate::types::{
    Ac, ContentView, Ctx, DevId, Duration, Instant, MpduView, Packets, PeerId, Pkt, PpduKind, Sink, SockId,
    Step,
};
use crate::wifi::marks::Marks;
use crate::wifi::phy::frame;
use crate::wifi::phy::{PhyRate, RateTry, RetryChain};
use crate::wifi::rate::Probe;
use crate::wifi::seq_window::Seq;
use alloc::vec::Vec;

/// Reason for which the hardware last returned a frame unsent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returned {
    /// The hardware has not returned the frame.
    No,
    /// The receiver fell asleep. Such a frame expires in mac80211's buffer.
    Asleep,
    /// Another PPDU to the same receiver had failed. mac80211 retried the frame once.
    Once,
}

/// A data frame (MPDU) of a PPDU. The sender keeps this entry from the assignment of the sequence number
/// until the fate of the frame is known.
#[derive(Clone, Copy, Debug)]
pub struct Mpdu {
    /// The packet (the first one of an A-MSDU), until the receiver takes it.
    pub pkt: Option<Pkt>,
    /// Sequence number.
    pub seq: Seq,
    /// Length in bytes from the MAC header to the FCS.
    pub len: u16,
    /// Hardware tries so far.
    pub tries: u8,
    /// Reason of the last return, if the hardware has returned the frame unsent.
    pub returned: Returned,
    /// Rate that this frame probes. A probing frame is sent alone, with that rate in its retry chain.
    pub probe: Option<Probe>,
    /// Socket charged for the packet. The charge stays in this entry after the receiver has taken the packet.
    pub charge: SockId,
    /// Amount charged, in bytes.
    pub truesize: u32,
    /// Airtime charged in advance until the driver learns the frame's result, in units of 4 us.
    pub airtime: u16,
    /// Packets in the frame: more than one in an A-MSDU.
    pub msdus: u8,
}

impl Mpdu {
    /// Returns the number of packets that the frame still holds, zero once the receiver has taken them.
    #[inline]
    pub fn held(&self) -> u64 {
        if self.pkt.is_some() { u64::from(self.msdus) } else { 0 }
    }
}

/// Purpose of a PPDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Data frames: an A-MPDU, answered by a Block Ack, or a single frame, answered by an ACK.
    Data {
        /// True for an A-MPDU.
        aggregate: bool,
    },
    /// A Block Ack request (BAR), which moves the left edge of the receiver's window to `start`.
    Bar {
        /// The new left edge.
        start: Seq,
    },
    /// An ADDBA request, which initiates a Block Ack session.
    AddbaRequest {
        /// First sequence number of the session.
        start: Seq,
        /// Requested window size in frames.
        frames: u16,
    },
    /// An ADDBA response.
    AddbaResponse {
        /// Granted window size in frames.
        frames: u16,
    },
    /// A beacon; it has no response.
    Beacon,
    /// A Null frame of a station, which announces power-save mode.
    Null {
        /// The Power Management bit, set if the station enters power-save mode.
        pm: bool,
    },
    /// A QoS Null frame. A station requests a service period with it, and an access point ends one with it.
    QosNull {
        /// The EOSP bit: end of the service period.
        eosp: bool,
    },
    /// A PS-Poll: a sleeping station requests one frame.
    PsPoll,
    /// A group-addressed data frame; it has no response.
    Group,
}

impl Content {
    /// Returns true if the PPDU carries packets.
    #[inline]
    pub const fn is_data(self) -> bool {
        matches!(self, Self::Data { .. } | Self::Group)
    }

    /// Returns true if the PPDU is group-addressed and therefore not acknowledged.
    #[inline]
    pub const fn is_for_all(self) -> bool {
        matches!(self, Self::Beacon | Self::Group)
    }
}

impl Content {
    /// Returns the length in bytes of a frame without data. Zero for data frames, whose length the PPDU
    /// builder sets.
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

    /// Returns the content as shown in a packet capture.
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

    /// Returns the kind shown in the trace.
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

/// Sender, receiver and purpose of a PPDU.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The sending device.
    pub dev: DevId,
    /// The receiver, as a peer number of the sender.
    pub peer: PeerId,
    /// Access category of the queue that the PPDU is in.
    pub ac: Ac,
    /// TID of the frames.
    pub tid: u8,
    /// The purpose.
    pub content: Content,
    /// True if the frames belong to a Block Ack session.
    pub in_session: bool,
}

impl Header {
    /// Returns true for session data of the given device, peer and TID.
    pub fn is_data_of(&self, whose: (DevId, PeerId, u8)) -> bool {
        (self.dev, self.peer, self.tid) == whose
            && self.in_session
            && matches!(self.content, Content::Data { .. })
    }
}

/// A PPDU with its retry chain. The driver hands the PPDU to the hardware and gets it back with the result.
#[derive(Debug)]
pub struct Ppdu {
    /// Sender, receiver and purpose.
    pub header: Header,
    /// The retry chain.
    pub chain: RetryChain,
    /// The PPDU exceeds the RTS threshold, so RTS and CTS precede it.
    pub long: bool,
    /// Length of the PSDU in bytes.
    pub bytes: u32,
    /// The data frames, at most [`Marks::MOST`].
    pub mpdus: Vec<Mpdu>,
    /// True if the receiver has processed this PPDU without data. A retransmission after a lost ACK is not a
    /// new request.
    pub taken: bool,
    /// A Block Ack for this PPDU has a 256-bit bitmap.
    pub wide: bool,
    /// The sender has received an acknowledgement.
    pub acknowledged: bool,
    /// The PPDU clears the hardware's destination filter.
    pub lifts: bool,
    /// The hardware has returned the PPDU unsent.
    pub filtered: bool,
    /// The Power Management bit: the sender enters power-save mode.
    pub pm: bool,
    /// The More Data bit: more frames are buffered for the sleeping receiver.
    pub more: bool,
    /// The EOSP bit: the PPDU ends a service period.
    pub eosp: bool,
    /// The PPDU is the last response to a sleeping station's request.
    pub ends: bool,
    /// Current entry of the chain.
    entry: u8,
    /// Tries at the current entry.
    entry_tries: u8,
    /// Total number of tries.
    pub tries: u8,
    /// Airtime charged for the PPDU, by ath9k's calculation: its tries on the air, and certain tries that
    /// ended with an unanswered RTS.
    pub airtime: Duration,
    /// Tries at the current entry that ended with an unanswered RTS.
    entry_unsent: u8,
    /// The PPDU itself was on the air at least once.
    on_air: bool,
}

impl Ppdu {
    /// Creates an untried PPDU. `mpdus` is an empty vector to be filled.
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

    /// Returns the rate of the next try.
    #[inline]
    pub fn rate(&self) -> PhyRate {
        self.chain.entries()[usize::from(self.entry)].rate
    }

    /// Returns true if RTS and CTS precede the next try.
    #[inline]
    pub fn asks_for_rts(&self) -> bool {
        self.long || self.chain.entries()[usize::from(self.entry)].rts
    }

    /// Records a try that lasts for `took`. `sent` is false if the RTS before the PPDU was not answered.
    /// `done` means that no other try is needed. Returns true if the PPDU is to be tried again, along its
    /// retry chain.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_count_airtime (4.11) - charges all tries of a
    // failed entry, on the air or not; for the last entry, charges the tries on the air, and at least one.
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

    /// Marks the PPDU as returned unsent. The driver counts this as one try at the first rate, lasting for
    /// `took`.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr, ath_tx_count_airtime,
    // ath_tx_rc_status (4.11) - counts the tries in the status plus one, regardless of the status.
    pub fn return_unsent(&mut self, took: Duration) {
        self.filtered = true;
        (self.tries, self.entry_tries, self.airtime) = (1, 1, took);
    }

    /// Returns the used entries of the retry chain with the number of tries made, and the number of used
    /// entries.
    pub fn used(&self) -> ([RateTry; RetryChain::MAX], usize) {
        let entries = self.chain.entries();
        let mut used = [entries[0]; RetryChain::MAX];
        let n = usize::from(self.entry);
        used[..=n].copy_from_slice(&entries[..=n]);
        used[n].tries = self.entry_tries;
        (used, n + 1)
    }

    /// Returns the number of tries at the current entry that ended with an unanswered RTS.
    #[inline]
    pub const fn unsent(&self) -> u8 {
        self.entry_unsent
    }

    /// Returns the number of frames before the last one, and the number of packets in the last one.
    #[inline(always)]
    pub fn ends_with(&self) -> (usize, usize) {
        (self.mpdus.len().saturating_sub(1), self.mpdus.last().map_or(0, |mpdu| usize::from(mpdu.msdus)))
    }

    /// Reports to a per-packet trace reader that the PPDU's packets are in the hardware. `had` is an earlier
    /// result of `ends_with`; packets up to there were reported before.
    #[inline(always)]
    pub fn is_in_hardware<S: Sink>(&self, now: Instant, had: (usize, usize), ctx: &mut Ctx<'_, S>) {
        if S::STEPS {
            let Ctx { packets, trace } = ctx;
            let first = self.mpdus[had.0..].iter().filter_map(|m| m.pkt);
            let new = first.flat_map(|first| packets.amsdu(first)).skip(had.1);
            new.for_each(|p| trace.step(now, packets, &Step::InHardware { p }));
        }
    }

    /// Reports to a per-packet trace reader that the hardware has given the PPDU back.
    #[inline(always)]
    pub fn is_given_back<S: Sink>(&self, now: Instant, ctx: &mut Ctx<'_, S>) {
        ctx.each_step(now, self.mpdus.iter().filter_map(|m| m.pkt), |p| Step::GivenBack { p });
    }

    /// Fills `packets` with the packets that the receiver has not taken yet, each with true if `whole` marks
    /// its frame.
    pub fn carries(&self, whole: &Marks, all: &Packets, packets: &mut Vec<(Pkt, bool)>) {
        packets.clear();
        for (n, mpdu) in self.mpdus.iter().enumerate() {
            packets.extend(mpdu.pkt.iter().flat_map(|&p| all.amsdu(p)).map(|p| (p, whole.has(n))));
        }
    }

    /// Returns marks for all frames of the PPDU.
    #[inline]
    pub fn all(&self) -> Marks {
        Marks::first(self.mpdus.len())
    }

    /// Returns the number of frames acknowledged to the sender.
    // spec: ieee80211 10.24.7.3 - the scoreboard keeps frames of earlier tries, so a Block Ack covers all
    // frames that the receiver has.
    #[inline]
    pub fn acked(&self) -> u32 {
        if self.acknowledged { self.mpdus.iter().map(|mpdu| u32::from(mpdu.pkt.is_none())).sum() } else { 0 }
    }

    /// Fills `views` with the data frames of this try, as shown in a packet capture. `whole` marks the frames
    /// received without error.
    // spec: ieee80211-2016 9.2.4.1.6 - sets the Retry bit in frames that were on the air before; a failed RTS
    // does not count.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_set_retry (4.11) - sets the bit in all frames that
    // the driver retries.
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

    /// Returns marks for the frames that the receiver has, given that this try delivered the frames in
    /// `whole`.
    // spec: ieee80211 10.24.7.3 - the scoreboard keeps frames of earlier tries.
    pub fn held(&self, whole: &Marks) -> Marks {
        Marks::each(self.mpdus.len(), |n| whole.has(n) || self.mpdus[n].pkt.is_none())
    }
}

#[cfg(test)]
mod tests;
