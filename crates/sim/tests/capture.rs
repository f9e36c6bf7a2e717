//! Captures parse: a small reader of pcapng, radiotap and 802.11 compares them with the frames reported by
//! the world.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use proptest::prelude::*;
use stillair_model::types::{
    AckView, ContentView, FrameView, Headers, Instant, KeptHeaders, MpduView, Packets, PpduView, Seed, Sink,
    SynOptions, TcpFlags, TcpHeader, Tee, TraceEvent,
};
use stillair_model::wifi::phy::frame::{self, data_mpdu};
use stillair_model::wifi::phy::{PhyRate, Width, ppdu_duration};
use stillair_sim::capture::{Capture, Selection};
use stillair_sim::{scenario, world};

/// A PPDU reported by the world.
struct Shown {
    /// The view, without its frames.
    view: PpduView<'static>,
    mpdus: Vec<MpduView>,
    /// Packet of each frame that had one.
    packets: Vec<Option<KeptHeaders>>,
}

/// Empty packet table for the stored views.
static NO_PACKETS: LazyLock<Packets> = LazyLock::new(Packets::default);

/// All reported frames: PPDUs, and packets at each of the other points.
#[derive(Default)]
struct Kept {
    air: Vec<Shown>,
    packets: [Vec<(Instant, KeptHeaders)>; POINTS.len() - 1],
}

/// Captured points. The link's first wire leads from the server to the access point.
const POINTS: [&str; 4] = ["air-wifi", "lan", "server-eth0", "ap-eth0"];

/// Stores all reported frames.
#[derive(Default, Clone)]
struct Keeper(Rc<RefCell<Kept>>);

impl Sink for Keeper {
    const FRAMES: bool = true;
    fn event(&mut self, _: Instant, _: &TraceEvent) {}
    fn frame(&mut self, now: Instant, what: &FrameView<'_>) {
        let mut kept = self.0.borrow_mut();
        match what {
            FrameView::Wire(_, packet) => kept.packets[0].push((now, packet.headers().keep())),
            FrameView::Sent(wire, packet) => {
                kept.packets[1 + wire.index()].push((now, packet.headers().keep()))
            }
            FrameView::Received(wire, packet) => {
                kept.packets[2 - wire.index()].push((now, packet.headers().keep()))
            }
            FrameView::Air(view) => {
                let PpduView { tried, to, rate, bytes, tid, content, wide, whole, answer, guard, .. } =
                    **view;
                let (mpdus, none) = (view.mpdus.to_vec(), &*NO_PACKETS);
                let copy = |mpdu: &MpduView| mpdu.packet.map(|p| Headers::of(view.packets, p).keep());
                let packets = mpdus.iter().map(copy).collect();
                let view = PpduView {
                    tried,
                    to,
                    rate,
                    bytes,
                    tid,
                    content,
                    wide,
                    mpdus: &[],
                    packets: none,
                    whole,
                    answer,
                    guard,
                    power: view.power,
                    tim: None,
                };
                kept.air.push(Shown { view, mpdus, packets });
            }
        }
    }
}

/// A frame read from a file.
struct Read<'a> {
    at: u64,
    /// Radiotap header; empty on a wire.
    radiotap: &'a [u8],
    frame: &'a [u8],
}

fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}
fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

/// Reads all frames of a file, by point, the air first.
fn read(file: &[u8]) -> [Vec<Read<'_>>; POINTS.len()] {
    let mut found = [const { Vec::new() }; POINTS.len()];
    let mut rest = file;
    let mut last = 0;
    while !rest.is_empty() {
        let (kind, length) = (u32_at(rest, 0), u32_at(rest, 4) as usize);
        assert_eq!((length % 4, u32_at(rest, length - 4) as usize), (0, length));
        if kind == 6 {
            let interface = u32_at(rest, 8) as usize;
            let at = u64::from(u32_at(rest, 12)) << 32 | u64::from(u32_at(rest, 16));
            let (kept, original) = (u32_at(rest, 20) as usize, u32_at(rest, 24) as usize);
            assert_eq!(kept, original);
            assert!(at >= last, "in the order of time");
            last = at;
            let packet = &rest[28..28 + kept];
            let head = if interface == 0 { usize::from(u16_at(packet, 2)) } else { 0 };
            found[interface].push(Read { at, radiotap: &packet[..head], frame: &packet[head..] });
        }
        rest = &rest[length..];
    }
    found
}

