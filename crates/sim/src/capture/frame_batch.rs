//! Frames on their way to the encoder: copies of all data that their bytes depend on, which outlive the
//! world's packets.

use stillair_model::types::{
    AckView, ContentView, DevId, Headers, Instant, KeptHeaders, MpduView, Packet, PacketKind, Packets,
    PowerView, PpduTry, PpduView, RateCode, RtsCtsView, TcpHeader, TimView, WireId,
};

use super::exchange::Inside;
use super::memory::Numbers;

/// Size in bytes at which a batch is full. The last exchange may exceed it by one A-MPDU.
const FULL: usize = 1 << 18;
/// Initial capacity for packet bytes.
const ROOM: usize = 2 * FULL;

/// An entry of a batch: a packet, or the frames of an exchange.
#[derive(Clone, Copy, Debug)]
pub enum TakenFrame {
    /// A packet on a wire or at one end of it.
    Packet {
        /// Time at which the packet was captured.
        now: Instant,
        /// Number of the capture point.
        point: u32,
        /// The wire.
        wire: WireId,
        /// Index of the packet in the batch.
        packet: usize,
    },
    /// A frame exchange.
    Air {
        /// End of the exchange.
        now: Instant,
        /// Index of the exchange in the batch.
        ppdu: usize,
    },
}

/// A packet. `at` and `len` locate its TCP header or its bytes in the batch.
#[derive(Clone, Debug)]
struct TakenPacket {
    packet: Packet,
    at: u32,
    len: u32,
}

/// TIM of a beacon. `at` and `len` locate the bitmap in the batch's bytes.
#[derive(Clone, Copy, Debug)]
struct TakenTim {
    count: u32,
    period: u32,
    group: bool,
    first: usize,
    at: usize,
    len: usize,
}

/// A [`PpduView`] and the numbers for its frames.
#[derive(Clone, Copy, Debug)]
struct TakenPpdu {
    tried: PpduTry,
    to: Option<DevId>,
    rate: RateCode,
    bytes: u32,
    tid: u8,
    content: ContentView,
    wide: bool,
    whole: bool,
    answer: Option<AckView>,
    guard: Option<RtsCtsView>,
    power: PowerView,
    tim: Option<TakenTim>,
    numbers: Numbers,
    /// Range of its data frames in the batch.
    mpdus: [usize; 2],
    /// Index of its first packet in the batch.
    packet: usize,
}

/// Frames in the order captured. A batch that has reached its maximum size allocates nothing more.
#[derive(Debug)]
pub struct FrameBatch {
    frames: Vec<TakenFrame>,
    ppdus: Vec<TakenPpdu>,
    mpdus: Vec<MpduView>,
    /// End of each data frame's packets.
    ends: Vec<usize>,
    packets: Vec<TakenPacket>,
    segments: Vec<TcpHeader>,
    bytes: Vec<u8>,
    /// Packets that open modelled connections, including those of frames left out.
    begun: Vec<KeptHeaders>,
    /// Empty packet table for views; their packets are in this batch.
    none: Packets,
}

impl Default for FrameBatch {
    fn default() -> Self {
        Self {
            frames: Vec::new(),
            ppdus: Vec::new(),
            mpdus: Vec::new(),
            ends: Vec::new(),
            packets: Vec::new(),
            segments: Vec::new(),
            bytes: Vec::with_capacity(ROOM),
            begun: Vec::new(),
            none: Packets::default(),
        }
    }
}

impl FrameBatch {
    /// Returns true if the batch takes no more frames.
    pub fn is_full(&self) -> bool {
        let of = |count: usize, each: usize| count * each;
        let held = self.bytes.len()
            + of(self.frames.len(), size_of::<TakenFrame>())
            + of(self.ppdus.len(), size_of::<TakenPpdu>())
            + of(self.mpdus.len(), size_of::<MpduView>() + size_of::<usize>())
            + of(self.packets.len(), size_of::<TakenPacket>())
            + of(self.segments.len(), size_of::<TcpHeader>());
        held >= FULL
    }

    /// Empties the batch for reuse.
    pub fn clear(&mut self) {
        let Self { frames, ppdus, mpdus, ends, packets, segments, bytes, begun, none: _ } = self;
        frames.clear();
        ppdus.clear();
        mpdus.clear();
        ends.clear();
        packets.clear();
        segments.clear();
        bytes.clear();
        begun.clear();
    }

    /// Adds a packet that opens a modelled connection.
    pub(super) fn begin(&mut self, p: Headers<'_>) {
        self.begun.push(p.keep());
    }

    /// Adds a packet on a wire or at one end of it. Copies at most `shown` bytes of an external host's
    /// packet.
    pub(super) fn put_packet(
        &mut self,
        now: Instant,
        point: u32,
        wire: WireId,
        p: &Headers<'_>,
        shown: usize,
    ) {
        let packet = self.packets.len();
        self.put(p, shown);
        self.frames.push(TakenFrame::Packet { now, point, wire, packet });
    }

