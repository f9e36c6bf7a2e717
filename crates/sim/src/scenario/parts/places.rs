//! Keys that all parts of a family have beside their own, by the place where they are used.

use super::super::contract::{Form, Key};

const PER_CATEGORY: Key = Key::or(
    "mq",
    Form::Boolean,
    "true",
    "one instance for each access category instead of one for the device",
);

const PACKETS: Key = Key::or("limit", Form::Integer(1, 1_000_000), "1000", "most packets");

/// Of a discipline of a Wi-Fi interface.
pub(super) const MQ: &[Key] = &[PER_CATEGORY];

/// Of a law on one queue.
pub(super) const LIMIT: &[Key] = &[PACKETS];

/// The same of a Wi-Fi interface.
pub(super) const LIMIT_MQ: &[Key] = &[PACKETS, PER_CATEGORY];

/// Keys of flow queues, under fq_codel's names and with its bounds.
const QUEUES: [Key; 5] = [
    Key::or("limit", Form::Integer(1, 1_000_000), "10240", "most packets"),
    Key::or("flows", Form::Integer(1, 65_536), "1024", "flow queues"),
    Key::or("quantum", Form::Bytes(256, 1 << 20), "1514 B", "bytes that a flow may send in a round"),
    Key::open("memory_limit", Form::Bytes(4096, 1 << 30), "the kernel's", "most bytes of truesize"),
    Key::open(
        "drop_batch",
        Form::Integer(1, 1_000_000),
        "the kernel's",
        "packets dropped at once when over a limit",
    ),
];

/// Of a law on each of the queues of flows.
pub(super) const FLOWS: &[Key] = &QUEUES;

/// The same of a Wi-Fi interface.
pub(super) const FLOWS_MQ: &[Key] = &[QUEUES[0], QUEUES[1], QUEUES[2], QUEUES[3], QUEUES[4], PER_CATEGORY];
