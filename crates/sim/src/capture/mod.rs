//! Captures: what the air, a station or a wire carried, as a pcapng file that Wireshark opens.
//!
//! A capture is a reader of the trace that wants frames. Its points are `air-CHANNEL` (every frame of a channel, as the one
//! it was for received it), `NODE-INTERFACE` of each Wi-Fi interface (what that radio sent, and what it received of frames
//! meant for it) and of each wired one (packets as its host sees them: before the device splits what it sends, after what
//! came in together was merged), and each wired link under its own name (packets as they reach its end).
//!
//! A frame's time is the start of its PPDU, so all frames of an A-MPDU have the same; radiotap's TSFT is later by the
//! preamble ([`radiotap::tsft`]). A frame that its receiver did not get, or that was part of a collision, ends with a wrong
//! check sequence and is flagged so.

mod beacon;
mod body;
mod dot11;
mod fcs;
mod ip;
mod mac;
mod memory;
mod output;
mod pattern;
pub mod pcapng;
mod ports;
pub mod radiotap;
mod room;
mod scene;
mod sums;
mod tcp;

use std::io::{self, Write};

use stillair_model::vocabulary::{
    AckView, ContentView, DevId, Duration, FrameView, Headers, Instant, Ip, PacketKind, PowerView, PpduView,
    RtsCtsView, Sink, TraceEvent, WireId,
};
use stillair_model::wifi::phy::PhyRate;
use stillair_model::wifi::phy::frame::{self as lengths, Cipher};

use crate::scenario::Scenario;
use body::Body;
use dot11::{Dot11Header, QosData};
use mac::Mac;
use memory::{MemoryFile, Numbers};
use pcapng::Writer;
use radiotap::Radiotap;
use scene::Scene;
use tcp::Connections;

pub use ports::ports;
pub use scene::point_names;

/// What is captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// Names of the points; none means the air of every channel, `all` every point.
    pub points: Vec<String>,
    /// Frames that begin earlier are left out.
    pub from: Instant,
    /// Frames that begin then or later are left out, but for the answer to one that began before.
    pub until: Instant,
    /// Bytes kept of each frame at most; zero keeps all.
    pub snaplen: u32,
}

impl Selection {
    /// Says what is wrong with it, if anything is.
    pub fn check(&self, scenario: &Scenario) -> Result<(), String> {
        let snaplen = self.snaplen;
        if snaplen != 0 && snaplen < LEAST_SNAPLEN {
            return Err(format!("snaplen: found {snaplen}, expected 0 for all or at least {LEAST_SNAPLEN}"));
        }
        if self.until <= self.from {
            return Err("window: it ends before it begins; give an end that is later".to_owned());
        }
        Scene::new(scenario, &crate::world::layout(scenario), &self.points).map(|_| ())
    }
}

/// Least [`Selection::snaplen`] that keeps all headers.
pub const LEAST_SNAPLEN: u32 = 160;

/// A capture under way.
#[derive(Debug)]
pub struct Capture<W> {
    writer: Writer<W>,
    scene: Scene,
    memory: MemoryFile,
    connections: Connections,
    from: Instant,
    until: Instant,
}

/// What was captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Captured {
    /// Each point and its frames.
    pub frames: Vec<(String, u64)>,
    /// Length of the file.
    pub bytes: u64,
}

impl<W: Write> Capture<W> {
    /// Begins a capture of one run. The error says what is wrong with the selection.
    pub fn new(scenario: &Scenario, selection: &Selection, out: W) -> Result<Self, String> {
        selection.check(scenario)?;
        let layout = crate::world::layout(scenario);
        let scene = Scene::new(scenario, &layout, &selection.points)?;
        let application = concat!("stillair ", env!("CARGO_PKG_VERSION"));
        let writer = Writer::new(out, application, scene.points(), selection.snaplen);
        let memory = MemoryFile::new(&layout);
        let connections = Connections::default();
        Ok(Self { writer, scene, memory, connections, from: selection.from, until: selection.until })
    }

    /// Ends the capture at the end of the run.
    pub fn finish(self, end: Instant) -> io::Result<Captured> {
        let (frames, bytes) = self.writer.finish(end)?;
        let names = self.scene.points().iter().map(|p| p.name.clone());
        Ok(Captured { frames: names.zip(frames).collect(), bytes })
    }

