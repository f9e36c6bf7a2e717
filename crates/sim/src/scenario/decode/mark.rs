//! Keys of every flow: its endpoints, its times, and the TOS byte of its packets (`mark`).

use stillair_model::vocabulary::Ip;

use super::super::contract::{Form, Key};
use super::super::document::Value;
use super::super::error::Fault;
use super::super::reader::Field;

/// One or several, by name or by pattern.
const ENDS: Form = Form::Either(&[Form::Name("ends"), Form::List(&Form::Name("ends"))]);

/// A version of IP.
pub(super) const IP: Form = Form::Numbers(&[4, 6]);

/// Keys of every flow.
pub(super) const COMMON: &[Key] = &[
    Key::open("name", Form::Text, "kind and number, such as `udp-0`", "its name in results"),
    Key::need(
        "from",
        ENDS,
        "the sender: a node or an interface. Each of several senders has its own flow, named FLOW-SENDER. A node sends from the address of \
         the interface that its route to the receiver leaves through; offloads, buffers and pacing are that interface's in any case",
    ),
    Key::need(
        "to",
        ENDS,
        "the receiver: a node or an interface. Each of several receivers has its own stream of packets. A node is reached at the interface \
         where the shortest route from the sender arrives, the first of several",
    ),
    Key::or(
        "mark",
        Form::Either(&[
            Form::Listed {
                title: "dscp",
                words: "a DSCP by name (`CS0` to `CS7`, `AF11` to `AF43`, `EF`)",
                names: marks,
            },
            Form::Integer(0, 63),
        ]),
        "CS0",
        "DSCP of its packets (in IPv6: in the traffic class)",
    ),
    Key::open(
        "ip",
        IP,
        "the scenario's `ip`: 4",
        "IP version of its packets and their answers. An IPv6 header has 40 bytes instead of 20. Its traffic class sets no kernel priority, \
         so `pfifo_fast` puts all of it into one band. Each interface also has an address in `fd00::/96`, with its IPv4 address in the last \
         32 bits",
    ),
    Key::or("start", Form::Time, "0 s", "when it starts; before the end of the run"),
    Key::open(
        "start_spread",
        Form::Time,
        "`0 s`; for several flows of a node with a `count` 100 ms per flow, at most half the time from `start` to the end of `warm_up`, or \
         if `start` is later, a tenth of the time to `stop`",
        "the start is delayed by up to this much, drawn uniformly for each receiver and run, so that runs differ",
    ),
    Key::open("stop", Form::Time, "the end of the run", "when it stops; after `start`"),
];

/// Key of flows that may go both ways.
pub(super) const BOTH_WAYS: Key = Key::or(
    "both_ways",
    Form::Boolean,
    "false",
    "each receiver sends the same traffic back, as a flow named FLOW-back-RECEIVER",
);

/// A version of IP by its number.
pub(super) fn ip(field: &Field<'_>) -> Result<Ip, Fault> {
    Ok(if field.value::<u32>()? == 6 { Ip::V6 } else { Ip::V4 })
}

/// The type-of-service byte of a mark: the name of a DSCP or its number.
pub(super) fn tos(field: &Field<'_>) -> Result<u8, Fault> {
    let expected = "a mark: \"CS0\" to \"CS7\", \"AF11\" to \"AF43\", \"EF\" or a DSCP from 0 to 63";
    let dscp = match &field.item.value {
        Value::Integer(n @ 0..=63) => Some(*n as u8),
        Value::String(name) => dscp(name),
        _ => None,
    };
    dscp.map(|d| d << 2).ok_or_else(|| field.wrong(expected))
}

/// The names of all code points that have one.
fn marks() -> Vec<String> {
    let classes = (0..8).map(|class| format!("CS{class}"));
    let assured = (1..=4).flat_map(|class| (1..=3).map(move |drop| format!("AF{class}{drop}")));
    classes.chain(assured).chain(["EF".to_owned()]).collect()
}

// spec: rfc2474 4.2.2.1 - class selectors are the former precedence; rfc2597 6 - assured forwarding; rfc3246
// 2.7 - expedited forwarding.
fn dscp(name: &str) -> Option<u8> {
    match name.as_bytes() {
        b"EF" => Some(46),
        [b'C', b'S', class @ b'0'..=b'7'] => Some((class - b'0') << 3),
        [b'A', b'F', class @ b'1'..=b'4', drop @ b'1'..=b'3'] => {
            Some(((class - b'0') << 3) | ((drop - b'0') << 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: rfc4594 figure 3 - the code points of the service classes.
    #[test]
    fn code_points() {
        for (name, point) in [
            ("CS0", Some(0)),
            ("CS1", Some(8)),
            ("CS5", Some(40)),
            ("CS7", Some(56)),
            ("AF11", Some(0b001_010)),
            ("AF23", Some(0b010_110)),
            ("AF41", Some(0b100_010)),
            ("EF", Some(0b101_110)),
            ("AF44", None),
            ("CS8", None),
            ("ef", None),
        ] {
            assert_eq!(dscp(name), point, "{name}");
        }
    }
}
