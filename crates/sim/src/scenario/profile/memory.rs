//! What the packets of TCP weigh: the memory that a kernel takes for them, which small queues and buffers count.

use stillair_model::vocabulary::{SHARED_INFO, SKB, buffer_truesize};

/// MTU of every device, in bytes of IP.
pub const MTU: u16 = 1500;
/// Bytes of an IPv4 and a TCP header without options.
pub(super) const HEADERS: u16 = 40;
/// Bytes that a socket's buffer may be set to.
pub(super) const MAX_BUFFER: u32 = 1 << 30;

/// Data of a full segment with time stamps, on Ethernet and Wi-Fi alike.
const SEGMENT: u32 = (MTU - HEADERS) as u32 - 12;

/// How a kernel lays out what its sockets send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SocketMemory {
    /// The first bytes of data fill up the buffer of the headers, with scatter-gather too (before 4.9).
    // linux: net/ipv4/tcp.c select_size (4.4); commit 3613b3dbd1ad.
    // deviation: from 4.9 on none do - the first packet of an empty write queue still had some there for a while.
    pub data_in_head: bool,
    /// Sockets make packets of several segments in page fragments on every device (since 4.17).
    // linux: net/ipv4/tcp.c tcp_init_sock, net/core/sock.c sk_setup_caps (4.17); commit 0a6b2a1dc2a2.
    pub gso_always: bool,
    /// Heads of so many bytes with the shared information come from a cache of their own, and weigh no more (since 6.3); 0 if
    /// there is none.
    // linux: net/core/skbuff.c SKB_SMALL_HEAD_SIZE, kmalloc_reserve (6.6); commit bf9f1baa279f - of 320 bytes for headers.
    // deviation: acknowledgements, pings and other small packets weigh what they did before it.
    pub small_head: u32,
}

/// Head of a packet whose data fills it up.
const HEAD: u32 = 2_048;

impl SocketMemory {
    /// Truesize of a full segment in a buffer of its own, below room for all headers: 4,352 bytes below 304 or 320.
    // linux: net/core/stream.c sk_stream_alloc_skb (4.4); net/core/skbuff.c skb_segment (6.1).
    pub const fn linear(max_header: u32) -> u32 {
        buffer_truesize(max_header + SEGMENT)
    }

    /// Truesize of a full segment in page fragments: measured are 2,728 bytes (6.1, below 256).
    // linux: net/ipv4/tcp.c tcp_sendmsg (4.4) - before 4.9 the buffer has 2,048 bytes with the shared information of 320; each
    // byte in a page fragment counts as one.
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

    /// Least truesize of a packet with page fragments, however few bytes it has: 2,304 bytes; 0 where it grows from the head on.
    // linux: net/ipv4/tcp.c select_size (4.4).
    pub const fn least(self) -> u32 {
        if self.data_in_head { SKB + HEAD } else { 0 }
    }
}
