//! Video calls.

use stillair_model::app::{KeyFrames, VideoParams};
use stillair_model::vocabulary::{Duration, Rate};
use stillair_scenario_derive::Section;

use super::super::super::contract::Form;
use super::super::super::error::Mistakes;
use super::super::super::units;
use super::super::domain::{Bytes, Int, quantity};
use super::super::{Assign as _, Key, Place};
use super::BothWays;

/// RTP's header takes 12 bytes of the largest payload of UDP.
const MOST_PAYLOAD: u32 = 1_460;

/// A frame of more packets is a slip in the unit.
const MOST_PACKETS: u32 = 10_000;

/// The picture of a video call, in one direction unless `both_ways`: frames at a steady interval over RTP, the packets of each back to back.
/// Its rate does not adapt. Packets that find the send buffer full are skipped.
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
    /// time from one key frame to the next, with `key_frame_ratio`
    #[key(or = "the first frame is as large as all others")]
    pub key_frames: Key<KeyFrameInterval>,
    /// how many times as large as the others a key frame is; all frames together keep the rate
    #[key(or = "required with `key_frames`, and only with it")]
    pub key_frame_ratio: Key<Int<1, 100>>,
}

/// The rate of an encoder.
pub struct EncoderRate;

/// Time from one key frame to the next.
pub struct KeyFrameInterval;

quantity! {
    EncoderRate: Rate = Form::RateFrom("10 kbit/s", "a frame has at least a byte"), "_bps", units::rate_text;
    KeyFrameInterval: Duration = Form::Times { least: "100 ms", most: Some("600 s"), why: "some frames lie between" },
        "_ns", units::duration_text;
}

impl Video {
    /// Returns the engine's parameters, if the rate is known. Mistakes are added to `faults`.
    pub(super) fn params(&self, flow: &Place, faults: &mut Mistakes) -> Option<VideoParams> {
        let mut params = Self::base();
        self.assign(&mut params);
        match (&self.key_frames, &self.key_frame_ratio) {
            (Key::Given(every, _), Key::Given(ratio, _)) => {
                let frames = every.nanos() * u64::from(params.fps) / 1_000_000_000;
                if frames < 2 {
                    faults.add(flow.found("key frames closer than two frames", "a longer time between them"));
                    return None;
                }
                params.keys = Some(KeyFrames { every: frames as u32, ratio_percent: ratio * 100 });
            }
            (Key::Absent, Key::Given(..)) | (Key::Given(..), Key::Absent) => {
                faults.add(flow.found("one of key_frames and key_frame_ratio", "both or neither"));
            }
            _ => {}
        }
        let (_, at) = self.rate.given()?;
        let [ordinary, key] = params.frames();
        if params.packets(ordinary.max(key)).0 > MOST_PACKETS {
            faults.add(at.wrong(format!("a rate whose frames have at most {MOST_PACKETS} packets")));
        }
        Some(params)
    }
}
