//! Unmodified str0m over a link: WebRTC with its ICE, DTLS, RTP and send-side bandwidth estimation (GoogCC).
//! The server sends video at the estimated rate.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use stillair_adapter::{End, Row, download};
use str0m::bwe::{Bitrate, BweKind};
use str0m::format::Codec;
use str0m::media::{MediaKind, Pt};
use str0m::net::{Protocol, Receive};
use str0m::rtp::{RtpWrite, Ssrc};
use str0m::{Candidate, Event, Input, Output, Rtc};

/// Payload of a video packet.
const PAYLOAD: usize = 1_100;
/// Initial estimate in bit/s.
const FIRST: u64 = 1_000_000;

/// One end of a session.
pub struct Peer {
    base: Instant,
    rtc: Rtc,
    own: SocketAddr,
    other: SocketAddr,
    timeout: Duration,
    /// Set on the sender.
    video: Option<Video>,
    /// Video payload received.
    pub read: u64,
    /// The last estimate in bit/s.
    pub estimate: u64,
    /// Video packets reported lost by the peer.
    pub lost: u64,
    /// Time of the connection.
    pub connected: Option<Duration>,
}

struct Video {
    ssrc: Ssrc,
    pt: Pt,
    number: u64,
    next: Option<Duration>,
    most: u64,
}

impl Peer {
    fn new(rtc: Rtc, base: Instant, [own, other]: [SocketAddr; 2]) -> Self {
        Self {
            base,
            rtc,
            own,
            other,
            timeout: Duration::ZERO,
            video: None,
            read: 0,
            estimate: FIRST,
            lost: 0,
            connected: None,
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::RtpPacket(packet) => self.read += packet.payload.len() as u64,
            Event::EgressBitrateEstimate(BweKind::Twcc { estimate, .. }) => {
                self.estimate = estimate.as_u64();
            }
            Event::MediaEgressStats(stats) => {
                self.lost = stats.remote.map_or(self.lost, |remote| remote.packets_lost);
            }
            _ => {}
        }
    }
}

impl End for Peer {
    fn receive(&mut self, now: Duration, payload: &[u8], _: u8) {
        let Ok(packet) = Receive::new(Protocol::Udp, self.other, self.own, payload) else { return };
        self.rtc.handle_input(Input::Receive(self.base + now, packet)).expect("a packet of the other end");
    }

    fn work(&mut self, now: Duration) {
        if self.connected.is_none() && self.rtc.is_connected() {
            self.connected = Some(now);
        }
        let (Some(video), Some(_)) = (&mut self.video, self.connected) else { return };
        let due = *video.next.get_or_insert(now);
        if due > now {
            return;
        }
        let rate = self.estimate.min(video.most).max(100_000);
        video.next = Some(due + Duration::from_nanos(PAYLOAD as u64 * 8 * 1_000_000_000 / rate));
        let time = (now.as_micros() * 9 / 100) as u32;
        let packet = RtpWrite::new(video.pt, video.number.into(), time, self.base + now, vec![0; PAYLOAD]);
        video.number += 1;
        if let Some(stream) = self.rtc.direct_api().stream_tx(&video.ssrc) {
            stream.write_rtp(packet.nackable(true));
        }
    }

    fn transmit(&mut self, _: Duration, out: &mut Vec<u8>) -> Option<u8> {
        loop {
            match self.rtc.poll_output().expect("the session goes on") {
                Output::Transmit(transmit) => {
                    out.clear();
                    out.extend_from_slice(&transmit.contents);
                    return Some(0);
                }
                Output::Event(event) => self.event(event),
                Output::Timeout(at) => {
                    self.timeout = at.saturating_duration_since(self.base);
                    return None;
                }
            }
        }
    }

    fn timeout(&mut self) -> Option<Duration> {
        let video = self.video.as_ref().and_then(|video| video.next);
        Some(video.map_or(self.timeout, |next| next.min(self.timeout)))
    }

    fn on_timeout(&mut self, now: Duration) {
        self.rtc.handle_input(Input::Timeout(self.base + now)).expect("time");
    }
}

/// Creates a receiver, and a sender of video that requests `most` bit/s.
///
/// # Errors
/// The session cannot be set up.
pub fn pair(most: u64) -> Result<(Peer, Peer), Box<dyn Error>> {
    let base = Instant::now();
    let addresses: [SocketAddr; 2] = ["192.0.2.1:50000".parse()?, "192.0.2.2:50001".parse()?];
    let [a, b] = addresses;
    let receiver = Rtc::builder().set_rtp_mode(true).build(base);
    let sender = Rtc::builder()
        .set_rtp_mode(true)
        .set_stats_interval(Some(Duration::from_secs(1)))
        .enable_bwe(Some(Bitrate::bps(FIRST)))
        .build(base);
    let mut client = Peer::new(receiver, base, [a, b]);
    let mut server = Peer::new(sender, base, [b, a]);
    let hosts = [Candidate::host(a, "udp")?, Candidate::host(b, "udp")?];
    let fingerprints =
        [&mut client, &mut server].map(|p| p.rtc.direct_api().local_dtls_fingerprint().clone());
    let credentials = [&mut client, &mut server].map(|p| p.rtc.direct_api().local_ice_credentials());
    for (n, peer) in [&mut client, &mut server].into_iter().enumerate() {
        peer.rtc.add_local_candidate(hosts[n].clone());
        peer.rtc.add_remote_candidate(hosts[1 - n].clone());
        let mut direct = peer.rtc.direct_api();
        direct.set_remote_fingerprint(fingerprints[1 - n].clone());
        direct.set_remote_ice_credentials(credentials[1 - n].clone());
        direct.set_ice_controlling(n == 0);
        direct.start_dtls(n == 0)?;
    }
    let (mid, ssrc, repairs): (_, Ssrc, Ssrc) = ("vid".into(), 42.into(), 44.into());
    let mut direct = server.rtc.direct_api();
    direct.declare_media(mid, MediaKind::Video);
    direct.declare_stream_tx(ssrc, Some(repairs), mid, None);
    let mut direct = client.rtc.direct_api();
    direct.declare_media(mid, MediaKind::Video);
    direct.expect_stream_rx(ssrc, Some(repairs), mid, None);
    direct.enable_twcc_feedback();
    server.rtc.bwe().set_desired_bitrate(Bitrate::bps(most));
    let vp8 = server.rtc.codec_config().find(|p| p.spec().codec == Codec::Vp8).ok_or("no VP8")?;
    server.video = Some(Video { ssrc, pt: vp8.pt(), number: 1, next: None, most });
    Ok((client, server))
}

/// Runs ten seconds of video that requests `most` bit/s over a preset. Also returns the final estimate in
/// bit/s.
///
/// # Errors
/// The preset does not exist.
pub fn row(path: &str, most: u64, seed: u64) -> Result<(Row, u64), Box<dyn Error>> {
    let (mut client, mut server) = pair(most)?;
    let row =
        download(["str0m 0.24.1", "googcc", path], seed, (&mut client, &mut server), |client, server| {
            (client.read, server.lost)
        })?;
    Ok((row, server.estimate))
}
