//! Runs a test script against one socket; `tests/tcp/README.md` explains the steps.

use stillair_model::transport::cc::CaState;
use stillair_model::transport::seq::{after, before};
use stillair_model::transport::tcp::config::TcpConfig;
use stillair_model::transport::tcp::socket::Tcp;
use stillair_model::types::{Duration, Instant, SockId, SynOptions, TcpFlags, TcpHeader};

use crate::script::{self, Packet, Place, Step, What, When};
use crate::tcp_rig::{Sent, Wire, end_charges, socket};

/// Start of a script. Time zero is avoided because of its corner cases.
const START: Instant = Instant::from_nanos(1_000_000_000);
/// The peer's initial sequence number.
const PEER_ISS: u32 = 4_294_900_000;
/// Truesize of the peer's segments.
const TRUESIZE: u32 = 2304;

/// A socket, and the state of the script's peer.
struct Run {
    config: TcpConfig,
    cc: String,
    tcp: Option<Tcp>,
    wire: Wire,
    now: Instant,
    iss: u32,
    mss: u32,
    timestamps: bool,
    /// Next sequence number that the peer sends, and its last acknowledgement.
    peer_next: u32,
    peer_ack: u32,
    peer_window: u32,
    peer_echo: u32,
    /// Data received by the peer: start, end, timestamp.
    heard: Vec<(u32, u32, u32)>,
    hold: bool,
    greedy: bool,
    flood: bool,
}

impl Run {
    fn new() -> Self {
        Self {
            config: TcpConfig::default(),
            cc: "reno".into(),
            tcp: None,
            wire: Wire::default(),
            now: START,
            iss: 0,
            mss: 1448,
            timestamps: true,
            peer_next: PEER_ISS + 1,
            peer_ack: 0,
            peer_window: 10_000_000,
            peer_echo: 0,
            heard: Vec::new(),
            hold: false,
            greedy: true,
            flood: false,
        }
    }

    fn tcp(&mut self) -> Result<&mut Tcp, String> {
        self.tcp.as_mut().ok_or("no connection yet".into())
    }

    fn open(&mut self, listens: bool) {
        self.tcp = Some(socket(&self.config, &self.cc, listens));
    }

    /// Follows each event: charges end, and the application reads and writes.
    fn settle(&mut self) {
        let Some(tcp) = &mut self.tcp else { return };
        loop {
            let ended = end_charges(self.now, tcp, &mut self.wire, if self.hold { 0 } else { usize::MAX });
            if self.greedy {
                tcp.read(self.now, u64::MAX, &mut self.wire);
            }
            if self.flood && tcp.wants_data() {
                tcp.write(self.now, u64::MAX, &mut self.wire);
            }
            if ended == 0 {
                break;
            }
        }
        for sent in &self.wire.sent {
            let header = &sent.header;
            if header.flags.has(TcpFlags::SYN) {
                self.iss = sent.packet.seq;
                self.peer_echo = header.ts_val;
                self.peer_ack = self.iss;
            }
        }
    }

    /// Advances the time to `until`, or to the first packet sent.
    fn advance(&mut self, until: Instant) {
        while self.wire.sent.is_empty() {
            let Some(tcp) = &mut self.tcp else { break };
            match tcp.next_timer().filter(|&at| at <= until) {
                Some(at) => {
                    self.now = at.max(self.now);
                    tcp.on_timer(self.now, &mut self.wire);
                }
                None => break,
            }
            self.settle();
        }
        if self.wire.sent.is_empty() {
            self.now = self.now.max(until);
        }
    }

    fn unexpected(&self) -> Result<(), String> {
        match self.wire.sent.front() {
            None => Ok(()),
            Some(sent) => Err(format!("{}: sent without being expected: {}", self.clock(), self.show(sent))),
        }
    }

    fn clock(&self) -> String {
        format!("at {} us", (self.now - START).nanos() as f64 / 1e3)
    }

    fn at(&self, base: u32, place: Place) -> u32 {
        base.wrapping_add(1 + place.segments * self.mss + place.bytes)
    }

    fn place(&self, base: u32, seq: u32) -> String {
        let bytes = seq.wrapping_sub(base).wrapping_sub(1) as i32;
        let mss = self.mss as i32;
        match (bytes.div_euclid(mss), bytes.rem_euclid(mss)) {
            (segments, 0) => segments.to_string(),
            (segments, bytes) => format!("{segments}+{bytes}"),
        }
    }

