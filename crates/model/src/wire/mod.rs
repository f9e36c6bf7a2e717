//! One direction of a wired link, with the transmit ring of the sending device.

mod bql;
mod change;
mod line;
mod retime;

use alloc::boxed::Box;

use crate::node::jitter::Softirq;
use crate::offload::gso;
use crate::types::{
    Bytes, Ctx, Duration, Fifo, IfId, Instant, Packet, PacketKind, Packets, Pkt, PktList, PlaceId, Rate,
    Reason, Sink, SockId, Step, WireTimes, linear_truesize, skb_len,
};
use bql::Bql;
use line::Line;
pub use line::{LineBuffer, LineParams};
use retime::{Cut, earliest, pace};

/// Overhead in bytes on an Ethernet wire: header 14, FCS 4, preamble 8, interframe gap 12.
// spec: ieee8023 3.1.1, 4.4.2.
const ETHERNET_OVERHEAD: u32 = 14 + 4 + 8 + 12;
/// Minimum payload; shorter ones are padded.
const ETHERNET_MIN_PAYLOAD: u32 = 46;

/// Bytes on an Ethernet wire of a packet with `len` bytes, including the IP header.
#[inline(always)]
fn wire_bytes(len: u32) -> Bytes {
    Bytes::new(u64::from(len.max(ETHERNET_MIN_PAYLOAD) + ETHERNET_OVERHEAD))
}

/// Parameters of a wire and its devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireParams {
    /// Ethernet between two devices.
    Ethernet(EthernetParams),
    /// An access line: Ethernet to a modem, the modem's buffer, the line. The delay is that of the line.
    Access(EthernetParams, LineParams),
    /// A pair of virtual devices in one machine: no rate, no delay, no ring.
    // linux: drivers/net/veth.c veth_xmit (4.4) - hands the packet itself to the peer, with all its segments.
    Veth,
}

/// An Ethernet link and the devices at its ends. Coalescing parameters have ethtool's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EthernetParams {
    /// Rate of the wire; zero during an outage.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Packets in the transmit ring. A full ring stops the queue above, and wakes it when a quarter is free.
    pub ring: u32,
    /// Let byte queue limits (BQL) stop the queue above as well.
    pub bql: bool,
    /// Delay of the transmit interrupt after the first unreported transmission.
    pub tx_usecs: Duration,
    /// Unreported transmissions that raise the interrupt immediately. 0: only the delay counts.
    pub tx_frames: u32,
    /// Delay of the receive interrupt after the first unreported arrival.
    pub rx_usecs: Duration,
    /// Unreported arrivals that raise the interrupt immediately. 0: only the delay counts.
    pub rx_frames: u32,
    /// Minimum time between two receive interrupts.
    pub rx_gap: Duration,
}

/// A packet in the transmit ring.
#[derive(Clone, Copy, Debug)]
struct Sending {
    /// Departure of its last bit.
    sent: Instant,
    charge: SockId,
    truesize: u32,
    /// Bytes counted by byte queue limits.
    bytes: u32,
}

/// Values derived from the length of a frame.
#[derive(Clone, Copy, Debug)]
struct FrameSize {
    len: u32,
    /// Transmission time.
    takes: Duration,
    /// Truesize in the receiver's buffer.
    truesize: u32,
}

impl FrameSize {
    /// Computes the values for `len` bytes, including the IP header.
    #[inline(never)]
    fn of(len: u32, rate: Rate) -> Self {
        Self { len, takes: rate.time_for(wire_bytes(len)), truesize: linear_truesize(len) }
    }
}

/// Interrupt-to-stack delay of the host at the end of a wire.
#[derive(Debug)]
struct HostSoftirq {
    softirq: Softirq,
    /// Time at which the host last processed arrivals.
    last: Option<Instant>,
}

/// One direction of a wired link.
#[derive(Debug)]
pub struct Wire {
    /// Neutral values for virtual devices.
    params: EthernetParams,
    veth: bool,
    /// True for virtual devices and access lines, whose packets do not go straight from the ring onto the
    /// wire.
    apart: bool,
    line: Option<Box<Line>>,
    /// The interface that feeds the wire.
    pub from: IfId,
    /// The interface at the end of the wire.
    pub to: IfId,
    busy_until: Instant,
    /// The last frame; most frames have the same length as their predecessor.
    last_frame: FrameSize,
    /// Packets given to the device whose transmission has not been reported, with their charges.
    ring: Fifo<Sending>,
    /// Number of ring entries with a charge.
    charged: u32,
    /// Frames in flight, with their arrival times.
    flight: Fifo<(Instant, Pkt)>,
    /// Time before which no packet is passed up.
    quiet_until: Instant,
    /// Time from the first arrival to the stack, without other limits: `rx_usecs` plus the host's
    /// interrupt-to-stack delay.
    wait: Duration,
    /// Several arrivals may be passed up together.
    gathers: bool,
    softirq: Option<Box<HostSoftirq>>,
    ring_full: bool,
    bql: Option<Bql>,
    /// Arrival of the last frame that had left completely at the last change.
    kept: Instant,
    /// The frame that the last change of the rate found half sent.
    cut: Option<Cut>,
}

