//! Applications: UDP sources, pings, bulk transfers, calls, video, web pages, responsiveness tests.

mod bulk;
mod due;
mod gate;
mod ping;
mod responsiveness;
mod udp;
mod video;
mod voip;
mod web;

pub use bulk::{Bulk, BulkAction, BulkParams};
pub use due::Due;
pub use gate::GateParams;
pub use ping::Ping;
pub use responsiveness::{
    Confidence, Load, Responsiveness, ResponsivenessAction, ResponsivenessOutcome, ResponsivenessParams,
};
pub use udp::{Gap, UdpSource, UdpSourceParams, WhenFull};
pub use video::{KeyFrames, Video, VideoParams};
pub use voip::{VOIP_INTERVAL, Voip, VoipParams, voip_payload};
pub use web::{Page, QUERY_PAYLOAD, WORKERS, Web, WebAction, WebParams};
