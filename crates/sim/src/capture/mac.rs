//! MAC addresses.

use stillair_model::vocabulary::IfId;

/// A MAC address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// All stations.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// That of an interface: locally administered, its number plus one in the last two bytes.
    pub fn of(interface: IfId) -> Self {
        let [high, low] = (interface.0 + 1).to_be_bytes();
        Self([0x02, 0, 0, 0, high, low])
    }
}