/// FCS, computed bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    })
}

/// Checks the properties of all frames on the air.
fn check_frame(read: &Read<'_>, at: Instant, rate: PhyRate, whole: bool, len: u32) {
    assert_eq!((read.at, read.frame.len()), (at.nanos(), len as usize));
    let (body, end) = read.frame.split_at(read.frame.len() - 4);
    assert_eq!(crc(body) == u32_at(end, 0), whole);
    let (flags, present) = (read.radiotap[16], u32_at(read.radiotap, 4));
    assert_eq!((flags >> 6 & 1 == 0, flags >> 4 & 1), (whole, 1));
    match rate {
        PhyRate::Ofdm(r) => assert_eq!(u32::from(read.radiotap[17]), 2 * r.mbps()),
        PhyRate::Dsss(r, _) => assert_eq!(u64::from(read.radiotap[17]), r.rate().bps() / 500_000),
        PhyRate::Ht(r) => {
            let (bits, index) = (read.radiotap[27], read.radiotap[28]);
            assert_eq!((present >> 19 & 1, index), (1, r.mcs));
            assert_eq!(bits & 1 == 1, r.width == Width::Mhz40);
        }
        PhyRate::Vht(_) | PhyRate::He(_) => unreachable!("these scenarios have no such rates"),
    }
}

/// Returns true if the 16-bit words of these parts sum to ones.
fn sums_to_ones(parts: &[&[u8]]) -> bool {
    let word = |w: &[u8]| u64::from(w[0]) << 8 | w.get(1).map_or(0, |&b| u64::from(b));
    let sum: u64 = parts.iter().flat_map(|p| p.chunks(2)).map(word).sum();
    sum > 0 && sum.is_multiple_of(0xffff)
}

/// Checks a packet and returns its length.
fn check_packet(bytes: &[u8], p: &Headers) -> usize {
    let length = u32::from(be16(bytes, 2));
    assert_eq!((bytes[0], bytes[1], bytes[8]), (0x45, p.tos, p.ttl));
    assert!(sums_to_ones(&[&bytes[..20]]));
    let (rest, pseudo) = (&bytes[20..length as usize], (length - 20).to_be_bytes());
    match bytes[9] {
        6 => {
            assert!(sums_to_ones(&[&bytes[12..20], &[0, 6], &pseudo, rest]));
            check_tcp(rest, p);
        }
        17 => assert!(sums_to_ones(&[&bytes[12..20], &[0, 17], &pseudo, rest])),
        1 => assert!(sums_to_ones(&[rest])),
        other => panic!("protocol {other}"),
    }
    if bytes[9] != 6 {
        assert_eq!(length, p.len);
    }
    length as usize
}

/// Parses a segment and compares it with its header.
fn check_tcp(bytes: &[u8], p: &Headers) {
    let header = p.tcp.expect("a record");
    let data = usize::from(bytes[12] >> 4) * 4;
    assert_eq!((be32(bytes, 4), bytes[13], be16(bytes, 18)), (p.seq, header.flags.0, 0));
    assert_eq!(bytes.len() - data, header.payload as usize);
    // The packet's length includes a header per segment; the capture has a single one.
    assert_eq!(p.len, u32::from(p.segs) * (20 + data as u32) + header.payload);
    assert!(bytes[data..].iter().enumerate().all(|(n, &b)| b == (p.seq as u8).wrapping_add(n as u8)));
    // The listening end has the higher port.
    let listener = be16(bytes, 2) > be16(bytes, 0);
    assert_eq!(be16(bytes, 2).abs_diff(be16(bytes, 0)), 8_192);
    let (syn, ack) = (header.flags.has(TcpFlags::SYN), header.flags.has(TcpFlags::ACK));
    assert!(!syn || listener != ack, "SYN to the listener, SYN and ACK to the other");
    assert_eq!(be32(bytes, 8), if ack { p.ack } else { 0 });
    // Linux with the buffers of these profiles: both ends have a window scale of 7.
    assert_eq!(u32::from(be16(bytes, 14)) << if syn { 0 } else { 7 }, header.window);

    let (mut sacks, mut stamps, mut offer) = (Vec::new(), None, SynOptions::default());
    let mut rest = &bytes[20..data];
    while let [kind, tail @ ..] = rest {
        if *kind == 1 {
            rest = tail;
            continue;
        }
        let (option, tail) = rest.split_at(usize::from(tail[0]));
        match (kind, option.len()) {
            (2, 4) => offer.mss = be16(option, 2),
            (3, 3) => offer.window_scale = Some(option[2]),
            (4, 2) => offer.sack = true,
            (5, _) => sacks = option[2..].chunks(8).map(|b| (be32(b, 0), be32(b, 4))).collect(),
            (8, 10) => stamps = Some((be32(option, 2), be32(option, 6))),
            other => panic!("option {other:?}"),
        }
        rest = tail;
    }
    assert_eq!(sacks, header.sack_blocks());
    assert_eq!(stamps, Some((header.ts_val, header.ts_ecr)));
    offer.timestamps = syn;
    assert_eq!(offer, if syn { header.syn } else { SynOptions { timestamps: false, ..header.syn } });
    assert_eq!(offer.window_scale, syn.then_some(7));
}

