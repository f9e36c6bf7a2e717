//! What of a scenario are guests: their interfaces, addresses and kernels' settings.

use std::net::{IpAddr, Ipv4Addr};

use stillair_model::vocabulary::{Addr, IfId, Ip};
use stillair_sim::scenario::{Attachment, Guest, GuestQueue, Host, Node, Role, Scenario};

/// What a socket's pacing shift is where no driver asks for another.
// linux: include/net/sock.h sk_pacing_shift, net/core/sock.c sock_init_data_uid (6.12) - 10.
pub const SHIFT: u8 = 10;
/// Descriptors of a card's ring where packets wait in the model: no modelled queue holds more.
const LONG: u32 = 8192;
/// Where they wait in the guest. Its driver stops when a packet of 17 fragments and two more descriptors would not fit, so that 13 packets are in it.
// linux: drivers/net/virtio_net.c check_sq_full_and_disable (6.12) - 2 + MAX_SKB_FRAGS.
const SHORT: u32 = 32;

/// A guest of a scenario.
#[derive(Clone, Debug)]
pub struct GuestPlan {
    /// Its host's name.
    pub name: String,
    /// The position of its node.
    pub node: usize,
    /// The number of its interface in the world.
    pub at: IfId,
    /// Its address.
    pub address: Ipv4Addr,
    /// As the scenario has it.
    pub guest: Guest,
    /// What comes in together is merged (GRO).
    pub gro: bool,
    /// TCP small queues are on.
    pub small_queues: bool,
    /// `sk_pacing_shift` that its driver asks for.
    pub pacing_shift: u8,
    /// Descriptors of its card's ring for sending.
    pub ring: u32,
    /// Congestion control of connections for which nobody chooses one.
    pub control: String,
    /// Bytes of a socket's receive and send buffer: least, at first, largest (`tcp_rmem`, `tcp_wmem`).
    pub buffers: [[u32; 3]; 2],
    /// Settings of its kernel, by name.
    pub sysctl: Vec<(String, String)>,
}

/// What of a scenario are guests.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The guests in the order of the scenario.
    pub guests: Vec<GuestPlan>,
    /// By address, in order: the interface that has it.
    addresses: Vec<(IpAddr, Addr)>,
}

impl Plan {
    /// Reads it off a scenario; the error says what a guest cannot be.
    pub fn new(scenario: &Scenario) -> Result<Self, String> {
        let (mut guests, mut addresses, mut number) = (Vec::new(), Vec::new(), 0);
        for (n, node) in scenario.nodes.iter().enumerate() {
            let first = IfId::from_index(number);
            for interface in &node.interfaces {
                let addr = Addr::from_index(number);
                number += 1;
                addresses.push((IpAddr::V4(interface.address), addr));
                addresses.push((IpAddr::V6(interface.address6), addr.of(Ip::V6)));
            }
            match (node.host, &node.guest) {
                (Host::Uml, Some(of)) => guests.push(guest(n, node, of, first)?),
                (Host::Outside | Host::Live, _) => {
                    return Err(format!(
                        "node.{}.host: found a host that somebody else drives, expected \"model\" or a guest beside guests",
                        node.name
                    ));
                }
                _ => {}
            }
        }
        addresses.sort_unstable();
        Ok(Self { guests, addresses })
    }

    /// The interface with an address, if one has it.
    pub fn of_address(&self, address: IpAddr) -> Option<Addr> {
        let at = self.addresses.binary_search_by_key(&address, |(of, _)| *of).ok()?;
        Some(self.addresses[at].1)
    }

    /// The guest of a node.
    pub fn of_node(&self, node: usize) -> Option<usize> {
        self.guests.iter().position(|guest| guest.node == node)
    }
}

fn guest(n: usize, node: &Node, of: &Guest, at: IfId) -> Result<GuestPlan, String> {
    let [interface] = &node.interfaces[..] else {
        let found = node.interfaces.len();
        return Err(format!(
            "node.{}.interface: found {found} interfaces of a guest, expected one",
            node.name
        ));
    };
    let key = format!("node.{}.interface.{}", node.name, interface.name);
    let wifi = match &interface.medium {
        Attachment::Wifi(wifi) if !matches!(wifi.role, Role::Station(_)) => {
            return Err(format!(
                "{key}.role: found an access point at a guest, expected a station: access points are modelled"
            ));
        }
        Attachment::Wifi(_) => true,
        Attachment::Wired { .. } => false,
    };
    if interface.default_route {
        return Err(format!(
            "{key}.default_route: found true at a guest, expected none: there is no world beyond in virtual time"
        ));
    }
    // linux: include/net/tcp.h TCP_CA_NAME_MAX (6.12) - 16 with the zero at the end.
    let fits = |name: &&String| {
        name.len() <= 15 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    if let Some(name) = of.congestion_control.as_ref().filter(|name| !fits(name)) {
        return Err(format!(
            "node.{}.host.congestion_control: found \"{name}\", expected the name of one, of up to 15 letters and digits",
            node.name
        ));
    }
    let profile = &node.profile;
    Ok(GuestPlan {
        name: node.name.clone(),
        node: n,
        at,
        address: interface.address,
        guest: of.clone(),
        gro: interface.gro,
        small_queues: !profile.tcp.small_queues.off,
        pacing_shift: if wifi { profile.wifi_pacing_shift } else { SHIFT },
        ring: if of.queue == GuestQueue::Model { LONG } else { SHORT },
        control: of
            .congestion_control
            .clone()
            .unwrap_or_else(|| profile.congestion_control.name().to_owned()),
        buffers: [profile.tcp.rmem, profile.tcp.wmem],
        sysctl: node.sysctl.clone(),
    })
}

impl GuestPlan {
    /// Orders for its first program: its interface and its kernel's settings. A setting of the scenario is the last.
    pub fn orders(&self) -> String {
        let mut all = String::new();
        let mut write = |file: &str, text: &str| all.push_str(&format!("write\t{file}\t{text}\n"));
        write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
        write("/proc/sys/net/ipv4/tcp_congestion_control", &self.control);
        // linux: net/ipv4/tcp.c tcp_init (6.12) - the largest buffers are a 128th of memory where that is less than 6 and 4 MB, and pressure begins at a
        // 16th: 448 KiB and 4 MB for a guest of 64 MB. A guest stands for a machine that has memory: buffers are its profile's, pressure begins at a third.
        for (name, [least, first, most]) in ["tcp_rmem", "tcp_wmem"].into_iter().zip(self.buffers) {
            write(&format!("/proc/sys/net/ipv4/{name}"), &format!("{least} {first} {most}"));
        }
        let pages = u64::from(self.guest.memory) * 256;
        let pressure = format!("{} {} {}", pages / 4, pages / 3, pages / 2);
        write("/proc/sys/net/ipv4/tcp_mem", &pressure);
        for (name, value) in &self.sysctl {
            write(&format!("/proc/sys/{}", name.replace('.', "/")), value);
        }
        // A Wi-Fi driver has no byte queue limits, and those of a wire are the model's.
        write("?/sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit_min", "1000000000");
        all.push_str(&format!("gro\t{}\n", u8::from(self.gro)));
        all.push_str(&format!("address\t{}\n", self.address));
        all
    }
}
