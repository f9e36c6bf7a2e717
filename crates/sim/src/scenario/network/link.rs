//! Wired links and the devices at their ends.

use stillair_model::wire::WireParams;

use super::InterfaceRef;

/// An Ethernet device, by its driver, which sets how it reports arrivals and transmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Nic {
    /// None in particular.
    #[default]
    None,
    /// One of Intel's of up to 1 Gbit/s.
    E1000e,
    /// One of Broadcom's of up to 1 Gbit/s.
    Tg3,
}

impl Nic {
    /// Its name in a scenario.
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
    /// What it and the devices at its ends are like: from the first end to the second, and back.
    pub params: [WireParams; 2],
    /// What it joins.
    pub ends: [InterfaceRef; 2],
    /// Largest packet in bytes, from the IP header on.
    pub mtu: u32,
}
