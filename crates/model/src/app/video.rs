//! The video stream of a call, in one direction: RTP frames, each a burst of packets.

use core::ops::Range;

use super::due::Due;
use super::udp::{Gap, UdpSource, UdpSourceParams, WhenFull};
use crate::types::{Duration, Endpoint, Instant, NewPacket, RandomStream, Rate, SockId, linear_truesize};

/// RTP header in bytes.
// spec: rfc3550 5.1.
const RTP_HEADER: u32 = 12;

/// Key frames: frames that can be decoded without other frames.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KeyFrames {
    /// Distance between key frames, in frames.
    pub every: u32,
    /// Size of a key frame in percent of an ordinary frame.
    pub ratio_percent: u32,
}

/// Parameters of a video stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VideoParams {
    /// Bit rate of the encoder's output.
    pub rate: Rate,
    /// Frames per second.
    pub fps: u32,
    /// Maximum number of frame bytes per packet.
    pub payload: u32,
    /// Key frames; `None`: all frames have the same size.
    pub keys: Option<KeyFrames>,
}

impl VideoParams {
    /// Bytes of an ordinary frame and of a key frame. Their weighted mean matches the rate.
    pub fn frames(&self) -> [u32; 2] {
        let mean = self.rate.bps() / 8 / u64::from(self.fps);
        let Some(KeyFrames { every, ratio_percent }) = self.keys else { return [mean.max(1) as u32; 2] };
        let (every, ratio) = (u64::from(every), u64::from(ratio_percent));
        let ordinary = mean * every * 100 / ((every - 1) * 100 + ratio);
        [ordinary.max(1) as u32, (ordinary * ratio / 100).max(1) as u32]
    }

    /// Number of packets of a frame, and bytes per packet from the RTP header on.
    // webrtc: modules/rtp_rtcp/source/rtp_format.cc RtpPacketizer::SplitAboutEqually (m120) - splits a frame
    // into packets of about equal size.
    // deviation: exactly equal, rounded up.
    pub fn packets(&self, frame: u32) -> (u32, u32) {
        let packets = frame.div_ceil(self.payload);
        (packets, frame.div_ceil(packets) + RTP_HEADER)
    }
}

/// A source of frames. The packets of a frame leave back to back; if the send buffer is full, the rest of the
/// frame is skipped.
#[derive(Debug)]
pub struct Video {
    source: UdpSource,
    params: VideoParams,
    /// Packets and payload of an ordinary frame and of a key frame.
    frames: [(u32, u32); 2],
    sent: u32,
}

impl Video {
    /// Creates a source; its first frame is a key frame, sent at `start`.
    pub fn new(
        params: VideoParams,
        endpoint: Endpoint,
        (start, stop): (Instant, Instant),
        measured: Range<Instant>,
        sndbuf: u32,
        sock: SockId,
        stream: RandomStream,
    ) -> Self {
        let frames = params.frames().map(|frame| params.packets(frame));
        let interval = Duration::from_nanos(1_000_000_000 / u64::from(params.fps));
        let udp = UdpSourceParams {
            endpoint,
            rate: params.rate,
            payload: params.payload,
            burst: 1,
            gap: Gap::Periodic,
            start,
            stop,
            truesize: linear_truesize(endpoint.datagram(frames[1].1.max(frames[0].1))),
            sndbuf,
            // webrtc: rtc_base/async_udp_socket.cc AsyncUDPSocket::SendTo (m120) - uses non-blocking sockets,
            // and does not resend a packet refused with EWOULDBLOCK.
            when_full: WhenFull::Drop,
            measured,
        };
        let source = UdpSource::new(udp, sock, stream).every(interval, start);
        Self { source, params, frames, sent: 0 }
    }

    /// When to call [`Video::on_timer`].
    pub fn next_timer(&self) -> Option<Instant> {
        self.source.next_timer()
    }

    /// Starts a frame that is due.
    pub fn on_timer(&mut self, now: Instant) {
        let is_key = self.params.keys.is_some_and(|keys| self.sent.is_multiple_of(keys.every));
        self.sent = self.sent.wrapping_add(1);
        self.source.on_burst(now, self.frames[usize::from(is_key)]);
    }

    /// Returns the next packet of the frame if the send buffer has room.
    pub fn emit(&mut self, now: Instant) -> Option<NewPacket> {
        self.source.emit(now)
    }

    /// Packets skipped since the last call.
    pub fn take_skipped(&mut self) -> u32 {
        self.source.take_skipped()
    }

    /// Packets due within the measured time, for a run that ends at `end`.
    pub fn due(&self, end: Instant) -> Due {
        self.source.due(end)
    }

    /// Ends a charge of the socket. Returns true if this wakes the source.
    pub fn uncharge(&mut self, truesize: u32) -> bool {
        self.source.uncharge(truesize)
    }

    /// Truesize currently charged to the socket, in bytes.
    pub fn charged(&self) -> u64 {
        self.source.charged()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Addr, FlowId, Seed};
    use alloc::vec::Vec;

    const PARAMS: VideoParams =
        VideoParams { rate: Rate::from_bps(2_400_000), fps: 30, payload: 1_200, keys: None };

    /// Time in ms, and RTP packet sizes, of the first frames.
    fn sent(params: VideoParams, frames: usize) -> Vec<(u64, Vec<u32>)> {
        let endpoint = Endpoint { flow: FlowId(0), flow_hash: 1, src: Addr(0), dst: Addr(1), tos: 0 };
        let times = (Instant::ZERO, Instant::NEVER);
        let stream = Seed { seed: 1, run: 0 }.stream("video");
        let mut video =
            Video::new(params, endpoint, times, Instant::ZERO..Instant::NEVER, 1 << 20, SockId(0), stream);
        let frame = |_| {
            let now = video.next_timer().expect("it goes on");
            video.on_timer(now);
            let packets = core::iter::from_fn(|| video.emit(now));
            let sizes: Vec<u32> = packets.map(|p| p.len - 28).collect();
            for _ in &sizes {
                video.uncharge(linear_truesize(1));
            }
            (now.nanos() / 1_000_000, sizes)
        };
        (0..frames).map(frame).collect()
    }

    #[test]
    fn a_frame_is_a_burst_of_equal_packets() {
        // 2.4 Mbit/s are 10,000 bytes per frame: 9 packets of 1,112 bytes plus the RTP header.
        let nine = alloc::vec![1_112 + 12; 9];
        assert_eq!(sent(PARAMS, 3), [(0, nine.clone()), (33, nine.clone()), (66, nine)]);
    }

    #[test]
    fn key_frames_are_larger_and_the_rate_is_kept() {
        let keys = Some(KeyFrames { every: 60, ratio_percent: 500 });
        let params = VideoParams { keys, ..PARAMS };
        // 60 frames are 600,000 bytes: 59 of 9,375 and one of 46,875.
        assert_eq!(params.frames(), [9_375, 46_875]);
        let counts: Vec<usize> = sent(params, 61).iter().map(|(_, sizes)| sizes.len()).collect();
        assert_eq!((counts[0], counts[1], counts[59], counts[60]), (40, 8, 8, 40));
    }
}
