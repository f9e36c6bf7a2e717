//! The forms that a `[[flow]]` table may have.

use super::super::super::contract::{Form, Key, Shape};
use super::super::super::profile;
use super::super::{mark, page, quic, responsiveness, video};

/// The largest UDP or ICMP payload of a 1500-byte packet.
const MAX_PAYLOAD: u32 = 1472;

/// Bytes that iperf writes at once.
// iperf 3: src/iperf.h DEFAULT_TCP_BLKSIZE - 128 KiB unless told otherwise.
pub(super) const IPERF_WRITE: u32 = 128 << 10;

/// Payload of ping and fping.
pub(in super::super) const PING_PAYLOAD: u32 = 56;

/// Payload of irtt as Flent calls it, which asks for no length, so that a packet is irtt's own header: identification 4,
/// token 8, number 4, count and window of what was received 12, four time stamps of 8 (recalled).
// deviation: netperf's UDP_RR, which Flent takes where irtt is missing, sends 1 byte and not at a steady interval; a
// payload of 1 byte is that size.
pub(in super::super) const UDP_PING_PAYLOAD: u32 = 60;

static UDP: Shape = Shape {
    title: "Flow of kind udp",
    about: "Datagrams at a given mean rate, in one direction.",
    groups: &[
        &[Key::tag("kind", "udp")],
        mark::COMMON,
        &[
            Key::need(
                "rate",
                Form::Either(&[Form::Rate, Form::List(&Form::Rate)]),
                "payload bits per second to each receiver; a list has one for each, in their order",
            ),
            Key::open(
                "payload",
                Form::Bytes(1, MAX_PAYLOAD),
                "1470 B, over IPv6 1450 B",
                "payload of a datagram",
            ),
            Key::or("burst", Form::Integer(1, 10_000), "1", "datagrams sent back to back"),
            Key::or(
                "gap",
                Form::Written {
                    words: "`exponential`, `periodic`, or evenly around the mean such as `uniform 0.5..1.5`",
                    pattern: r"^(exponential|periodic|uniform \s*[0-9]+(\.[0-9]+)?\s*\.\.\s*[0-9]+(\.[0-9]+)?\s*)$",
                    examples: &["exponential", "periodic", "uniform 0.5..1.5"],
                },
                "exponential",
                "how times between bursts lie around the mean that rate, payload and burst give",
            ),
            Key::or(
                "when_full",
                Form::Choice(&["block", "drop"]),
                "block",
                "when the send buffer of the socket is full: `block` waits for room and then catches up, like iperf; `drop` skips the rest of \
                 the burst, as a non-blocking socket does. Delays count from the time at which a datagram was due",
            ),
            Key::or(
                "multicast",
                Form::Boolean,
                "false",
                "the receivers, all of them stations of one access point, are a group: each datagram is sent to all of them at once, at a basic \
                 rate and without an acknowledgement, and waits for a DTIM while any station sleeps",
            ),
        ],
    ],
};

/// Requests are for measuring, not for load.
// linux: iputils ping.c option -i (20221126) - kept as a whole number of milliseconds (recalled).
// deviation: zero, which there means as soon as a reply has come, is no interval; and a server of irtt refuses less than
// 10 ms unless told otherwise.
const INTERVAL: Form = Form::Times { least: "1 ms", most: None, why: "what ping can tell apart" };

static PING: Shape = Shape {
    title: "Flow of kind ping",
    about: "ICMP echo, answered by the receiver.",
    groups: &[
        &[Key::tag("kind", "ping")],
        mark::COMMON,
        &[
            Key::or("interval", INTERVAL, "200 ms", "time between requests"),
            Key::or("payload", Form::Bytes(0, MAX_PAYLOAD), "56 B", "payload of a request"),
        ],
    ],
};

static UDP_PING: Shape = Shape {
    title: "Flow of kind udp_ping",
    about: "UDP packets at a steady interval, answered by the receiver under their own mark (irtt).",
    groups: &[
        &[Key::tag("kind", "udp_ping")],
        mark::COMMON,
        &[
            Key::or("interval", INTERVAL, "200 ms", "time between packets"),
            Key::or("payload", Form::Bytes(0, MAX_PAYLOAD), "60 B", "payload of a packet"),
        ],
    ],
};

static TCP: Shape = Shape {
    title: "Flow of kind tcp",
    about: "A TCP sender. Without `rate`, `on` and `off` it is greedy: it writes whenever its socket takes anything.",
    groups: &[
        &[Key::tag("kind", "tcp")],
        mark::COMMON,
        &[
            Key::open(
                "congestion_control",
                profile::CONTROL,
                "what the sender's `sysctl` says",
                "its congestion control (TCP_CONGESTION)",
            ),
            Key::open(
                "bytes",
                Form::Bytes(1, u32::MAX),
                "no limit",
                "bytes that it sends to each receiver before it closes",
            ),
            Key::or(
                "write_size",
                Form::Bytes(1, 1 << 30),
                "128 KiB",
                "bytes that its application writes at once",
            ),
            Key::open(
                "rate",
                Form::Rate,
                "as fast as the socket takes it",
                "mean rate at which its application writes, `write_size` at a time; what the socket does not take at once is made up for, as with \
                 `iperf3 -b`. With large writes it is a video of segments: 2.5 MB at 5 Mbit/s are one each 4 s",
            ),
            Key::open(
                "on",
                Form::Period,
                "always",
                "so long its application writes, from its start on; with `off`",
            ),
            Key::open(
                "off",
                Form::Period,
                "never",
                "so long its application is silent after that, before it writes again; with `on`",
            ),
        ],
    ],
};

static VOIP: Shape = Shape {
    title: "Flow of kind voip",
    about: "A telephone call, in one direction unless `both_ways`: G.711 over RTP, 172 bytes every 20 ms. Packets that find the send buffer full \
            are skipped.",
    groups: &[
        &[Key::tag("kind", "voip")],
        mark::COMMON,
        &[
            mark::BOTH_WAYS,
            Key::or(
                "interval",
                Form::Times { least: "1 ms", most: Some("180 ms"), why: "what a packet can hold" },
                "20 ms",
                "time between packets, and the speech in each: 8 bytes a millisecond and 12 of header; 10 ms is the call of D-ITG, and so of Flent \
             before 1.2",
            ),
        ],
    ],
};

static WEB: Shape = Shape {
    title: "Flow of kind web",
    about: "A browser at `from` that loads a page from `to` over and over: it looks the name up, fetches a list, then what \
            is in it over four connections.",
    groups: &[
        &[Key::tag("kind", "web")],
        mark::COMMON,
        &[
            Key::need("page", page::FORM, "the page"),
            Key::or(
                "interval",
                Form::Times { least: "1 ms", most: None, why: "each load has sockets of its own" },
                "200 ms",
                "least time from the beginning of a load to that of the next, which begins at once where one takes longer",
            ),
        ],
    ],
};

/// What `[[flow]]` may be.
pub(in super::super) const FORM: Form = Form::List(&Form::Kinds {
    shapes: &[&UDP, &PING, &UDP_PING, &TCP, &VOIP, &video::SHAPE, &WEB, &responsiveness::SHAPE, &quic::SHAPE],
    bare: false,
});
