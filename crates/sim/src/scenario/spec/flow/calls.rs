//! Calls, and the video of calls.

use stillair_model::app::{KeyFrames, VOIP_INTERVAL, VideoParams};
use stillair_model::types::{Duration, Rate};
use stillair_scenario_derive::Section;

use super::super::super::FlowKind;
use super::super::super::description::ValueType;
use super::super::super::error::Diagnostics;
use super::super::super::units;
use super::super::Key;
use super::super::domain::{Bytes, Int, quantity};
use super::{BothWays, Context, Traffic};

/// Maximum UDP payload less the 12-byte RTP header.
const MOST_PAYLOAD: u32 = 1_460;

/// Maximum number of packets per frame; more suggests a wrong unit.
const MOST_PACKETS: u32 = 10_000;

/// The picture of a video call, in one direction unless `bidirectional`: frames at a steady interval over
/// RTP, the packets of each back to back. Its rate does not adapt. Packets that find the send buffer full are
/// skipped.
// spec: rfc8593 6 - a reference interval of 33 ms from frame to frame.
// webrtc: modules/rtp_rtcp/source/rtp_rtcp_config.h, media/engine (m120) - packets of at most 1200 bytes.
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Flow of kind video",
    kind = "video",
    common = super::Common,
    params = VideoParams,
    base = VideoParams { rate: Rate::from_mbps(1), fps: 30, payload: 1_200, keys: None }
)]
pub struct Video {
    /// Direction of the traffic.
    #[key(group)]
    pub direction: BothWays,
    /// mean rate of its encoder
    #[key(to = rate, need = "a rate such as \"2.5 Mbit/s\"")]
    pub rate: Key<EncoderRate>,
    /// frames per second
    #[key(to = fps)]
    pub fps: Key<Int<1, 240>>,
    /// most bytes of a frame in a packet; the packets of a frame are equally large
    #[key(to = payload)]
    pub payload: Key<Bytes<100, MOST_PAYLOAD>>,
    /// time from one key frame to the next, with `keyframe_size_ratio`
    #[key(or = "the first frame is as large as all others")]
    pub keyframe_interval: Key<KeyFrameInterval>,
    /// how many times as large as the others a key frame is; all frames together keep the rate
    #[key(or = "required with `keyframe_interval`, and only with it")]
    pub keyframe_size_ratio: Key<Int<1, 100>>,
}

/// A telephone call, in one direction unless `bidirectional`: G.711 over RTP, 172 bytes every 20 ms. Packets
/// that find the send buffer full are skipped.
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Flow of kind voip",
    kind = "voip",
    common = super::Common,
    params = (Duration,),
    base = (VOIP_INTERVAL,)
)]
pub struct Voip {
    /// Direction of the traffic.
    #[key(group)]
    pub direction: BothWays,
    /// time between packets, and the speech in each: 8 bytes a millisecond and 12 of header; 10 ms is the
    /// call of D-ITG, and so of Flent before 1.2
    #[key(to = 0)]
    pub interval: Key<Speech>,
}

quantity! {
    /// Interval between the packets of a call.
    Speech: Duration = ValueType::Times { least: "1 ms", most: Some("180 ms"), why: "what a packet can hold" },
        "_ns", units::duration_text;
    /// Bit rate of an encoder.
    EncoderRate: Rate = ValueType::RateFrom("10 kbit/s", "a frame has at least a byte"), "_bps", units::rate_text;
    /// Interval between key frames.
    KeyFrameInterval: Duration = ValueType::Times { least: "100 ms", most: Some("600 s"), why: "some frames lie between" },
        "_ns", units::duration_text;
}

impl Traffic for Voip {
    fn traffic(&self, _: &Context<'_>, _: &mut Diagnostics) -> Option<FlowKind> {
        Some(FlowKind::Voip { interval: self.applied().0 })
    }

    fn bidirectional(&self) -> bool {
        self.direction.bidirectional.or(false)
    }
}

impl Traffic for Video {
    fn traffic(&self, flow: &Context<'_>, faults: &mut Diagnostics) -> Option<FlowKind> {
        let mut params = self.applied();
        match (&self.keyframe_interval, &self.keyframe_size_ratio) {
            (Key::Given(every, _), Key::Given(ratio, _)) => {
                let frames = every.nanos() * u64::from(params.fps) / 1_000_000_000;
                if frames < 2 {
                    faults.add(
                        flow.at.found("key frames closer than two frames", "a longer time between them"),
                    );
                    return None;
                }
                params.keys = Some(KeyFrames { every: frames as u32, ratio_percent: ratio * 100 });
            }
            (Key::Absent, Key::Given(..)) | (Key::Given(..), Key::Absent) => {
                faults.add(
                    flow.at.found("one of keyframe_interval and keyframe_size_ratio", "both or neither"),
                );
            }
            _ => {}
        }
        let (_, at) = self.rate.given()?;
        let [ordinary, key] = params.frames();
        if params.packets(ordinary.max(key)).0 > MOST_PACKETS {
            faults.add(at.wrong(format!("a rate whose frames have at most {MOST_PACKETS} packets")));
        }
        Some(FlowKind::Video(params))
    }

    fn bidirectional(&self) -> bool {
        self.direction.bidirectional.or(false)
    }
}