    fn wants(&self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }

    /// A packet at a wire that is shown at `point`.
    #[inline(never)]
    fn wire(&mut self, now: Instant, point: u32, wire: WireId, p: Headers<'_>) {
        self.connections.note(&p);
        if self.wants(now) {
            let (addresses, macs) = (self.scene.addresses(&p), self.scene.ends(wire));
            let connections = &self.connections;
            self.writer.frame(now, point, now, |out| ip::ethernet(out, &p, addresses, macs, connections));
        }
    }

    /// An RTS that met another frame.
    fn unanswered(&mut self, now: Instant, view: &PpduView<'_>) {
        let points = [self.scene.air(view.tried.channel), self.scene.dev(view.tried.dev)];
        let (connections, numbers) = (&self.connections, Numbers::default());
        let shot = Shot { scene: &self.scene, memory: &self.memory, connections, view, numbers };
        let writer = &mut self.writer;
        if let Some(guard) = &view.guard {
            points.into_iter().flatten().for_each(|point| shot.guard(writer, now, point, guard));
        }
    }

    #[inline(never)]
    fn air(&mut self, now: Instant, view: &PpduView<'_>) {
        let begun = view.guard.as_ref().map_or(view.tried.start, |g| g.rts.unwrap_or(g.cts));
        let wanted = self.wants(begun);
        if view.guard.as_ref().is_some_and(|guard| !guard.answered) {
            return if wanted {
                self.unanswered(now, view)
            };
        }
        let numbers = self.memory.note(view);
        for mpdu in view.mpdus {
            match mpdu.packet {
                Some(p) if mpdu.msdus == 1 => self.connections.note(&Headers::of(view.packets, p)),
                Some(first) => {
                    let packets = view.packets.amsdu(first);
                    packets.for_each(|p| self.connections.note(&Headers::of(view.packets, p)));
                }
                None => {}
            }
        }
        if !wanted {
            return;
        }
        let shot =
            Shot { scene: &self.scene, memory: &self.memory, connections: &self.connections, view, numbers };
        let sender = view.tried.dev;
        let writer = &mut self.writer;
        if let Some(guard) = &view.guard {
            let points = [
                self.scene.air(view.tried.channel),
                self.scene.dev(sender),
                view.to.and_then(|to| self.scene.dev(to)),
            ];
            points.into_iter().flatten().for_each(|point| shot.guard(writer, now, point, guard));
        }
        let mut ppdu = |point: Option<u32>, sent: bool| {
            point.into_iter().for_each(|point| shot.ppdu(writer, now, point, sent));
        };
        ppdu(self.scene.air(view.tried.channel), false);
        ppdu(self.scene.dev(sender), true);
        match view.to {
            Some(to) => ppdu(self.scene.dev(to), false),
            None => self.scene.peers(sender).for_each(|to| ppdu(self.scene.dev(to), false)),
        }
        let (Some(answer), Some(to)) = (&view.answer, view.to) else { return };
        let lost = !answer.heard;
        let points = [
            (self.scene.air(view.tried.channel), lost),
            (self.scene.dev(to), false),
            (self.scene.dev(sender), lost),
        ];
        for (point, broken) in points {
            point.into_iter().for_each(|point| shot.answer(writer, now, point, answer, to, broken));
        }
    }
}

impl<W: Write> Sink for Capture<W> {
    const FRAMES: bool = true;

    #[inline]
    fn event(&mut self, _: Instant, _: &TraceEvent) {}

    #[inline(always)]
    fn frame(&mut self, now: Instant, what: &FrameView<'_>) {
        let (wire, p, point) = match what {
            FrameView::Air(view) => return self.air(now, view),
            FrameView::Wire(wire, p) => (*wire, p, self.scene.wire(*wire)),
            FrameView::Sent(wire, p) => (*wire, p, self.scene.host(*wire, 0)),
            FrameView::Received(wire, p) => (*wire, p, self.scene.host(*wire, 1)),
        };
        match point {
            Some(point) => self.wire(now, point, wire, p.headers()),
            // Where no point is, the beginnings of connections count alone.
            None if p.kind() == PacketKind::Tcp => self.connections.note(&p.headers()),
            None => {}
        }
    }
}

