//! Video calls.

use stillair_model::app::{KeyFrames, VideoParams};
use stillair_model::vocabulary::Duration;

use super::super::contract::{Form, Key, Shape};
use super::super::error::Fault;
use super::super::reader::Section;
use super::mark::{self, BOTH_WAYS};

/// RTP's header takes 12 bytes of the largest payload of UDP.
const MOST_PAYLOAD: u32 = 1_460;

/// A frame of more packets is a slip in the unit.
const MOST_PACKETS: u32 = 10_000;

pub(super) static SHAPE: Shape = Shape {
    title: "Flow of kind video",
    about: "The picture of a video call, in one direction unless `both_ways`: frames at a steady interval over RTP, the packets of each back to \
            back. Its rate does not adapt. Packets that find the send buffer full are skipped.",
    groups: &[
        &[Key::tag("kind", "video")],
        mark::COMMON,
        &[
            BOTH_WAYS,
            Key::need(
                "rate",
                Form::RateFrom("10 kbit/s", "a frame has at least a byte"),
                "mean rate of its encoder",
            ),
            Key::or("fps", Form::Integer(1, 240), "30", "frames per second"),
            Key::or(
                "payload",
                Form::Bytes(100, MOST_PAYLOAD),
                "1200 B",
                "most bytes of a frame in a packet; the packets of a frame are equally large",
            ),
            Key::open(
                "key_frames",
                Form::Times { least: "100 ms", most: Some("600 s"), why: "some frames lie between" },
                "the first frame is as large as all others",
                "time from one key frame to the next, with `key_frame_ratio`",
            ),
            Key::open(
                "key_frame_ratio",
                Form::Integer(1, 100),
                "required with `key_frames`, and only with it",
                "how many times as large as the others a key frame is; all frames together keep the rate",
            ),
        ],
    ],
};

/// Reads what only a video has.
// spec: rfc8593 6 - a reference interval of 33 ms from frame to frame.
// webrtc: modules/rtp_rtcp/source/rtp_rtcp_config.h, media/engine (m120) - packets of at most 1200 bytes.
pub(super) fn read(section: &mut Section<'_>) -> Result<VideoParams, Fault> {
    let field = section.need("rate", "a rate such as \"2.5 Mbit/s\"")?;
    let rate = field.value()?;
    let fps: u32 = section.or("fps", 30)?;
    let payload = section.or("payload", 1_200)?;
    let every: Option<Duration> = section.find("key_frames")?;
    let ratio: Option<u32> = section.find("key_frame_ratio")?;
    let keys = match (every, ratio) {
        (Some(every), Some(ratio)) => {
            let frames = every.nanos() * u64::from(fps) / 1_000_000_000;
            if frames < 2 {
                return Err(section.wrong("key frames closer than two frames", "a longer time between them"));
            }
            Some(KeyFrames { every: frames as u32, ratio_percent: ratio * 100 })
        }
        (None, None) => None,
        _ => return Err(section.wrong("one of key_frames and key_frame_ratio", "both or neither")),
    };
    let params = VideoParams { rate, fps, payload, keys };
    let [ordinary, key] = params.frames();
    if params.packets(ordinary.max(key)).0 > MOST_PACKETS {
        return Err(field.wrong(format!("a rate whose frames have at most {MOST_PACKETS} packets")));
    }
    Ok(params)
}
