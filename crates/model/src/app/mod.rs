//! Applications: sources of datagrams, pings, bulk transfers, calls, video, web pages.

mod bulk;
mod gate;
mod ping;
mod udp;
mod video;
mod voip;
mod web;

pub use bulk::{Bulk, BulkAction, BulkParams};
pub use gate::GateParams;
pub use ping::Ping;
pub use udp::{Gap, UdpSource, UdpSourceParams};
pub use video::{KeyFrames, Video, VideoParams};
pub use voip::{VOIP_INTERVAL, Voip, voip_payload};
pub use web::{Page, QUERY_PAYLOAD, WORKERS, Web, WebAction, WebParams};
