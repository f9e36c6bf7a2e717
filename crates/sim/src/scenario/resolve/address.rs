//! Interface addresses: the configured ones, and for other interfaces the next free address of their network.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::super::{Attachment, InterfaceRef, Node, Role};
use super::wiring::Wiring;

/// First automatic address; each network has 256.
const FIRST: u32 = 0x0a80_0000;

/// Returns the IPv6 address of an interface with this IPv4 address.
// spec: rfc4193 3.1 - unique local addresses; the global ID is zero here, so that addresses differ only at
// the end.
pub(in super::super) const fn v6(address: Ipv4Addr) -> Ipv6Addr {
    let [a, b, c, d] = address.octets();
    Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, (a as u16) << 8 | b as u16, (c as u16) << 8 | d as u16)
}

/// Network of an interface: a link, or an access point with its stations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Network {
    Link(usize),
    Cell(InterfaceRef),
}

fn network(at: InterfaceRef, medium: &Attachment) -> Network {
    match medium {
        Attachment::Wired { link } => Network::Link(*link),
        Attachment::Wifi(wifi) => match &wifi.role {
            Role::Ap => Network::Cell(at),
            Role::Station(station) => Network::Cell(station.ap),
        },
    }
}

/// Assigns addresses to the interfaces that have none.
pub(in super::super) fn complete(nodes: &mut [Node], links: usize, wiring: &Wiring) {
    if !wiring.unaddressed.is_empty() {
        give(nodes, links, wiring);
    }
    nodes.iter_mut().flat_map(|n| &mut n.interfaces).for_each(|i| i.address6 = v6(i.address));
}

fn give(nodes: &mut [Node], links: usize, wiring: &Wiring) {
    let all: Vec<(InterfaceRef, Network, Ipv4Addr)> = nodes
        .iter()
        .enumerate()
        .flat_map(|(node, n)| n.interfaces.iter().enumerate().map(move |(i, x)| (node, i, x)))
        .map(|(node, interface, x)| {
            let at = InterfaceRef { node, interface };
            (at, network(at, &x.medium), x.address)
        })
        .collect();
    let cells: Vec<InterfaceRef> =
        all.iter().filter(|(at, of, _)| *of == Network::Cell(*at)).map(|(at, ..)| *at).collect();
    let mut networks: Vec<(Network, u32)> = (0..links).map(Network::Link).map(|of| (of, 0)).collect();
    networks.extend(cells.into_iter().map(|at| (Network::Cell(at), 0)));
    for (n, (of, next)) in networks.iter_mut().enumerate() {
        let given = all.iter().find(|(_, its, address)| its == of && !address.is_unspecified());
        let base = given.map_or(FIRST + ((n as u32) << 8), |(.., address)| u32::from(*address) & !0xff);
        *next = base + 1;
    }
    let mut taken: BTreeSet<u32> = wiring.addresses.iter().map(|(address, ..)| u32::from(*address)).collect();
    for &at in &wiring.unaddressed {
        let of = network(at, &nodes[at.node].interfaces[at.interface].medium);
        // Interfaces without a valid access point are rejected elsewhere.
        let Some((_, next)) = networks.iter_mut().find(|(its, _)| *its == of) else { continue };
        while taken.contains(next) || matches!(*next & 0xff, 0 | 0xff) {
            *next += 1;
        }
        taken.insert(*next);
        nodes[at.node].interfaces[at.interface].address = Ipv4Addr::from(*next);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;

    #[test]
    fn each_network_numbers_its_own_addresses() {
        let text = r#"
name = "addresses"
[link.lan]
rate = "1 Gbit/s"
delay = "1 ms"
[link.wan]
rate = "1 Gbit/s"
delay = "1 ms"
[node.a]
profile = "linux-6.1"
interface.eth0 = { link = "lan" }
[node.b]
profile = "linux-6.1"
forward = true
interface.eth0 = { link = "lan", address = "192.168.1.1" }
interface.eth1 = { link = "wan" }
[node.c]
profile = "linux-6.1"
interface.eth0 = { link = "wan" }
"#;
        let s = parse(text, "addresses.toml", &[]).expect("a good scenario");
        let all = s.nodes.iter().flat_map(|n| &n.interfaces).map(|i| i.address.to_string());
        assert_eq!(all.collect::<Vec<_>>(), ["192.168.1.2", "192.168.1.1", "10.128.1.1", "10.128.1.2"]);
    }
}