    /// Adds an exchange with its packets.
    pub(super) fn put_ppdu(
        &mut self,
        now: Instant,
        view: &PpduView<'_>,
        numbers: Numbers,
        inside: &impl Inside,
        shown: usize,
    ) {
        let (packet, first) = (self.packets.len(), self.mpdus.len());
        let was_sent = view.guard.as_ref().is_none_or(|guard| guard.answered);
        if was_sent && matches!(view.content, ContentView::Data { .. } | ContentView::Group) {
            for (n, mpdu) in view.mpdus.iter().enumerate() {
                inside.packets(n, mpdu).for_each(|p| self.put(&p, shown));
                self.mpdus.push(MpduView { packet: None, ..*mpdu });
                self.ends.push(self.packets.len());
            }
        }
        let tim = view.tim.map(|TimView { count, period, group, bitmap: (first, bitmap) }| {
            let at = self.bytes.len();
            self.bytes.extend_from_slice(bitmap);
            TakenTim { count, period, group, first, at, len: bitmap.len() }
        });
        let PpduView { tried, to, rate, bytes, tid, content, wide, whole, answer, guard, power, .. } = *view;
        let mpdus = [first, self.mpdus.len()];
        let taken = TakenPpdu {
            tried,
            to,
            rate,
            bytes,
            tid,
            content,
            wide,
            whole,
            answer,
            guard,
            power,
            tim,
            numbers,
            mpdus,
            packet,
        };
        self.frames.push(TakenFrame::Air { now, ppdu: self.ppdus.len() });
        self.ppdus.push(taken);
    }

    #[inline]
    fn put(&mut self, p: &Headers<'_>, shown: usize) {
        let (mut at, mut len) = (0, 0);
        if let Some(header) = p.tcp {
            at = self.segments.len();
            self.segments.push(*header);
        } else if let Some(bytes) = p.bytes {
            (at, len) = (self.bytes.len(), bytes.len().min(shown));
            self.bytes.extend_from_slice(&bytes[..len]);
        }
        self.packets.push(TakenPacket { packet: Packet::clone(p), at: at as u32, len: len as u32 });
    }

    /// Returns the packets that open connections.
    pub(super) fn begun(&self) -> impl Iterator<Item = Headers<'_>> {
        self.begun.iter().map(KeptHeaders::get)
    }

    pub(super) fn frames(&self) -> &[TakenFrame] {
        &self.frames
    }

    pub(super) fn packet(&self, n: usize) -> Headers<'_> {
        let TakenPacket { packet, at, len } = &self.packets[n];
        let (at, len) = (*at as usize, *len as usize);
        let tcp = (packet.kind == PacketKind::Tcp).then(|| &self.segments[at]);
        let bytes = (packet.kind == PacketKind::External).then(|| &self.bytes[at..at + len]);
        Headers::new(packet, tcp, bytes)
    }

    /// Returns an exchange by index, and the numbers for its frames. The data frames of the view have no
    /// packets; see [`FrameBatch::inside`].
    pub(super) fn ppdu(&self, n: usize) -> (PpduView<'_>, Numbers) {
        let TakenPpdu { tried, to, rate, bytes, tid, content, wide, whole, answer, guard, power, .. } =
            self.ppdus[n];
        let TakenPpdu { tim, numbers, mpdus: [from, until], .. } = self.ppdus[n];
        let tim = tim.map(|TakenTim { count, period, group, first, at, len }| TimView {
            count,
            period,
            group,
            bitmap: (first, &self.bytes[at..at + len]),
        });
        let mpdus = &self.mpdus[from..until];
        let view = PpduView {
            tried,
            to,
            rate,
            bytes,
            tid,
            content,
            wide,
            mpdus,
            packets: &self.none,
            whole,
            answer,
            guard,
            power,
            tim,
        };
        (view, numbers)
    }

    /// Returns the packets of an exchange.
    pub(super) fn inside(&self, ppdu: usize) -> InParcel<'_> {
        let TakenPpdu { mpdus: [first, _], packet, .. } = self.ppdus[ppdu];
        InParcel { batch: self, first, packet }
    }
}

/// The packets of an exchange in a batch.
#[derive(Clone, Copy, Debug)]
pub struct InParcel<'a> {
    batch: &'a FrameBatch,
    first: usize,
    packet: usize,
}

impl InParcel<'_> {
    /// Returns the index in the batch of the first packet of data frame `n`.
    fn begin(&self, n: usize) -> usize {
        n.checked_sub(1).map_or(self.packet, |before| self.batch.ends[self.first + before])
    }
}

impl Inside for InParcel<'_> {
    #[inline]
    fn packets(&self, n: usize, _: &MpduView) -> impl Iterator<Item = Headers<'_>> {
        let end = self.batch.ends[self.first + n];
        (self.begin(n)..end).map(|n| self.batch.packet(n))
    }

    #[inline]
    fn first(&self, n: usize, _: &MpduView) -> Headers<'_> {
        self.batch.packet(self.begin(n))
    }
}
