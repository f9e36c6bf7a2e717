//! Port numbers, which the model's packets do not have.

use stillair_model::types::FlowId;

/// First source and destination port: a flow's number is added, modulo the size of the range. Both lie in the
/// dynamic range, where no protocol is guessed from the number.
// spec: rfc6335 6 - 49152 to 65535.
const PORTS: [u16; 2] = [49_152, 57_344];
const PORT_RANGE: u32 = 8_192;

/// Ports of a flow: first of the end that connects or sends first, then of the other end.
pub fn ports(flow: FlowId) -> [u16; 2] {
    let further = (flow.0 % PORT_RANGE) as u16;
    [PORTS[0] + further, PORTS[1] + further]
}

/// The source port of a flow's connection number `n` after the first, whose port is `first`.
pub fn later_port(first: u16, n: u32) -> u16 {
    PORTS[0] + ((u32::from(first - PORTS[0]) + n) % PORT_RANGE) as u16
}