    /// Describes a packet in the script's format.
    fn show(&self, sent: &Sent) -> String {
        let h = &sent.header;
        let mut text = if h.flags.has(TcpFlags::SYN) {
            format!(
                "{} mss {} scale {:?}",
                if h.flags.has(TcpFlags::ACK) { "synack" } else { "syn" },
                h.syn.mss,
                h.syn.window_scale
            )
        } else if h.payload > 0 {
            format!("data {} x{} bytes {}", self.place(self.iss, sent.packet.seq), sent.segs, h.payload)
        } else {
            format!("ack at {}", self.place(self.iss, sent.packet.seq))
        };
        text += &format!(" ack {} win {} {:?}", self.place(PEER_ISS, sent.ack), h.window, h.flags);
        for &(start, end) in h.sack_blocks() {
            text += &format!(" sack {}-{}", self.place(PEER_ISS, start), self.place(PEER_ISS, end));
        }
        text
    }

    /// Passes packets of the peer to the socket.
    fn hear(&mut self, p: &Packet) -> Result<(), String> {
        let (from, to) = match p.what {
            What::Data { from, to } => (from, to.unwrap_or(from.segments)),
            _ => (Place::default(), 0),
        };
        let mut first = from.segments;
        loop {
            self.hear_one(p, Place { segments: first, ..from })?;
            first += u32::from(p.segs);
            if first > to {
                return Ok(());
            }
        }
    }

    fn hear_one(&mut self, p: &Packet, from: Place) -> Result<(), String> {
        let mut header = TcpHeader::blank(SockId(0));
        header.flags = TcpFlags::ACK;
        let mut seq = self.peer_next;
        match p.what {
            What::Syn | What::SynAck => {
                seq = PEER_ISS;
                header.flags =
                    if p.what == What::Syn { TcpFlags::SYN } else { TcpFlags::SYN.with(TcpFlags::ACK) };
                self.timestamps = self.config.timestamps && !p.has("nots");
                let mss = p.mss.unwrap_or(1460);
                self.mss = u32::from(mss.min(self.config.advmss)) - if self.timestamps { 12 } else { 0 };
                header.syn = SynOptions {
                    mss,
                    window_scale: (!p.has("noscale")).then_some(p.scale.unwrap_or(7)),
                    sack: !p.has("nosack"),
                    timestamps: !p.has("nots"),
                };
                if p.has("ecn") {
                    let both = TcpFlags::ECE.with(TcpFlags::CWR);
                    header.flags = header.flags.with(if p.what == What::Syn { both } else { TcpFlags::ECE });
                }
            }
            What::Ack => {}
            What::Data { .. } => {
                seq = self.at(PEER_ISS, from);
                header.payload = p.bytes.unwrap_or(self.mss * u32::from(p.segs));
                header.mss = self.mss as u16;
            }
            What::Fin(place) => seq = self.at(PEER_ISS, place),
            What::Rst => header.flags = TcpFlags::RST,
            What::Probe => seq = seq.wrapping_sub(1),
        }
        for (mark, flag) in [("fin", TcpFlags::FIN), ("ece", TcpFlags::ECE), ("cwr", TcpFlags::CWR)] {
            if p.has(mark) {
                header.flags = header.flags.with(flag);
            }
        }
        if matches!(p.what, What::Fin(_)) {
            header.flags = header.flags.with(TcpFlags::FIN);
        }
        let end = seq.wrapping_add(header.payload + u32::from(header.flags.has(TcpFlags::FIN)));
        if !matches!(p.what, What::Syn | What::SynAck) && after(end, self.peer_next) {
            self.peer_next = end;
        }
        let ack = match (p.what, p.ack) {
            (What::Syn, _) => 0,
            (_, Some(place)) => self.at(self.iss, place),
            (What::SynAck, None) => self.iss.wrapping_add(1),
            (_, None) => self.peer_ack,
        };
        if p.what != What::Syn {
            self.echo(ack, p.ecr_first);
        }
        self.peer_window = p.window.unwrap_or(self.peer_window);
        header.window = self.peer_window;
        if self.timestamps {
            (header.ts_val, header.ts_ecr) = ((self.now.nanos() / 1_000_000) as u32, self.peer_echo);
        }
        for (slot, &(start, end)) in header.sack.iter_mut().zip(&p.sacks) {
            *slot = (self.at(self.iss, start), self.at(self.iss, end));
        }
        header.sacks = p.sacks.len() as u8;
        let tos = if p.has("ce") {
            3
        } else if p.has("ect") {
            2
        } else {
            0
        };
        let (now, truesize) = (self.now, TRUESIZE * u32::from(p.segs));
        let wire = &mut self.wire;
        let tcp = self.tcp.as_mut().ok_or("no connection yet")?;
        tcp.on_segment(now, seq, ack, p.segs, tos, truesize, &header, wire);
        self.settle();
        Ok(())
    }