/// Neutral parameters for virtual devices.
const VETH: EthernetParams = EthernetParams {
    rate: Rate::from_bps(u64::MAX),
    delay: Duration::ZERO,
    ring: u32::MAX,
    bql: false,
    tx_usecs: Duration::ZERO,
    tx_frames: 0,
    rx_usecs: Duration::ZERO,
    rx_frames: 0,
    rx_gap: Duration::ZERO,
};

impl Wire {
    /// Creates an empty wire between two interfaces.
    pub fn new(params: WireParams, from: IfId, to: IfId) -> Self {
        let (params, veth, line) = match params {
            WireParams::Ethernet(ethernet) => (ethernet, false, None),
            WireParams::Access(ethernet, line) => (ethernet, false, Some(Box::new(Line::new(line)))),
            WireParams::Veth => (VETH, true, None),
        };
        let (busy_until, params) =
            (earliest(params.rate, Instant::ZERO), EthernetParams { rate: pace(params.rate), ..params });
        Self {
            params,
            veth,
            apart: veth || line.is_some(),
            line,
            from,
            to,
            busy_until,
            last_frame: FrameSize::of(0, params.rate),
            ring: Fifo::default(),
            charged: 0,
            flight: Fifo::default(),
            quiet_until: Instant::ZERO,
            wait: params.rx_usecs,
            gathers: params.rx_usecs > Duration::ZERO || params.rx_gap > Duration::ZERO,
            softirq: None,
            ring_full: false,
            bql: params.bql.then(Bql::default),
            kept: Instant::ZERO,
            cut: None,
        }
    }

    /// Sets the place of an access line's tail drops.
    #[must_use]
    pub fn with_place(mut self, place: PlaceId) -> Self {
        self.line.iter_mut().for_each(|line| line.place = place);
        self
    }

    /// Adds an interrupt-to-stack delay of the receiving host.
    #[must_use]
    pub fn with_softirq(self, softirq: Softirq) -> Self {
        let (wait, quiet_until) = (self.params.rx_usecs + softirq.delay, self.quiet_until + softirq.delay);
        let softirq = Some(Box::new(HostSoftirq { softirq, last: None }));
        Self { gathers: true, wait, quiet_until, softirq, ..self }
    }

