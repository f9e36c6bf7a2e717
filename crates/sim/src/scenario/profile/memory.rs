//! What the packets of TCP weigh: the memory that a kernel takes for them, which small queues and buffers count.

use stillair_model::vocabulary::buffer_truesize;

/// MTU of every device.
pub(super) const MTU: u16 = 1500;
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
}

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
        const HEAD: u32 = 2_048;
        const SHARED_INFO: u32 = 320;
        if self.data_in_head {
            let data = HEAD - SHARED_INFO - max_header;
            buffer_truesize(HEAD - SHARED_INFO) + SEGMENT.saturating_sub(data)
        } else {
            buffer_truesize(max_header) + SEGMENT
        }
    }
}
