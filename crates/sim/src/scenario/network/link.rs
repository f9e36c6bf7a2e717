//! Wired links and the devices at their ends.

use stillair_model::wire::WireParams;

use super::InterfaceRef;

/// Default MTU of Ethernet and of Wi-Fi in Linux, in bytes.
// linux: include/uapi/linux/if_ether.h ETH_DATA_LEN, net/mac80211/iface.c ieee80211_if_setup by ether_setup
// (6.1).
pub const ETHERNET: u32 = 1500;

/// An Ethernet device, by its driver. The driver determines how the device reports received and transmitted
/// packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Nic {
    /// No particular device.
    #[default]
    None,
    /// Intel devices of up to 1 Gbit/s.
    E1000e,
    /// Broadcom devices of up to 1 Gbit/s.
    Tg3,
}

impl Nic {
    /// Returns the name of the device in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::E1000e => "e1000e",
            Self::Tg3 => "tg3",
        }
    }
}

/// A wired link between two interfaces.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Name in the scenario.
    pub name: String,
    /// Parameters of the link and of the devices at its ends: from the first end to the second, and back.
    pub params: [WireParams; 2],
    /// The interfaces at both ends.
    pub ends: [InterfaceRef; 2],
    /// MTU in bytes, from the IP header on.
    pub mtu: u32,
}
