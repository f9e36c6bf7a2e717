//! Basic types shared by all modules: time, units, ids, random streams, packets, access categories, trace.

mod addr;
mod bytes;
mod endpoint;
mod factory;
mod fate;
mod fifo;
mod frames;
mod ids;
mod kind;
mod list;
mod packet;
mod probe;
mod qos;
mod quic;
mod rng;
mod steps;
mod tcp;
mod time;
mod trace;
mod units;

pub use addr::{Addr, Ip};
pub use bytes::{BytesId, LONGEST_PACKET, write_back};
pub use endpoint::{Endpoint, UDP_HEADER};
pub use factory::PartFactory;
pub use fate::{Fate, PacketAccount, Reason};
pub use fifo::Fifo;
pub use frames::{
    AckView, ContentView, FrameView, Headers, KeptHeaders, MpduView, PowerView, PpduKind, PpduTry, PpduView,
    RateCode, RtsCtsView, TimView, WirePacket,
};
pub use ids::{ChannelId, DevId, FlowId, IfId, NodeId, PeerId, PlaceId, RadioId, SockId, WireId};
pub use kind::PacketKind;
pub use list::{ETHERNET_HEADER, PktList, skb_len};
pub use packet::{NewPacket, Packet, Packets, Pkt, SHARED_INFO, SKB, TTL, buffer_truesize, linear_truesize};
pub use probe::Probe;
pub use qos::Ac;
pub use quic::{AckFrame, Datagram, LongPacket, LongPackets, PacketType, QuicFrame, QuicPacket};
pub use rng::{RandomStream, Seed};
pub use steps::{ChannelUse, SocketWait, Step, TidWait, TryStep, WireTimes};
pub use tcp::{MAX_SACK_BLOCKS, SynOptions, TcpFlags, TcpHeader};
pub use time::{Duration, Instant};
pub use trace::{Ctx, NoSink, QuicTrace, Sink, Tee, TraceEvent};
pub use units::{Bytes, Rate};