fn be16(b: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([b[at], b[at + 1]])
}
fn be32(b: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

fn check_answer(read: &Read<'_>, answer: &AckView, mpdus: &[MpduView], tid: u8, wide: bool) {
    let rate = PhyRate::of_code(answer.rate).unwrap();
    let len = if answer.block { frame::block_ack(wide) } else { frame::ACK };
    check_frame(read, answer.start, rate, answer.heard, len);
    if answer.block {
        assert_eq!(read.frame[0], 0x94);
        assert_eq!(read.frame[17] >> 4, tid);
        let start = u16_at(read.frame, 18) >> 4;
        assert_eq!(read.frame[18] & 0xf, if wide { 4 } else { 0 });
        let bitmap = &read.frame[20..if wide { 52 } else { 28 }];
        // The capture has its own scoreboard, compared here with the receiver's.
        for (n, mpdu) in mpdus.iter().enumerate() {
            let offset = usize::from(mpdu.seq.wrapping_sub(start) & 0xfff);
            // The last frames may be beyond the window if they were not received.
            let bit = bitmap.get(offset / 8).is_some_and(|byte| byte >> (offset % 8) & 1 == 1);
            assert_eq!(bit, answer.frames[n / 64] >> (n % 64) & 1 == 1, "number {}", mpdu.seq);
        }
    } else {
        assert_eq!(read.frame[0], 0xd4);
    }
}

fn check_ppdu(shown: &Shown, frames: &mut impl Iterator<Item = usize>, all: &[Read<'_>]) -> usize {
    let (view, mpdus) = (&shown.view, &shown.mpdus);
    let (rate, start) = (PhyRate::of_code(view.rate).unwrap(), view.tried.start);
    let mut next = || &all[frames.next().expect("a frame for each that was shown")];
    let mut repeats = 0;
    if let ContentView::Data { aggregate } = view.content {
        for (n, (mpdu, packet)) in mpdus.iter().zip(&shown.packets).enumerate() {
            let read = next();
            check_frame(read, start, rate, mpdu.whole, u32::from(mpdu.len));
            assert_eq!((read.frame[0], u16_at(read.frame, 22) >> 4), (0x88, mpdu.seq));
            assert_eq!((read.frame[1] >> 3 & 1 == 1, read.frame[24]), (mpdu.retry, view.tid));
            assert_eq!(u32_at(read.radiotap, 4) >> 20 & 1 == 1, aggregate);
            if aggregate {
                assert_eq!(u16_at(read.radiotap, 36) & 8 != 0, n + 1 == mpdus.len());
            }
            match packet.as_ref().map(KeptHeaders::get) {
                Some(p) => {
                    assert_eq!(u32::from(mpdu.len), data_mpdu(p.len));
                    check_packet(&read.frame[34..], &p);
                }
                None => repeats += 1,
            }
        }
    } else {
        let read = next();
        let len = match view.content {
            ContentView::Beacon => frame::BEACON,
            ContentView::AddbaRequest { .. } => frame::ADDBA_REQUEST,
            ContentView::AddbaResponse { .. } => frame::ADDBA_RESPONSE,
            ContentView::Null { .. } => frame::NULL,
            ContentView::QosNull { .. } => frame::QOS_NULL,
            ContentView::PsPoll => frame::PS_POLL,
            _ => frame::BLOCK_ACK_REQUEST,
        };
        check_frame(read, start, rate, view.whole, len);
        if let ContentView::Bar { start } = view.content {
            assert_eq!((read.frame[16], u16_at(read.frame, 18) >> 4), (4, start));
        }
        if let ContentView::AddbaRequest { start, frames } = view.content {
            assert_eq!((read.frame[24..26].to_vec(), u16_at(read.frame, 31) >> 4), (vec![3, 0], start));
            assert_eq!(u16_at(read.frame, 27) >> 6, frames);
        }
        if let ContentView::AddbaResponse { frames } = view.content {
            assert_eq!((read.frame[24..26].to_vec(), u16_at(read.frame, 29) >> 6), (vec![3, 1], frames));
        }
    }
    if let Some(answer) = &view.answer {
        check_answer(next(), answer, mpdus, view.tid, view.wide);
    }
    repeats
}

const HOSTS: &str = r#"
name = "captured"
duration = "300 ms"
[channel.wifi]
band = "5 GHz"
width = "40 MHz"
[node.server]
profile = "linux-4.4"
interface.eth0 = { link = "lan", address = "10.0.0.2" }
[node.ap]
profile = "linux-4.6"
forward = true
interface.eth0 = { link = "lan", address = "10.0.0.1" }
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "fq_mac", address = "10.0.1.1" }
[link.lan]
rate = "1 Gbit/s"
delay = "0.1 ms"
"#;

/// Runs a scenario with two stations. Returns its capture and the reported frames.
fn captured(station: &str, flows: &str, seed: u64) -> (Vec<u8>, Keeper) {
    captured_with("", station, flows, seed)
}

/// The same with additional keys for the server's interface.
fn captured_with(server: &str, station: &str, flows: &str, seed: u64) -> (Vec<u8>, Keeper) {
    let hosts = HOSTS.replace("address = \"10.0.0.2\"", &format!("address = \"10.0.0.2\", {server}"));
    let two = [1, 2].map(|n| {
        format!(
            "[node.sta{n}]\nprofile = \"linux-4.4\"\ninterface.wlan0 = {{ channel = \"wifi\", role = \"station\", \
             ap = \"ap.wlan0\", address = \"10.0.1.1{n}\", {station} }}\n"
        )
    });
    let text = format!("{hosts}{}{flows}", two.concat());
    let scenario = scenario::parse(&text, "captured.toml", &[]).unwrap();
    let points = POINTS.map(str::to_owned).to_vec();
    let selection = Selection { points, from: Instant::ZERO, until: Instant::NEVER, snaplen: 0 };
    let (mut file, keeper) = (Vec::new(), Keeper::default());
    let capture = Capture::new(&scenario, &selection, &mut file).unwrap();
    let sink = |_| Tee(keeper.clone(), capture);
    let mut world = world::wire(&scenario, Seed { seed, run: 0 }, sink).world;
    let end = Instant::ZERO + scenario.duration;
    world.run_until(end);
    let Tee(_, capture) = world.into_trace();
    capture.finish(end).unwrap();
    (file, keeper)
}

/// A flow of `datagrams` datagrams per second.
fn udp(from: &str, to: &str, datagrams: u32, payload: u32, mark: u8) -> String {
    format!(
        "[[flow]]\nkind = \"udp\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{} bit/s\"\n\
         payload = {payload}\ndscp = {mark}\n",
        datagrams * payload * 8
    )
}

fn tcp(from: &str, to: &str) -> String {
    format!("[[flow]]\nkind = \"tcp\"\nfrom = \"{from}\"\nto = \"{to}\"\n")
}

/// Compares a capture with the reported frames. Returns the number of frames retransmitted although they had
/// been received.
fn compare(file: &[u8], keeper: &Keeper) -> usize {
    let [air, wired @ ..] = read(file);
    let Kept { air: shown, packets } = &*keeper.0.borrow();
    for (wire, packets) in wired.iter().zip(packets) {
        assert_eq!(wire.len(), packets.len());
        for (read, (at, p)) in wire.iter().zip(packets) {
            assert_eq!((read.at, &read.frame[12..14]), (at.nanos(), &[8, 0][..]));
            let length = check_packet(&read.frame[14..], &p.get());
            assert_eq!(read.frame.len(), 14 + length.max(46));
        }
    }
    // PPDUs and their frames are reported in order of their start.
    let mut frames = 0..air.len();
    let repeats = shown.iter().map(|s| check_ppdu(s, &mut frames, &air)).sum();
    assert_eq!(frames.len(), 0, "no frame that was not shown");
    repeats
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn written_file_reads_back(
        rate in prop::sample::select(vec!["ht20-mcs15-sgi", "ht40-mcs31-sgi", "ht40-mcs3-lgi", "ht20-mcs0-lgi", "ofdm-6"]),
        (errors, lost) in (0_u8..60, 0_u8..60),
        retry_limit in 1_u8..12,
        payloads in prop::array::uniform3(1_u32..1473),
        marks in prop::array::uniform3(0_u8..64),
        seed in any::<u64>(),
    ) {
        let station = format!(
            "rate = \"{rate}\", error_rate = 0.{errors:02}, ack_error_rate = 0.{lost:02}, retry_limit = {retry_limit}"
        );
        let flows = udp("server", "sta1", 2_000, payloads[0], marks[0])
            + &udp("sta2", "server", 1_000, payloads[1], marks[1])
            + &udp("sta1", "server", 500, payloads[2], marks[2])
            + &tcp("server", "sta1")
            + &tcp("sta2", "server")
            + "[[flow]]\nkind = \"ping\"\nfrom = \"server\"\nto = \"sta2\"\ninterval = \"10 ms\"\n";
        let (file, keeper) = captured(&station, &flows, seed);
        compare(&file, &keeper);
        let shown = &keeper.0.borrow().air;
        prop_assert!(shown.len() > 10);
        for s in shown {
            let rate = PhyRate::of_code(s.view.rate).unwrap();
            let band = stillair_model::wifi::phy::Band::Ghz5;
            prop_assert_eq!(ppdu_duration(rate, s.view.bytes, band), s.view.tried.airtime);
        }
    }
}

#[test]
fn frame_retransmitted_after_a_lost_block_ack_is_unchanged() {
    let station = "rate = \"ht20-mcs7-lgi\", ack_error_rate = 0.5";
    let (file, keeper) = captured(station, &udp("server", "sta1", 5_000, 700, 0), 1);
    assert!(compare(&file, &keeper) > 100);
    let [air, ..] = read(&file);
    // Sequence numbers do not wrap in this run, so each identifies a packet.
    let mut bodies = std::collections::BTreeMap::new();
    for f in air.iter().filter(|f| f.frame[0] == 0x88) {
        let body = &f.frame[34..f.frame.len() - 4];
        assert_eq!(*bodies.entry(u16_at(f.frame, 22)).or_insert(body), body);
    }
    assert!(bodies.len() > 500 && bodies.len() < 4000, "{}", bodies.len());
}

#[test]
fn a_host_sees_packets_before_they_are_split_and_all_segments_in_them() {
    let loss = "qdisc = { kind = \"netem\", loss = 0.02 }";
    // The number of acknowledgements with several SACK blocks is random: 0 to 98 with seeds 1 to 8, here 98.
    let (file, keeper) = captured_with(loss, "rate = \"ht20-mcs15-sgi\"", &tcp("server", "sta1"), 5);
    compare(&file, &keeper);
    let kept = keeper.0.borrow();
    let data = |n: usize, dst: u32| {
        let all = kept.packets[n].iter().map(|(_, p)| p.get()).filter(move |p| p.dst.index() as u32 == dst);
        all.filter_map(|p| p.tcp.filter(|h| h.payload > 0).map(|&h| (p.seq, p.segs, h)))
    };
    let station = kept.packets[1][0].1.get().dst.index() as u32;
    let (sent, frames) = (data(1, station), data(0, station));
    let most = sent.clone().map(|(_, segs, _)| segs).max();
    assert!(most > Some(5), "{most:?}");
    assert!(frames.clone().all(|(.., h)| h.payload <= 1448));
    // The same segments, one by one on the wire.
    let split = |(seq, segs, h): (u32, u16, TcpHeader)| {
        let mss = u32::from(h.mss);
        let parts = 0..u32::from(segs);
        parts.map(move |n| (seq.wrapping_add(n * mss), (h.payload - n * mss).min(mss)))
    };
    let sent: Vec<_> = sent.flat_map(split).collect();
    let frames: Vec<_> = frames.map(|(seq, _, h)| (seq, h.payload)).collect();
    assert_eq!(frames, sent[..frames.len()]);
    assert!(frames.len() > 200 && frames.len() + 100 > sent.len());
    let sacked = kept.packets[1].iter().filter(|(_, p)| p.get().tcp.is_some_and(|h| h.sacks > 1)).count();
    assert!(sacked > 10, "{sacked} acknowledgements with several SACK blocks");
}
