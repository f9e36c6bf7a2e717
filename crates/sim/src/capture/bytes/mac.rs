//! MAC addresses.

use stillair_model::types::IfId;

/// A MAC address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The broadcast address.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Address of the IPv4 multicast group 239.0.0.1.
    // spec: rfc1112 6.4 - the lower 23 bits of the IP address.
    pub const GROUP: Self = Self([0x01, 0x00, 0x5e, 0, 0, 1]);

    /// Address of the IPv6 multicast group ff12::1.
    // spec: rfc2464 7 - the last four bytes of the IPv6 address.
    pub const GROUP6: Self = Self([0x33, 0x33, 0, 0, 0, 1]);

    /// Returns the address of an interface: locally administered, with the interface number plus one in the
    /// last two bytes.
    pub fn of(interface: IfId) -> Self {
        let [high, low] = (interface.0 + 1).to_be_bytes();
        Self([0x02, 0, 0, 0, high, low])
    }
}
