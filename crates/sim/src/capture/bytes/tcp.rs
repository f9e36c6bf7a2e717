//! TCP headers as bytes, and the connection state needed to write them.

use stillair_model::types::{Headers, TcpFlags, TcpHeader};

use super::body::Body;
use crate::capture::ports::later_port;

/// Bytes of a header without options.
const HEADER: usize = 20;
/// Maximum length of a header in bytes.
const MOST: usize = HEADER + 40;
/// No-operation option, which pads options to whole words.
const NOP: u8 = 1;
/// Kind and length of the timestamps option.
const STAMPS: [u8; 2] = [8, 10];
/// Bytes of the timestamps option with padding.
const STAMPS_PADDED: usize = 12;

/// Returns the length in bytes of each segment's headers in a packet.
pub fn segment_headers(p: &Headers) -> usize {
    let payload = p.tcp.map_or(0, |header| header.payload);
    ((p.len - payload) / u32::from(p.segs)) as usize
}

/// Properties of a socket that affect the segments sent to it.
#[derive(Clone, Copy, Debug)]
struct TcpEnd {
    /// True for the listening end.
    listens: bool,
    /// Scale of the windows offered to this socket.
    scale: u8,
    /// Zero for the first connection of its flow; a number that distinguishes the ports of later connections.
    number: u32,
}

/// Connections whose SYN was seen. The capture sees every frame of a world, so these are all connections.
#[derive(Debug, Default)]
pub struct Connections {
    /// Ends by socket.
    ends: Vec<Option<TcpEnd>>,
    /// First connecting socket of each flow.
    first: Vec<Option<usize>>,
}

impl Connections {
    /// Records a packet.
    // spec: rfc7323 2.2 - an end scales its windows by the factor in its SYN, if both ends sent one. Modelled
    // ends always offer a factor, and always accept an offer.
    #[inline]
    pub fn note(&mut self, p: &Headers) {
        if let Some(header) = p.tcp
            && header.flags.has(TcpFlags::SYN)
        {
            self.begins(p, header);
        }
    }

    #[cold]
    fn begins(&mut self, p: &Headers, header: &TcpHeader) {
        let to = header.to.index();
        if self.ends.len() <= to {
            self.ends.resize(to + 1, None);
        }
        let scale = header.syn.window_scale.unwrap_or(0);
        let listens = !header.flags.has(TcpFlags::ACK);
        // The sockets of a connection have adjacent numbers, the connecting socket first.
        let opens = to - usize::from(listens);
        let flow = p.flow.index();
        if self.first.len() <= flow {
            self.first.resize(flow + 1, None);
        }
        let number = if *self.first[flow].get_or_insert(opens) == opens { 0 } else { opens as u32 };
        self.ends[to] = Some(TcpEnd { listens, scale, number });
    }

    /// Returns the properties of the destination socket.
    ///
    /// Panics if no SYN was seen for the socket.
    fn end(&self, header: &TcpHeader) -> TcpEnd {
        self.ends[header.to.index()].expect("a connection begins with a SYN")
    }
}

/// A TCP header ready to be written, in 32-bit words. Options are padded to whole words.
#[derive(Clone, Copy, Debug)]
pub struct CapturedSegment {
    words: [u32; MOST / 4],
    /// Number of used words.
    len: usize,
    sum: u64,
    /// Length of the payload in bytes.
    pub payload: usize,
}

