//! Properties of all packets, and of bytes that are not packets.

mod common;

use std::collections::BTreeMap;

use common::{check, random};
use proptest::prelude::*;
use stillair_ip::parse;

/// Groups packets by flow, in order. The flow hash covers only addresses and ports of whole packets.
fn by_flow(packets: &[Vec<u8>]) -> BTreeMap<u32, Vec<Vec<u8>>> {
    let mut flows: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
    for packet in packets {
        flows.entry(parse(packet).expect("a packet").flow_hash()).or_default().push(check::normal(packet));
    }
    flows
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), first in 0x40..0x70_u8) {
        check::bytes(&bytes).map_err(TestCaseError::fail)?;
        // Give the bytes a valid version, and possibly a matching length.
        let mut bytes = bytes;
        if let Some(byte) = bytes.first_mut() {
            *byte = first;
        }
        if bytes.len() >= 40 {
            let lengths = if first >> 4 == 4 { [0, bytes.len()] } else { [0, bytes.len() - 40] };
            let at = if first >> 4 == 4 { 2 } else { 4 };
            bytes[at..at + 2].copy_from_slice(&(lengths[1] as u16).to_be_bytes());
        }
        check::bytes(&bytes).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn packets(packet in random::packet()) {
        let view = parse(&packet).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(view.length, packet.len());
        check::bytes(&packet).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn splitting_restores_merged_packets(packets in random::streams()) {
        let outcome = check::merge_and_split(&packets, 8).map_err(TestCaseError::fail)?;
        prop_assert_eq!(by_flow(&outcome.segments), by_flow(&packets));
    }

    #[test]
    fn damaged_packets(packets in random::damaged()) {
        for packet in &packets {
            check::bytes(packet).map_err(TestCaseError::fail)?;
        }
        check::batch(&packets).map_err(TestCaseError::fail)?;
    }
}
