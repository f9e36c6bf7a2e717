//! Port numbers for captures. The model's packets have none.

use stillair_model::types::FlowId;

/// First source and destination port; the flow number is added modulo the size of the range. Both are in the
/// dynamic range, where analysers do not guess a protocol from the number.
// spec: rfc6335 6 - 49152 to 65535.
const PORTS: [u16; 2] = [49_152, 57_344];
const PORT_RANGE: u32 = 8_192;

/// Returns the ports of a flow: of the end that connects or sends first, then of the other end.
pub fn ports(flow: FlowId) -> [u16; 2] {
    let further = (flow.0 % PORT_RANGE) as u16;
    [PORTS[0] + further, PORTS[1] + further]
}

/// Returns the source port of a flow's `n`-th connection after the first, whose port is `first`.
pub fn later_port(first: u16, n: u32) -> u16 {
    PORTS[0] + ((u32::from(first - PORTS[0]) + n) % PORT_RANGE) as u16
}