    /// Sends a packet. The device always accepts it, though the buffer of an access line may drop it. On
    /// Ethernet the socket is charged until the transmission is reported, and the device splits the packet
    /// into segments (TSO). On virtual devices it is charged until the peer receives the packet.
    pub fn push<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
        if self.apart {
            self.push_apart(now, p, ctx);
            return;
        }
        let hot = ctx.packets.get_mut(p);
        let ((charge, truesize), bytes) = (hot.take_charge(), skb_len(hot));
        if hot.segs == 1 {
            self.frame(now, p, hot);
            self.tell_of_last(now, p, ctx);
        } else {
            self.frames(now, p, ctx);
        }
        self.queued(charge, truesize, bytes);
    }

    /// Adds a packet to the ring until its transmission is reported.
    #[inline(always)]
    fn queued(&mut self, charge: SockId, truesize: u32, bytes: u32) {
        self.ring.push(Sending { sent: self.busy_until, charge, truesize, bytes });
        self.charged += u32::from(charge != SockId::NONE);
        self.ring_full |= self.ring.len() as u32 >= self.params.ring;
        if let Some(bql) = &mut self.bql {
            bql.queued(bytes);
        }
    }

    /// Sends a packet on a virtual device or an access line.
    #[inline(never)]
    fn push_apart<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
        let Some(mut line) = self.line.take() else {
            let times = WireTimes { begins: now, sent: now, line: None, arrives: now };
            ctx.step(now, &Step::Wired { p, from: self.from, times });
            self.flight.push((now, p));
            return;
        };
        let (charge, truesize) = ctx.packets.take_charge(p);
        let bytes = skb_len(ctx.packets.get(p));
        let mut segments = PktList::default();
        gso::split_by(now, p, ctx, |ctx, segment| segments.push(ctx.packets, segment));
        while let Some(segment) = segments.pop(ctx.packets) {
            let begins = self.busy_until.max(now);
            let hot = ctx.packets.get_mut(segment);
            let at_modem = self.sent(now, hot);
            let line_begins = line.free_from(at_modem);
            match line.push(at_modem, hot.len) {
                Some(sent) => {
                    let arrives = sent + self.params.delay;
                    let line = Some((line_begins, sent));
                    let times = WireTimes { begins, sent: at_modem, line, arrives };
                    ctx.step(now, &Step::Wired { p: segment, from: self.from, times });
                    self.flight.push((arrives, segment));
                }
                // deviation: drops the packet when the host sends it, not when it reaches the modem a few
                // microseconds later - nothing happens to it in between.
                None => ctx.drop(now, segment, Reason::Overlimit, line.place),
            }
        }
        self.line = Some(line);
        self.queued(charge, truesize, bytes);
    }

    /// Sends the frames of a packet of several segments. Separate, to keep the path of single frames short.
    #[inline(never)]
    fn frames<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
        gso::split_by(now, p, ctx, |ctx, segment| {
            self.frame(now, segment, ctx.packets.get_mut(segment));
            self.tell_of_last(now, segment, ctx);
        });
    }

    /// Reports the times of the last frame to a sink that follows packets.
    #[inline(always)]
    fn tell_of_last<S: Sink>(&self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
        if S::STEPS {
            let bytes = wire_bytes(ctx.packets.get(p).len);
            let (sent, took) = (self.busy_until, self.params.rate.time_for(bytes));
            let begins = Instant::ZERO + (sent - Instant::ZERO).saturating_sub(took);
            let times = WireTimes { begins, sent, line: None, arrives: sent + self.params.delay };
            ctx.step(now, &Step::Wired { p, from: self.from, times });
        }
    }

    /// Sends one frame after those before it.
    #[inline(always)]
    fn frame(&mut self, now: Instant, p: Pkt, hot: &mut Packet) {
        let sent = self.sent(now, hot);
        self.flight.push((sent + self.params.delay, p));
    }

    /// Returns the departure of the frame's last bit. A TCP segment gets the truesize of the receiver's
    /// buffer; other packets have it already.
    #[inline(always)]
    fn sent(&mut self, now: Instant, hot: &mut Packet) -> Instant {
        if hot.len != self.last_frame.len {
            self.last_frame = FrameSize::of(hot.len, self.params.rate);
        }
        if hot.kind == PacketKind::Tcp {
            hot.truesize = self.last_frame.truesize;
        }
        let sent = self.busy_until.max(now) + self.last_frame.takes;
        self.busy_until = sent;
        sent
    }

    /// Returns true if the queue above is stopped.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.ring_full || self.bql.as_ref().is_some_and(Bql::is_stopped)
    }

    /// Returns true if several arrivals may be passed up together.
    #[inline]
    pub fn gathers(&self) -> bool {
        self.gathers
    }

    /// Returns true if pushing a packet now does not change [`Wire::next_arrival`]: other frames are in
    /// flight, and arrivals are not counted.
    #[inline(always)]
    pub fn is_arrival_known(&self) -> bool {
        self.params.rx_frames == 0 && !self.flight.is_empty()
    }

    /// Returns true if pushing a packet now does not change [`Wire::next_completion`]: a report is pending,
    /// and transmissions are not counted.
    #[inline(always)]
    pub fn is_completion_known(&self) -> bool {
        self.params.tx_frames == 0 && self.is_report_awaited()
    }

    /// Returns true if the next report has an effect: it ends a charge or may wake the stopped queue above.
    #[inline(always)]
    pub fn is_report_awaited(&self) -> bool {
        self.charged > 0 || self.is_stopped()
    }

    /// Reports when the next packets are passed up.
    #[inline]
    pub fn next_arrival(&self) -> Option<Instant> {
        let (first, _) = self.flight.first()?;
        let by_time = first + self.wait;
        let due = match self.params.rx_frames {
            0 => by_time,
            n => {
                let delay = self.wait - self.params.rx_usecs;
                self.flight.nth(n as usize - 1).map_or(by_time, |(nth, _)| by_time.min(nth + delay))
            }
        };
        Some(due.max(self.quiet_until))
    }

    /// Handles the host's processing of arrivals: the next interrupt comes at least `rx_gap` after the one
    /// for these arrivals, and a new interrupt-to-stack delay is drawn.
    #[inline(never)]
    fn taken_in(&mut self, now: Instant) {
        let (mut told, mut delay) = (now, Duration::ZERO);
        if let Some(host) = &mut self.softirq {
            if host.last.replace(now) == Some(now) {
                return;
            }
            told = now - host.softirq.delay;
            host.softirq.taken_in();
            delay = host.softirq.delay;
            self.wait = self.params.rx_usecs + delay;
        }
        self.quiet_until = told + self.params.rx_gap + delay;
    }

    /// Returns the first packet if it has arrived.
    #[inline]
    pub fn arrive(&mut self, now: Instant, packets: &mut Packets) -> Option<Pkt> {
        let (at, p) = self.flight.first()?;
        if at > now {
            return None;
        }
        self.flight.drop_first();
        if self.gathers {
            self.taken_in(now);
        }
        if self.veth {
            // linux: net/ipv4/ip_input.c ip_rcv (4.4) - the IP layer ends the charge of received packets.
            packets.orphan(p);
        }
        Some(p)
    }

    /// Returns the first packet if it has arrived, or else its arrival time, if any. Only for wires that do
    /// not gather arrivals.
    #[inline(always)]
    pub fn arrive_alone(&mut self, now: Instant, packets: &mut Packets) -> Result<Pkt, Option<Instant>> {
        debug_assert!(!self.gathers && self.next_arrival() == self.flight.first().map(|(at, _)| at));
        let Some((at, p)) = self.flight.first() else { return Err(None) };
        if at > now {
            return Err(Some(at));
        }
        self.flight.drop_first();
        if self.veth {
            packets.orphan(p);
        }
        Ok(p)
    }

    /// Reports when the next transmissions are reported, if that has an effect. Other reports need no timer:
    /// [`Wire::catch_up`] handles them before the next packet.
    #[inline]
    pub fn next_completion(&self) -> Option<Instant> {
        if self.is_report_awaited() { self.next_report() } else { None }
    }

    /// Time of the next report.
    #[inline(always)]
    fn next_report(&self) -> Option<Instant> {
        let by_time = self.ring.first()?.sent + self.params.tx_usecs;
        match self.params.tx_frames {
            0 => Some(by_time),
            n => Some(self.ring.nth(n as usize - 1).map_or(by_time, |nth| nth.sent.min(by_time))),
        }
    }

    /// Reports all finished transmissions. Returns true if this wakes the queue above.
    pub fn complete<S>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> bool {
        let was_stopped = self.is_stopped();
        self.report(now, |charge, truesize| ctx.packets.uncharge(charge, truesize));
        was_stopped && !self.is_stopped()
    }

    /// Handles reports without a timer, which only affect the wire itself; must be called before a packet is
    /// pushed. Covers all reports before `now`, and those at `now` if `passed`, that is if a timer at `now`
    /// would have fired already.
    #[inline(always)]
    pub fn catch_up(&mut self, now: Instant, passed: bool) {
        while let Some(at) = self.next_report()
            && (at < now || at == now && passed)
        {
            self.report_unheard(at);
        }
    }

    #[inline(never)]
    fn report_unheard(&mut self, at: Instant) {
        debug_assert!(!self.is_report_awaited(), "a report that somebody waited for is late");
        self.report(at, |_, _| {});
    }

    /// Removes finished transmissions from the ring and ends their charges.
    #[inline(always)]
    fn report(&mut self, now: Instant, mut uncharge: impl FnMut(SockId, u32)) {
        let mut bytes = 0;
        while let Some(Sending { sent, charge, truesize, bytes: len }) = self.ring.first()
            && sent <= now
        {
            self.ring.drop_first();
            self.charged -= u32::from(charge != SockId::NONE);
            uncharge(charge, truesize);
            bytes += len;
        }
        if let Some(bql) = &mut self.bql {
            bql.completed(now, bytes);
        }
        // 64 bits, because scenarios do not limit the ring size.
        let wake_at = u64::from(self.params.ring) * 3 / 4;
        self.ring_full &= self.ring.len() as u64 > wake_at;
    }

    /// The frames in the ring and on the wire, in order, each with true if its last bit has left.
    pub fn flight(&self, now: Instant) -> impl Iterator<Item = (bool, Pkt)> {
        let left = self.kept.max(now + self.params.delay);
        self.flight.iter().map(move |(arrives, p)| (arrives <= left, p))
    }

    /// Number of packets in the ring and on the wire.
    pub fn held(&self) -> u64 {
        self.flight.len() as u64
    }

    /// Charges of the packets in the ring.
    pub fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.ring.iter().map(|s| (s.charge, s.truesize))
    }
}

#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;
