//! Packets between guests' cards and the world, and buffers that a card holds until a charge ends.

use stillair_ip::{gso, parse};
use stillair_model::types::{IfId, Ip, LONGEST_PACKET, linear_truesize};
use stillair_sim::run::{ExternalIoCounts, Records, Replier, Session, entering};
use stillair_sim::world::{Entering, Refused};

use crate::card::{ETHERNET, RX};
use crate::guest::{Guest, GuestError, NodeError, address};
use crate::plan::Plan;

/// EtherTypes of IPv4 and IPv6.
const TYPES: [[u8; 2]; 2] = [[0x08, 0x00], [0x86, 0xdd]];
/// Source MAC address of frames for guests.
const WORLD: [u8; 6] = [0x02, 0x73, 0x74, 0x6c, 0xff, 0xff];

/// A guest's buffer with packets in the world.
#[derive(Clone, Copy, Debug)]
struct HeldBuffer {
    guest: usize,
    card: usize,
    head: u16,
}

/// The world, and packet exchange between guests and the world.
#[derive(Debug)]
pub struct ExternalIo<'a, S> {
    /// The run.
    pub session: Session<'a, S>,
    /// Counters of packets that entered and left.
    pub counts: ExternalIoCounts,
    plan: &'a Plan,
    /// Buffer per token.
    held: Vec<HeldBuffer>,
    free: Vec<u32>,
    /// Per interface and buffer head: packets of the buffer still in the world.
    inside: Vec<Vec<u16>>,
    /// Per interface: the guest and its card.
    guests: Vec<Option<(usize, usize)>>,
    bytes: Vec<u8>,
    frame: Vec<u8>,
    segment: Vec<u8>,
    /// Scratch buffer for the segments of a packet, one after the other.
    segments: Vec<u8>,
    replier: Replier,
    hash: u64,
    is_over: bool,
}