    /// Selects the timestamp that the peer echoes with this acknowledgement: that of the packet that advanced
    /// it, at its last or first transmission.
    fn echo(&mut self, ack: u32, first: bool) {
        if !after(ack, self.peer_ack) {
            return;
        }
        let due = self.peer_ack;
        let mut with = self.heard.iter().filter(|h| !after(h.0, due) && after(h.1, due));
        let echo = if first { with.next() } else { with.next_back() };
        self.peer_echo = echo.map_or(self.peer_echo, |h| h.2);
        self.peer_ack = ack;
    }

    /// Checks the next packet of the socket.
    fn expect(&mut self, p: &Packet, when: Option<When>) -> Result<(), String> {
        let (from, to) = match p.what {
            What::Data { from, to } => (from, to.unwrap_or(from.segments)),
            _ => (Place::default(), 0),
        };
        let base = self.now;
        let mut segment = from.segments;
        loop {
            if let Some(w) = when {
                self.advance(base + w.latest);
            }
            let Some(sent) = self.wire.sent.pop_front() else {
                return Err(format!("{}: nothing was sent", self.clock()));
            };
            let early = when.is_some_and(|w| self.now < base + w.earliest);
            let wrong = self.compare(p, Place { segments: segment, ..from }, &sent);
            if early || wrong.is_some() {
                let why = wrong.unwrap_or("it is too early".into());
                return Err(format!("{}: {why}: {}", self.clock(), self.show(&sent)));
            }
            if sent.header.payload > 0 {
                let end = sent.packet.seq.wrapping_add(sent.header.payload);
                self.heard.push((sent.packet.seq, end, sent.header.ts_val));
            }
            segment += u32::from(p.segs);
            if segment > to {
                return Ok(());
            }
        }
    }

    fn compare(&self, p: &Packet, from: Place, sent: &Sent) -> Option<String> {
        let h = &sent.header;
        let has = |flag| h.flags.has(flag);
        let kind = match p.what {
            What::Syn => has(TcpFlags::SYN) && !has(TcpFlags::ACK),
            What::SynAck => has(TcpFlags::SYN) && has(TcpFlags::ACK),
            What::Ack => h.payload == 0 && !has(TcpFlags::SYN.with(TcpFlags::FIN)),
            What::Data { .. } => h.payload > 0 && sent.packet.seq == self.at(self.iss, from),
            What::Fin(place) => {
                h.payload == 0 && has(TcpFlags::FIN) && sent.packet.seq == self.at(self.iss, place)
            }
            What::Rst => has(TcpFlags::RST),
            What::Probe => h.payload == 0 && before(sent.packet.seq, self.peer_ack),
        };
        if !kind {
            return Some("it is another packet".into());
        }
        let options = match (self.timestamps, h.sacks) {
            (_, _) if has(TcpFlags::SYN) => sent.packet.len - 40,
            (stamps, 0) => 12 * u32::from(stamps),
            (stamps, n) => 12 * u32::from(stamps) + 4 + 8 * u32::from(n),
        };
        if sent.packet.len != u32::from(sent.segs) * (40 + options) + h.payload {
            return Some(format!("a length of {} bytes does not fit", sent.packet.len));
        }
        if let What::Data { .. } = p.what {
            let bytes = p.bytes.unwrap_or(self.mss * u32::from(p.segs));
            if (h.payload, sent.segs) != (bytes, p.segs) {
                return Some("it has another size".into());
            }
        }
        if p.ack.is_some_and(|place| sent.ack != self.at(PEER_ISS, place)) {
            return Some("it acknowledges something else".into());
        }
        let blocks: Vec<_> =
            p.sacks.iter().map(|b| (self.at(PEER_ISS, b.0), self.at(PEER_ISS, b.1))).collect();
        if h.sack_blocks() != blocks {
            return Some("it has other SACK blocks".into());
        }
        if p.window.is_some_and(|window| h.window != window) {
            return Some("it offers another window".into());
        }
        if p.mss.is_some_and(|mss| h.syn.mss != mss) || p.scale.is_some() && h.syn.window_scale != p.scale {
            return Some("it has other options".into());
        }
        if has(TcpFlags::SYN) {
            let ecn = has(TcpFlags::ECE);
            return (ecn != p.has("ecn")).then(|| "it differs in ECN".into());
        }
        let fin = p.has("fin") || matches!(p.what, What::Fin(_));
        let marks = [
            ("fin", fin, has(TcpFlags::FIN)),
            ("ece", p.has("ece"), has(TcpFlags::ECE)),
            ("cwr", p.has("cwr"), has(TcpFlags::CWR)),
            ("ect", p.has("ect"), sent.packet.tos & 3 == 2),
        ];
        let other = marks.iter().find(|m| m.1 != m.2);
        other.map(|m| format!("it differs in {}", m.0))
    }