/// One try of a PPDU with all that its frames are made of.
struct Shot<'a> {
    scene: &'a Scene,
    memory: &'a MemoryFile,
    connections: &'a Connections,
    view: &'a PpduView<'a>,
    numbers: Numbers,
}

impl Shot<'_> {
    /// The frames of the PPDU. `sent`: as its sender knows them, none of them broken.
    fn ppdu<W: Write>(&self, writer: &mut Writer<W>, now: Instant, point: u32, sent: bool) {
        let view = self.view;
        let start = view.tried.start;
        let bad_fcs = |whole: bool| !sent && (!whole || view.tried.collided);
        let aggregate = view.content == ContentView::Data { aggregate: true };
        if !matches!(view.content, ContentView::Data { .. } | ContentView::Group) {
            let mut radiotap = self.radiotap(start, rate(view.rate), None);
            radiotap.mark(bad_fcs(view.whole), false);
            return writer.frame(now, point, start, |out| framed(out, &radiotap, |out| self.lone(out)));
        }
        // Frames of a PPDU differ in a few bytes: the rest is made once.
        let ampdu = aggregate.then_some(self.numbers.reference);
        let mut radiotap = self.radiotap(start, rate(view.rate), ampdu);
        let mut head = self.head(0, false).qos_data(view.tid);
        head.saves(view.power);
        if view.content == ContentView::Group {
            head.is_not_answered();
        }
        let cipher = self.scene.cipher(view.tried.channel);
        for (n, mpdu) in view.mpdus.iter().enumerate() {
            radiotap.mark(bad_fcs(mpdu.whole), n + 1 == view.mpdus.len());
            head.mark(mpdu.seq, mpdu.retry);
            head.holds_amsdu(mpdu.msdus > 1);
            let data = |out: &mut Body<'_>| {
                let first = self.memory.first(view, mpdu);
                head.carries(ip::ethertype(&first));
                match cipher {
                    Cipher::None => head.write(out),
                    Cipher::Ccmp => head.write_ccmp(out),
                }
                if mpdu.msdus == 1 {
                    ip::packet(out, &first, self.scene.addresses(&first), self.connections);
                } else {
                    self.amsdu(out, &mut head, self.memory.packets(view, mpdu));
                }
                if cipher == Cipher::Ccmp {
                    out.tail(&[0; Cipher::MIC as usize]);
                }
            };
            writer.frame(now, point, start, |out| framed(out, &radiotap, data));
        }
    }

    /// The packets of an A-MSDU.
    // spec: ieee80211-2016 9.3.2.2.2 - each is padded to a multiple of four but the last.
    fn amsdu<'a>(&self, out: &mut Body<'_>, head: &mut QosData, packets: impl Iterator<Item = Headers<'a>>) {
        let begin = out.len();
        for p in packets {
            out.tail(&[0; 3][..lengths::padding((out.len() - begin) as u32) as usize]);
            if out.is_cut() {
                out.leave_out((lengths::AMSDU_HEADER + lengths::LLC_SNAP + p.len) as usize);
                continue;
            }
            head.carries(ip::ethertype(&p));
            head.write_msdu(out, p.len);
            ip::packet(out, &p, self.scene.addresses(&p), self.connections);
        }
    }

    /// A frame that is no data.
    fn lone(&self, out: &mut Body<'_>) {
        let (view, numbers) = (self.view, self.numbers);
        let head = self.head(numbers.seq, view.tried.attempt > 0);
        match view.content {
            ContentView::Beacon => {
                let head = Dot11Header { retry: false, ..head };
                head.beacon(out);
                out.push(&radiotap::tsft(view.tried.start, rate(view.rate)).to_le_bytes());
                let body = self.scene.beacon(view.tried.dev);
                match view.tim {
                    Some(tim) => beacon::with_tim(out, body, tim),
                    None => out.extend(body),
                }
            }
            ContentView::AddbaRequest { start, frames } => {
                head.addba_request(out, numbers.token, view.tid, frames, start);
            }
            ContentView::AddbaResponse { frames } => {
                head.addba_response(out, numbers.token, view.tid, frames);
            }
            ContentView::Bar { start } => {
                dot11::block_ack_request(out, [head.from, head.to], head.nav, view.tid, start);
            }
            ContentView::Null { pm } => head.null(out, PowerView { pm, ..view.power }),
            ContentView::QosNull { .. } => head.qos_null(out, view.tid, view.power),
            ContentView::PsPoll => head.ps_poll(out, self.scene.aid(view.tried.dev)),
            ContentView::Data { .. } | ContentView::Group => {
                unreachable!("data frames are written one by one")
            }
        }
    }

    /// The answer to the PPDU.
    fn answer<W: Write>(
        &self,
        writer: &mut Writer<W>,
        now: Instant,
        point: u32,
        answer: &AckView,
        from: DevId,
        broken: bool,
    ) {
        let mut radiotap = self.radiotap(answer.start, rate(answer.rate), None);
        radiotap.mark(broken, false);
        let (from, to) = (self.scene.mac(from), self.scene.mac(self.view.tried.dev));
        let (start, bitmap) = self.numbers.block_ack;
        writer.frame(now, point, answer.start, |out| {
            framed(out, &radiotap, |out| match answer.block {
                true => {
                    let words = if self.view.wide { &bitmap[..] } else { &bitmap[..1] };
                    dot11::block_ack(out, [from, to], self.view.tid, start, words);
                }
                false => dot11::ack(out, to),
            });
        });
    }

    /// RTS and CTS before the PPDU. Their durations reach to the end of the exchange.
    fn guard<W: Write>(&self, writer: &mut Writer<W>, now: Instant, point: u32, guard: &RtsCtsView) {
        let view = self.view;
        let sender = self.scene.mac(view.tried.dev);
        let nav = self.head(0, false).nav;
        let end = view.tried.start + view.tried.airtime + nav;
        let receiver = view.to.map_or(Mac::BROADCAST, |to| self.scene.mac(to));
        let frame = |writer: &mut Writer<W>, start: Instant, bytes: u32, to: Mac, from: Option<Mac>| {
            let over = start + self.scene.control_duration(view, rate(guard.rate), bytes);
            let radiotap = self.radiotap(start, rate(guard.rate), None);
            let nav = end.saturating_since(over);
            writer.frame(now, point, start, |out| {
                framed(out, &radiotap, |out| dot11::guard(out, nav, to, from))
            });
        };
        if let Some(start) = guard.rts {
            frame(writer, start, lengths::RTS, receiver, Some(sender));
        }
        if guard.answered {
            frame(writer, guard.cts, lengths::CTS, sender, None);
        }
    }

    fn radiotap(&self, start: Instant, rate: PhyRate, ampdu: Option<u32>) -> Radiotap {
        Radiotap::new(start, rate, self.scene.tuning(self.view.tried.channel), ampdu)
    }

    /// Address of the group that a frame is sent to.
    fn group(&self) -> Mac {
        let packet = self.view.mpdus.first().map(|mpdu| self.memory.first(self.view, mpdu));
        let is_v6 = packet.is_some_and(|p| p.dst.ip() == Ip::V6);
        if is_v6 { Mac::GROUP6 } else { Mac::GROUP }
    }

    fn head(&self, seq: u16, retry: bool) -> Dot11Header {
        let (view, sender) = (self.view, self.view.tried.dev);
        let all = if view.content == ContentView::Group { self.group() } else { Mac::BROADCAST };
        let (from, to) = (self.scene.mac(sender), view.to.map_or(all, |to| self.scene.mac(to)));
        let bssid = if self.scene.is_ap(sender) { from } else { to };
        let nav = view.to.map_or(Duration::ZERO, |_| self.scene.answer_time(view));
        Dot11Header { to, from, bssid, nav, seq, retry }
    }
}

fn rate(code: stillair_model::vocabulary::RateCode) -> PhyRate {
    PhyRate::of_code(code).expect("the world shows rates by their own codes")
}

/// Radiotap, the frame, and its check sequence.
#[inline(always)]
fn framed(out: &mut Body<'_>, radiotap: &Radiotap, build: impl FnOnce(&mut Body<'_>)) {
    radiotap.write(out);
    let frame = out.len();
    build(out);
    out.check(frame, radiotap.bad_fcs());
}
