//! One exchange on the air as frames: RTS and CTS, the frames of the PPDU, and the response.

use std::io::Write;

use stillair_model::types::{
    AckView, ContentView, DevId, Duration, Headers, Instant, Ip, MpduView, PowerView, PpduView, RtsCtsView,
};
use stillair_model::wifi::phy::PhyRate;
use stillair_model::wifi::phy::frame::{self as lengths, Cipher};

use super::bytes::body::Body;
use super::bytes::dot11::{self, Dot11Header, QosData};
use super::bytes::mac::Mac;
use super::bytes::radiotap::{self, Radiotap};
use super::bytes::tcp::Connections;
use super::bytes::{beacon, ip};
use super::memory::Numbers;
use super::parts::Part;
use super::pcapng::Writer;
use super::topology::Topology;

/// Access to the packets in a PPDU's frames.
pub trait Inside {
    /// Returns the packets of data frame `n` of the PPDU: one, or those of an A-MSDU.
    fn packets(&self, n: usize, mpdu: &MpduView) -> impl Iterator<Item = Headers<'_>>;

    /// Returns the first of these packets.
    fn first(&self, n: usize, mpdu: &MpduView) -> Headers<'_>;
}

/// One try of a PPDU, with the data needed to build its frames.
pub struct ExchangeFrames<'a, I> {
    pub scene: &'a Topology,
    pub inside: &'a I,
    pub connections: &'a Connections,
    pub view: &'a PpduView<'a>,
    pub numbers: Numbers,
}

impl<I: Inside> ExchangeFrames<'_, I> {
    /// Writes a point's part of the exchange.
    pub fn part<W: Write>(&self, writer: &mut Writer<W>, now: Instant, point: u32, part: &Part<'_>) {
        match *part {
            Part::Guard(guard) => self.guard(writer, now, point, guard),
            Part::Ppdu { sent } => self.ppdu(writer, now, point, sent),
            Part::Answer { answer, from, broken } => self.answer(writer, now, point, answer, from, broken),
        }
    }

    /// Writes the frames of the PPDU. With `sent`, as transmitted: no frame has a bad FCS.
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
        // The frames of a PPDU differ in only a few bytes; the rest is built once.
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
                let first = self.inside.first(n, mpdu);
                head.carries(ip::ethertype(&first));
                match cipher {
                    Cipher::None => head.write(out),
                    Cipher::Ccmp => head.write_ccmp(out),
                }
                if mpdu.msdus == 1 {
                    ip::packet(out, &first, self.scene.addresses(&first), self.connections);
                } else {
                    self.amsdu(out, &mut head, self.inside.packets(n, mpdu));
                }
                if cipher == Cipher::Ccmp {
                    out.tail(&[0; Cipher::MIC as usize]);
                }
            };
            writer.frame(now, point, start, |out| framed(out, &radiotap, data));
        }
    }

    /// Writes the packets of an A-MSDU.
    // spec: ieee80211-2016 9.3.2.2.2 - all subframes but the last are padded to a multiple of four bytes.
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

    /// Writes a non-data frame.
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

    /// Writes the response to the PPDU.
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

    /// Writes RTS and CTS before the PPDU. Their durations extend to the end of the exchange.
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

    /// Returns the group address of a frame.
    fn group(&self) -> Mac {
        let packet = self.view.mpdus.first().map(|mpdu| self.inside.first(0, mpdu));
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

fn rate(code: stillair_model::types::RateCode) -> PhyRate {
    PhyRate::of_code(code).expect("the world shows rates by their own codes")
}

/// Writes radiotap header, frame, and FCS.
#[inline(always)]
fn framed(out: &mut Body<'_>, radiotap: &Radiotap, build: impl FnOnce(&mut Body<'_>)) {
    radiotap.write(out);
    let frame = out.len();
    build(out);
    out.check(frame, radiotap.bad_fcs());
}
