//! The pcapng file format: a section header block, an interface description block per point, an enhanced
//! packet block per frame in time order, and interface statistics blocks with the number of frames per point.
// spec: draft-ietf-opsawg-pcapng-02 sec. 4 - blocks, options and their codes; little-endian throughout.

use std::io::{self, Write};

use stillair_model::types::{Duration, Instant};

use super::bytes::body::{Apart, Body, Finished};
use super::bytes::buffer::Buffer;
use super::bytes::fcs::PayloadRegister;
use super::bytes::pattern::pattern;
use super::output::CaptureOutput;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
/// Bytes before the frame in its block.
const HEAD: usize = 28;

/// Upper bound on the duration of an exchange. Frames are reported at the end of their exchange, so not in
/// the order in which they started; older frames can be written. 65,535 bytes at 6 Mbit/s take 87 ms.
const LONGEST_EXCHANGE: Duration = Duration::from_millis(100);
/// Bytes collected before writing, not counting separate payloads; including those of full-size frames, 6 MB.
const COLLECT: usize = 1 << 19;
/// Minimum ratio of collected bytes to the bytes kept by the last flush, which bounds the cost of moving kept
/// bytes.
const TIMES_KEPT: usize = 4;

/// A capture point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterfaceBlock {
    /// Name shown by packet analysers.
    pub name: String,
    /// First header of the frames.
    pub link_type: LinkType,
}

/// Link type of an interface: the first header of its frames.
// spec: tcpdump.org/linktypes - numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum LinkType {
    /// An Ethernet header.
    Ethernet = 1,
    /// A radiotap header, followed by an 802.11 header.
    Radiotap = 127,
}

/// A frame not written yet: its start time, and the position of its block.
#[derive(Clone, Copy, Debug)]
struct PendingBlock {
    at: Instant,
    begin: usize,
    end: usize,
    apart: Apart,
}

/// Writer of a pcapng file.
#[derive(Debug)]
pub struct Writer<W> {
    out: CaptureOutput<W>,
    snaplen: usize,
    waiting: Vec<PendingBlock>,
    blocks: Buffer,
    /// Number of block bytes that triggers writing old blocks.
    full: usize,
    register: PayloadRegister,
    frames: Vec<u64>,
}

impl<W: Write> Writer<W> {
    /// Starts a capture at the given points. Captures at most `snaplen` bytes per frame; zero captures all.
    pub fn new(out: W, application: &str, interfaces: &[InterfaceBlock], snaplen: u32) -> Self {
        let mut blocks = Vec::new();
        block(&mut blocks, SECTION_HEADER, |b| {
            b.extend(0x1a2b_3c4d_u32.to_le_bytes());
            b.extend([1, 0, 0, 0]);
            b.extend([0xff; 8]);
            option(b, 4, application.as_bytes());
            b.extend([0; 4]);
        });
        for i in interfaces {
            block(&mut blocks, INTERFACE_DESCRIPTION, |b| {
                b.extend((i.link_type as u32).to_le_bytes());
                b.extend(snaplen.to_le_bytes());
                option(b, 2, i.name.as_bytes());
                // if_tsresol: nanoseconds.
                option(b, 9, &[9]);
                b.extend([0; 4]);
            });
        }
        let mut writer = Self {
            out: CaptureOutput::new(out),
            snaplen: if snaplen == 0 { usize::MAX } else { snaplen as usize },
            waiting: Vec::new(),
            blocks: Buffer::default(),
            full: COLLECT,
            register: PayloadRegister::default(),
            frames: vec![0; interfaces.len()],
        };
        writer.out.add(&blocks);
        writer
    }

