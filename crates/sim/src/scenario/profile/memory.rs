//! Truesize of TCP packets, as TCP small queues and socket buffers count it.

use stillair_model::types::{SHARED_INFO, SKB, buffer_truesize};

/// Default MTU in bytes, from the IP header on. The truesizes and the MSS of a profile assume this MTU,
/// regardless of the `mtu` of a link or channel.
pub const MTU: u16 = 1500;
/// Size in bytes of an IPv4 and a TCP header without options.
pub(super) const HEADERS: u16 = 40;
/// Maximum size in bytes of a socket buffer.
pub(in super::super) const MAX_BUFFER: u32 = 1 << 30;

/// Payload in bytes of a full segment with timestamps, on Ethernet and Wi-Fi.
const SEGMENT: u32 = (MTU - HEADERS) as u32 - 12;

/// Memory layout of the packets that a kernel's sockets send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SocketMemory {
    /// True if payload first fills the header buffer, even with scatter-gather (before 4.9).
    // linux: net/ipv4/tcp.c select_size (4.4); commit 3613b3dbd1ad.
    // deviation: none from 4.9 on - in Linux the first packet of an empty write queue still had some for a
    // while.
    pub data_in_head: bool,
    /// True if sockets send multi-segment packets in page fragments on every device (since 4.17).
    // linux: net/ipv4/tcp.c tcp_init_sock, net/core/sock.c sk_setup_caps (4.17); commit 0a6b2a1dc2a2.
    pub gso_always: bool,
    /// Size of the kernel's small-head cache in bytes, shared info included; heads up to this size are
    /// charged this size (since 6.3). Zero without such a cache.
    // linux: net/core/skbuff.c SKB_SMALL_HEAD_SIZE, kmalloc_reserve (6.6); commit bf9f1baa279f - 320 bytes
    // for headers.
    // deviation: the truesize of ACKs, pings and other small packets is that without the cache.
    pub small_head: u32,
}

/// Size of a header buffer filled with payload.
const HEAD: u32 = 2_048;

impl SocketMemory {
    /// Returns the truesize in bytes of a full segment in a linear buffer with `max_header` bytes of
    /// headroom: 4,352 with 304 or 320.
    // linux: net/core/stream.c sk_stream_alloc_skb (4.4); net/core/skbuff.c skb_segment (6.1).
    pub const fn linear(max_header: u32) -> u32 {
        buffer_truesize(max_header + SEGMENT)
    }

    /// Returns the truesize in bytes of a full segment in page fragments with `max_header` bytes of headroom.
    /// Measured: 2,728 (6.1, with 256).
    // linux: net/ipv4/tcp.c tcp_sendmsg (4.4) - before 4.9 the buffer has 2,048 bytes plus 320 of shared
    // info. Each byte in a page fragment counts as one.
    pub const fn paged(self, max_header: u32) -> u32 {
        if self.data_in_head {
            let data = HEAD - SHARED_INFO - max_header;
            buffer_truesize(HEAD - SHARED_INFO) + SEGMENT.saturating_sub(data)
        } else if max_header + SHARED_INFO <= self.small_head {
            SKB + self.small_head + SEGMENT
        } else {
            buffer_truesize(max_header) + SEGMENT
        }
    }

    /// Returns the minimum truesize in bytes of a packet with page fragments: 2,304 if payload is stored in
    /// the head, 0 if not.
    // linux: net/ipv4/tcp.c select_size (4.4).
    pub const fn least(self) -> u32 {
        if self.data_in_head { SKB + HEAD } else { 0 }
    }
}