/// Extends a hash by some bytes, eight at a time.
fn hashed(hash: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let (words, rest) = bytes.as_chunks::<8>();
    let all = words.iter().fold(hash, |hash, word| step(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(all, |hash, byte| step(hash, u64::from(*byte)))
}

impl<'a, S: Records> ExternalIo<'a, S> {
    /// Creates the state at the start of a run.
    pub fn new(session: Session<'a, S>, plan: &'a Plan) -> Self {
        let mut guests = vec![None; session.elsewhere().index()];
        for (n, guest) in plan.guests.iter().enumerate() {
            guest
                .interfaces
                .iter()
                .enumerate()
                .for_each(|(card, of)| guests[of.at.index()] = Some((n, card)));
        }
        Self {
            session,
            counts: ExternalIoCounts::default(),
            plan,
            held: Vec::new(),
            free: Vec::new(),
            inside: vec![Vec::new(); guests.len()],
            guests,
            bytes: Vec::with_capacity(LONGEST_PACKET),
            frame: Vec::with_capacity(LONGEST_PACKET + ETHERNET),
            segment: vec![0; LONGEST_PACKET],
            segments: Vec::new(),
            replier: Replier::default(),
            hash: 0,
            is_over: false,
        }
    }

    /// Hash over everything that guests have sent: time, guest, and every byte.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Ends the exchange. Later packets from guests are dropped.
    pub fn close(&mut self) {
        self.is_over = true;
    }

    /// Handles a kick from a guest's card. The world must be at the guest's time.
    pub fn kicked(
        &mut self,
        guest: &mut Guest,
        number: usize,
        (card, ring): (usize, usize),
    ) -> Result<(), GuestError> {
        if ring == RX {
            return guest.has_room(card);
        }
        while let Some((head, header, frame)) = guest.card(card)?.take()? {
            let buffer = HeldBuffer { guest: number, card, head };
            let packets = if self.is_over { 0 } else { self.send(buffer, header.gso_size, frame)? };
            if packets == 0 {
                guest.sent(card, head)?;
            }
        }
        if !self.is_over {
            self.session.put_through();
        }
        Ok(())
    }

    /// Enters a frame from a guest. Returns the number of packets that hold its buffer.
    fn send(&mut self, buffer: HeldBuffer, gso_size: Option<u16>, frame: &[u8]) -> Result<u16, GuestError> {
        let Some((ethernet, packet)) = frame.split_at_checked(ETHERNET) else {
            self.counts.malformed += 1;
            return Ok(0);
        };
        if !TYPES.iter().any(|of| ethernet[12..] == *of) {
            self.counts.no_route += 1;
            return Ok(0);
        }
        let Some(size) = gso_size else { return Ok(self.enter(buffer, packet, packet.len())) };
        // The card, or the layer just above it, splits such packets; a queue before that holds them whole.
        let mut segments = core::mem::take(&mut self.segments);
        segments.clear();
        let mut full = 0;
        let split = gso::split(packet, size, false, &mut self.segment, |one| {
            full = full.max(one.len());
            segments.extend_from_slice(one);
        });
        let entered = match split {
            Ok(_) => Ok(self.enter(buffer, &segments, full)),
            Err(why) => Err(GuestError::Segments(why)),
        };
        self.segments = segments;
        entered
    }

    /// Enters one packet of one segment, or of several with `full` bytes each. Returns 1 if the packet
    /// holds its buffer.
    fn enter(&mut self, buffer: HeldBuffer, bytes: &[u8], full: usize) -> u16 {
        let Ok(view) = parse(bytes) else {
            self.counts.malformed += 1;
            return 0;
        };
        let ip = if view.destination.is_ipv6() { Ip::V6 } else { Ip::V4 };
        let Some(dst) = self.plan.addresses.find(view.destination) else {
            self.counts.no_route += 1;
            return 0;
        };
        if view.length > LONGEST_PACKET {
            self.counts.too_long += 1;
            return 0;
        }
        let about =
            [self.session.now().nanos(), (buffer.guest | buffer.card << 32) as u64].map(u64::to_le_bytes);
        // The frame of a single packet may be padded.
        let bytes = if bytes.len() > full { bytes } else { &bytes[..view.length] };
        self.hash = hashed(hashed(self.hash, about.as_flattened()), bytes);
        let token = self.hold(buffer);
        let src = self.plan.addresses.find(view.source).unwrap_or(self.session.elsewhere().of(ip));
        let one = entering(self.at(buffer), &view, bytes, [src, dst], Some(token));
        let entered = if bytes.len() > full {
            let whole = Entering { bytes, truesize: linear_truesize(0) + bytes.len() as u32, ..one };
            self.session.enter_segments(&whole, full)
        } else {
            self.session.enter(&one)
        };
        match entered {
            // If the queue refuses the packet, its token ends immediately.
            Ok(_) => {
                self.counts.entered += 1;
                1
            }
            Err(Refused::Length(_)) => {
                self.counts.too_long += 1;
                self.release(token);
                0
            }
            Err(_) => {
                self.counts.malformed += 1;
                self.release(token);
                0
            }
        }
    }

    /// Interface of the card that owns a buffer.
    fn at(&self, buffer: HeldBuffer) -> IfId {
        self.plan.guests[buffer.guest].interfaces[buffer.card].at
    }

    fn hold(&mut self, buffer: HeldBuffer) -> u32 {
        let (at, head) = (self.at(buffer), buffer.head);
        let inside = &mut self.inside[at.index()];
        if inside.len() <= usize::from(head) {
            inside.resize(usize::from(head) + 1, 0);
        }
        inside[usize::from(head)] += 1;
        match self.free.pop() {
            Some(token) => {
                self.held[token as usize] = buffer;
                token
            }
            None => {
                self.held.push(buffer);
                self.held.len() as u32 - 1
            }
        }
    }

    /// Ends a token. Returns its buffer if this was the buffer's last packet.
    fn release(&mut self, token: u32) -> Option<HeldBuffer> {
        self.free.push(token);
        let buffer = self.held[token as usize];
        let inside = &mut self.inside[self.plan.guests[buffer.guest].interfaces[buffer.card].at.index()]
            [usize::from(buffer.head)];
        *inside -= 1;
        (*inside == 0).then_some(buffer)
    }

    /// Passes packets that have left the world to guests, and returns buffers whose charge has ended.
    /// Guests notice both at their next interrupt.
    pub fn out(&mut self, guests: &mut [Guest]) -> Result<(), NodeError> {
        loop {
            while let Some(token) = self.session.ended() {
                if let Some(HeldBuffer { guest, card, head }) = self.release(token)
                    && !guests[guest].is_off()
                {
                    guests[guest].sent(card, head).map_err(|why| guests[guest].failed(why))?;
                }
            }
            let mut bytes = core::mem::take(&mut self.bytes);
            let left = self.session.left(&mut bytes);
            self.bytes = bytes;
            let Some(left) = left else { return Ok(()) };
            let Some((guest, card)) = self.guests[left.at.index()] else {
                let Self { session, plan, counts, replier, bytes, .. } = self;
                replier.reply(session, &plan.addresses, counts, left.at, bytes);
                session.put_through();
                continue;
            };
            self.counts.left += 1;
            self.frame.clear();
            self.frame.extend_from_slice(&address(guest, card));
            self.frame.extend_from_slice(&WORLD);
            self.frame
                .extend_from_slice(&TYPES[usize::from(self.bytes.first().is_some_and(|b| b >> 4 == 6))]);
            self.frame.extend_from_slice(&self.bytes);
            if !guests[guest].is_off() {
                guests[guest].receive(card, &self.frame).map_err(|why| guests[guest].failed(why))?;
            }
        }
    }
}
