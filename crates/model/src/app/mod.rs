//! Applications: sources of datagrams, pings, bulk transfers, calls, web pages.

mod bulk;
mod ping;
mod udp;
mod voip;
mod web;

pub use bulk::{Bulk, BulkAction, BulkParams};
pub use ping::Ping;
pub use udp::{Gap, UdpSource, UdpSourceParams};
pub use voip::{VOIP_INTERVAL, Voip, voip_payload};
pub use web::{Page, QUERY_PAYLOAD, WORKERS, Web, WebAction, WebParams};