impl CapturedSegment {
    /// Builds the header of a packet, without the checksum. All segments of the packet share it. `ports` are
    /// the ports of the connecting and of the listening end.
    // spec: rfc9293 3.1.
    #[inline]
    pub fn new(p: &Headers, header: &TcpHeader, connections: &Connections, ports: [u16; 2]) -> Self {
        let TcpEnd { listens, scale, number } = connections.end(header);
        let opens = later_port(ports[0], number);
        let [from, to] = if listens { [opens, ports[1]] } else { [ports[1], opens] };
        let syn = header.flags.has(TcpFlags::SYN);
        let ack = if header.flags.has(TcpFlags::ACK) { p.ack } else { 0 };
        // spec: rfc7323 2.2 - the window of a SYN is not scaled.
        let window = if syn { header.window } else { header.window >> scale };
        let mut it = Self { words: [0; MOST / 4], len: HEADER / 4, sum: 0, payload: header.payload as usize };
        match syn {
            true => it.syn_options(header),
            false => it.options(header, segment_headers(p) - p.src.ip().header() as usize - HEADER),
        }
        let offset_flags_window =
            (it.len as u32) << 28 | u32::from(header.flags.0) << 16 | window.min(u32::from(u16::MAX));
        let fixed = [u32::from(from) << 16 | u32::from(to), p.seq, ack, offset_flags_window];
        it.words[..4].copy_from_slice(&fixed);
        it.sum += fixed.into_iter().map(u64::from).sum::<u64>();
        it
    }

    /// Returns the sum of the header's words, for the checksum.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Writes the header with this checksum.
    #[inline]
    pub fn write(mut self, out: &mut Body<'_>, checksum: u16) {
        const FIXED: usize = HEADER / 4;
        self.words[4] = u32::from(checksum) << 16;
        let (fixed, options) = self.words[..self.len].split_first_chunk::<FIXED>().expect("the fixed part");
        out.words(fixed);
        for &option in options {
            out.words(&[option]);
        }
    }

    #[inline]
    fn push(&mut self, word: u32) {
        self.words[self.len] = word;
        self.sum += u64::from(word);
        self.len += 1;
    }

    #[inline]
    fn push_bytes(&mut self, bytes: [u8; 4]) {
        self.push(u32::from_be_bytes(bytes));
    }

    /// Appends the timestamps option, preceded by two bytes.
    #[inline]
    fn stamps(&mut self, [a, b]: [u8; 2], header: &TcpHeader) {
        self.push_bytes([a, b, STAMPS[0], STAMPS[1]]);
        self.push(header.ts_val);
        self.push(header.ts_ecr);
    }

    // linux: net/ipv4/tcp_output.c tcp_options_write (6.1) - this order; "SACK permitted" pads the
    // timestamps.
    // spec: rfc9293 3.2 (MSS), rfc2018 2 (SACK permitted), rfc7323 2.2 and 3.2 (window scale, timestamps).
    #[cold]
    fn syn_options(&mut self, header: &TcpHeader) {
        let syn = &header.syn;
        let [high, low] = syn.mss.to_be_bytes();
        self.push_bytes([2, 4, high, low]);
        match (syn.sack, syn.timestamps) {
            (false, false) => {}
            (true, false) => self.push_bytes([NOP, NOP, 4, 2]),
            (sack, true) => self.stamps(if sack { [4, 2] } else { [NOP, NOP] }, header),
        }
        if let Some(scale) = syn.window_scale {
            self.push_bytes([NOP, 3, 3, scale]);
        }
    }

    /// Appends the options of a non-SYN segment in `len` bytes: SACK blocks, and timestamps if they fit.
    // linux: net/ipv4/tcp_output.c tcp_options_write (6.1) - this order and padding.
    // spec: rfc7323 3.2, rfc2018 3.
    #[inline]
    fn options(&mut self, header: &TcpHeader, len: usize) {
        let blocks = header.sack_blocks();
        let sack = if blocks.is_empty() { 0 } else { 4 + 8 * blocks.len() };
        if len - sack == STAMPS_PADDED {
            self.stamps([NOP, NOP], header);
        }
        if sack > 0 {
            self.push_bytes([NOP, NOP, 5, sack as u8 - 2]);
            for &(left, right) in blocks {
                self.push(left);
                self.push(right);
            }
        }
        debug_assert_eq!(4 * self.len, HEADER + len, "the packet's length has room for its options");
    }
}
