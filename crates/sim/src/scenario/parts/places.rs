//! Keys common to all parts of a family, by the place where the part is used.

use super::super::description::{Key, ValueType};

const PER_CATEGORY: Key = Key::or(
    "mq",
    ValueType::Boolean,
    "true",
    "one instance for each access category instead of one for the device",
);

const PACKETS: Key = Key::or("limit", ValueType::Integer(1, 1_000_000), "1000", "most packets");

/// Keys of a qdisc on a Wi-Fi interface.
pub(super) const MQ: &[Key] = &[PER_CATEGORY];

/// Keys of an AQM on a single queue.
pub(super) const LIMIT: &[Key] = &[PACKETS];

/// Keys of an AQM on a single queue of a Wi-Fi interface.
pub(super) const LIMIT_MQ: &[Key] = &[PACKETS, PER_CATEGORY];

/// Keys of flow queues, with fq_codel's names and bounds.
const QUEUES: [Key; 5] = [
    Key::or("limit", ValueType::Integer(1, 1_000_000), "10240", "most packets"),
    Key::or("flows", ValueType::Integer(1, 65_536), "1024", "flow queues"),
    Key::or("quantum", ValueType::Bytes(256, 1 << 20), "1514 B", "bytes that a flow may send in a round"),
    Key::open("memory_limit", ValueType::Bytes(4096, 1 << 30), "the kernel's", "most bytes of truesize"),
    Key::open(
        "drop_batch",
        ValueType::Integer(1, 1_000_000),
        "the kernel's",
        "packets dropped at once when over a limit",
    ),
];

/// Keys of an AQM on each flow queue.
pub(super) const FLOWS: &[Key] = &QUEUES;

/// Keys of an AQM on each flow queue of a Wi-Fi interface.
pub(super) const FLOWS_MQ: &[Key] = &[QUEUES[0], QUEUES[1], QUEUES[2], QUEUES[3], QUEUES[4], PER_CATEGORY];