    /// Adds a frame that started at `at`, which is at or before `now`. `now` must not decrease between calls.
    #[inline]
    pub fn frame(&mut self, now: Instant, interface: u32, at: Instant, build: impl FnOnce(&mut Body<'_>)) {
        let begin = self.blocks.len();
        self.blocks.part(&[0; HEAD], HEAD);
        let mut body = Body::new(&mut self.blocks, self.snaplen, &mut self.register);
        build(&mut body);
        let Finished { kept, original, apart } = body.finish();
        self.blocks.part(&[0; 3], kept.wrapping_neg() & 3);
        let length = (self.blocks.len() - begin + apart.len + 4) as u32;
        self.blocks.part(&length.to_le_bytes(), 4);
        let nanos = at.nanos();
        let head = [
            ENHANCED_PACKET,
            length,
            interface,
            (nanos >> 32) as u32,
            nanos as u32,
            kept as u32,
            original as u32,
        ];
        self.blocks.set(begin, &little(head));
        self.frames[interface as usize] += 1;
        self.waiting.push(PendingBlock { at, begin, end: self.blocks.len(), apart });
        if self.blocks.len() > self.full {
            let safe = now.saturating_since(Instant::ZERO + LONGEST_EXCHANGE);
            self.flush(Instant::ZERO + safe);
        }
    }

    /// Writes all frames that started before `until`, in order of time; frames with equal times in the order
    /// added.
    #[inline(never)]
    fn flush(&mut self, until: Instant) {
        self.waiting.sort_by_key(|w| w.at);
        let old = self.waiting.partition_point(|w| w.at < until);
        let blocks = self.blocks.all();
        // Contiguous bytes, usually the end of one frame and the head of the next, are written as one piece.
        let mut run = 0..0;
        for &PendingBlock { begin, end, apart, .. } in &self.waiting[..old] {
            if begin != run.end {
                self.out.add(&blocks[run]);
                run = begin..begin;
            }
            if apart.len > 0 {
                self.out.add(&blocks[run.start..apart.at]);
                self.out.add(pattern(apart.phase, apart.len));
                run = apart.at..apart.at;
            }
            run.end = end;
        }
        self.out.add(&blocks[run]);
        self.waiting.drain(..old);
        self.keep();
        self.full = COLLECT.max(TIMES_KEPT * self.blocks.len());
    }

    /// Moves the pending blocks to the start, in the order added.
    fn keep(&mut self) {
        let mut end = 0;
        // Contiguous frames are moved together.
        self.waiting.sort_unstable_by_key(|w| w.begin);
        let mut first = 0;
        while let Some(from) = self.waiting.get(first).map(|w| w.begin) {
            let mut upto = from;
            let mut last = first;
            while let Some(w) = self.waiting.get_mut(last)
                && w.begin == upto
            {
                upto = w.end;
                let back = from - end;
                (w.begin, w.end, w.apart.at) = (w.begin - back, w.end - back, w.apart.at - back);
                last += 1;
            }
            self.blocks.move_back(from..upto, end);
            end += upto - from;
            first = last;
        }
        self.blocks.truncate(end);
    }

    /// Writes the remaining frames and the statistics. Returns the number of frames per point, and the file
    /// length in bytes. `left_out` is the number of frames per point that were never added; missing entries
    /// count as zero.
    pub fn finish(mut self, end: Instant, left_out: &[u64]) -> io::Result<(Vec<u64>, u64)> {
        self.flush(Instant::NEVER);
        let mut blocks = Vec::new();
        for (n, frames) in self.frames.iter().enumerate() {
            block(&mut blocks, INTERFACE_STATISTICS, |b| {
                b.extend((n as u32).to_le_bytes());
                b.extend(time(end));
                // isb_starttime, isb_endtime, isb_ifrecv, isb_ifdrop.
                option(b, 2, &time(Instant::ZERO));
                option(b, 3, &time(end));
                let dropped = left_out.get(n).copied().unwrap_or(0);
                option(b, 4, &(frames + dropped).to_le_bytes());
                option(b, 5, &dropped.to_le_bytes());
                b.extend([0; 4]);
            });
        }
        self.out.add(&blocks);
        self.out.finish().map(|bytes| (self.frames, bytes))
    }
}

/// Encodes the head of a block in little-endian order.
#[inline(always)]
fn little(words: [u32; HEAD / 4]) -> [u8; HEAD] {
    let mut bytes = [0; HEAD];
    for (n, word) in words.into_iter().enumerate() {
        [bytes[4 * n], bytes[4 * n + 1], bytes[4 * n + 2], bytes[4 * n + 3]] = word.to_le_bytes();
    }
    bytes
}

/// Encodes a timestamp, upper half first.
fn time(at: Instant) -> [u8; 8] {
    let nanos = at.nanos();
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&((nanos >> 32) as u32).to_le_bytes());
    bytes[4..].copy_from_slice(&(nanos as u32).to_le_bytes());
    bytes
}

fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    body(out);
    let length = (out.len() - begin + 4) as u32;
    out[begin + 4..begin + 8].copy_from_slice(&length.to_le_bytes());
    out.extend(length.to_le_bytes());
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend(value);
    out.extend(&[0; 3][..value.len().wrapping_neg() & 3]);
}