    fn check(&mut self, key: &str, value: &str) -> Result<(), String> {
        let now = self.now;
        let tcp = self.tcp()?;
        let info = tcp.info(now);
        let state = match info.ca_state {
            CaState::Open => "open",
            CaState::Disorder => "disorder",
            CaState::Cwr => "cwr",
            CaState::Recovery => "recovery",
            CaState::Loss => "loss",
        };
        let found = match key {
            "state" => state.to_string(),
            "connection" => format!("{:?}", tcp.state()),
            "cwnd" => info.cwnd.to_string(),
            "ssthresh" => info.ssthresh.to_string(),
            "srtt" => info.rtt_us.to_string(),
            "rto" => info.rto_us.to_string(),
            "unacked" => info.unacked.to_string(),
            "sacked" => info.sacked.to_string(),
            "lost" => info.lost.to_string(),
            "retrans" => info.retrans_total.to_string(),
            "timeouts" => info.timeouts.to_string(),
            "probes" => info.tlp_probes.to_string(),
            "dsacks" => info.dsack_dups.to_string(),
            "backoff" => info.backoff.to_string(),
            "charged" => tcp.sender.charged().to_string(),
            "received" => info.bytes_received.to_string(),
            "readable" => tcp.readable().to_string(),
            "rcvbuf" => info.rcvbuf.to_string(),
            "pacing" => info.pacing_rate.to_string(),
            _ => return Err(format!("nothing is called {key:?}")),
        };
        if found == value { Ok(()) } else { Err(format!("{}: {key} is {found}", self.clock())) }
    }

    fn step(&mut self, when: Option<When>, step: &Step) -> Result<(), String> {
        if let Step::Out(packet) = step {
            return self.expect(packet, when);
        }
        self.unexpected()?;
        if let Some(w) = when {
            self.advance(self.now + w.latest);
            self.unexpected()?;
        }
        let now = self.now;
        match step {
            Step::Set(key, value) if key == "cc" => self.cc.clone_from(value),
            Step::Set(key, value) => return script::set(&mut self.config, key, value),
            Step::Connected(rtt, marks) => return self.connected(*rtt, marks),
            Step::Connect => {
                self.open(false);
                let wire = &mut self.wire;
                self.tcp.as_mut().ok_or("no socket")?.connect(now, wire);
            }
            Step::In(packet) => {
                if self.tcp.is_none() {
                    self.open(true);
                }
                return self.hear(packet);
            }
            Step::Out(_) | Step::Nothing => {}
            Step::Write(n, bytes) => {
                let n = n * if *bytes { 1 } else { u64::from(self.mss) };
                let wire = &mut self.wire;
                let taken = self.tcp.as_mut().ok_or("no socket")?.write(now, n, wire);
                if taken != n {
                    return Err(format!("{taken} of {n} bytes were taken"));
                }
            }
            Step::Flood => {
                self.flood = true;
                let wire = &mut self.wire;
                self.tcp.as_mut().ok_or("no socket")?.write(now, u64::MAX, wire);
            }
            Step::Read(n) => {
                let wire = &mut self.wire;
                self.tcp.as_mut().ok_or("no socket")?.read(now, n.unwrap_or(u64::MAX), wire);
            }
            Step::Sleep => self.greedy = false,
            Step::Close => {
                let wire = &mut self.wire;
                self.tcp.as_mut().ok_or("no socket")?.close(now, wire);
            }
            Step::Hold => self.hold = true,
            Step::Free(n) => {
                let ended = end_charges(now, self.tcp.as_mut().ok_or("no socket")?, &mut self.wire, *n);
                if ended != *n {
                    return Err(format!("{ended} charges ended"));
                }
            }
            Step::Refuse(n) => self.wire.refuse = *n,
            Step::Congest(n) => self.wire.congest = *n,
            Step::Check(pairs) => {
                for (key, value) in pairs {
                    self.check(key, value)?;
                }
            }
        }
        self.settle();
        Ok(())
    }

    /// Sets up the listening end after a handshake with this round-trip time.
    fn connected(&mut self, rtt: Duration, marks: &[String]) -> Result<(), String> {
        let lines = format!(
            "< syn {}\n> synack {}\n+{}ns < ack 0",
            marks.join(" "),
            if marks.iter().any(|m| m == "ecn") { "ecn" } else { "" },
            rtt.nanos()
        );
        for line in script::parse(&lines)? {
            self.step(line.when, &line.step)?;
        }
        Ok(())
    }
}

/// Runs a script. The error names the line.
pub fn run(text: &str) -> Result<(), String> {
    let mut run = Run::new();
    for line in script::parse(text)? {
        let step = run.step(line.when, &line.step);
        step.map_err(|e| format!("line {}: {}\n    {e}", line.number, line.text))?;
    }
    run.unexpected().map_err(|e| format!("at the end\n    {e}"))
}
