//! Memory (truesize) that a kernel accounts for TCP packets, as TCP small queues and socket buffers count it.

use stillair_model::types::{SHARED_INFO, SKB, buffer_truesize};

/// Default MTU in bytes, from the IP header on. The truesizes and the MSS of a profile assume this MTU,
/// whatever `mtu` a link or channel has.
pub const MTU: u16 = 1500;
/// Bytes of an IPv4 and a TCP header without options.
pub(super) const HEADERS: u16 = 40;
/// Bytes that a socket's buffer may be set to.
pub(in super::super) const MAX_BUFFER: u32 = 1 << 30;

/// Data of a full segment with time stamps, on Ethernet and Wi-Fi alike.
const SEGMENT: u32 = (MTU - HEADERS) as u32 - 12;

/// Memory layout of the packets that a kernel's sockets send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SocketMemory {
    /// Whether the first bytes of data fill up the header buffer, even with scatter-gather (before 4.9).
    // linux: net/ipv4/tcp.c select_size (4.4); commit 3613b3dbd1ad.
    // deviation: from 4.9 on none do - the first packet of an empty write queue still had some there for a
    // while.
    pub data_in_head: bool,
    /// Whether sockets send packets of several segments in page fragments on every device (since 4.17).
    // linux: net/ipv4/tcp.c tcp_init_sock, net/core/sock.c sk_setup_caps (4.17); commit 0a6b2a1dc2a2.
    pub gso_always: bool,
    /// Size of the kernel's small-head cache in bytes, shared information included; heads up to this size are
    /// counted with it (since 6.3). Zero if there is no such cache.
    // linux: net/core/skbuff.c SKB_SMALL_HEAD_SIZE, kmalloc_reserve (6.6); commit bf9f1baa279f - of 320 bytes
    // for headers.
    // deviation: acknowledgements, pings and other small packets weigh what they did before it.
    pub small_head: u32,
}

/// Head of a packet whose data fills it up.
const HEAD: u32 = 2_048;

impl SocketMemory {
    /// Truesize in bytes of a full segment in a linear buffer with room for `max_header` bytes of headers:
    /// 4,352 with 304 or 320.
    // linux: net/core/stream.c sk_stream_alloc_skb (4.4); net/core/skbuff.c skb_segment (6.1).
    pub const fn linear(max_header: u32) -> u32 {
        buffer_truesize(max_header + SEGMENT)
    }

    /// Truesize in bytes of a full segment in page fragments with room for `max_header` bytes of headers;
    /// measured: 2,728 (6.1, with 256).
    // linux: net/ipv4/tcp.c tcp_sendmsg (4.4) - before 4.9 the buffer has 2,048 bytes with the shared
    // information of 320; each byte in a page fragment counts as one.
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

    /// Minimum truesize in bytes of a packet with page fragments: 2,304 if data is stored in the head, else
    /// 0.
    // linux: net/ipv4/tcp.c select_size (4.4).
    pub const fn least(self) -> u32 {
        if self.data_in_head { SKB + HEAD } else { 0 }
    }
}
