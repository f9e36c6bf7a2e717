//! IP versions and addresses.

/// Version of the Internet Protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ip {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

impl Ip {
    /// Length of the IP header in bytes, without options or extension headers.
    // spec: rfc791 3.1, rfc8200 3.
    #[inline]
    pub const fn header(self) -> u32 {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }

    /// Version number: 4 or 6.
    pub const fn version(self) -> u8 {
        match self {
            Self::V4 => 4,
            Self::V6 => 6,
        }
    }
}

/// Address of an interface, unique in the world. An interface has one address per IP version; both carry the
/// interface's number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Addr(pub u16);

impl Addr {
    /// Set in IPv6 addresses.
    const V6: u16 = 1 << 15;

    /// Index in the address table, regardless of the IP version.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & !Self::V6) as usize
    }

    /// Returns the IPv4 address with index `i`. Panics if `i` does not fit.
    pub fn from_index(i: usize) -> Self {
        let number = u16::try_from(i).ok().filter(|number| *number < Self::V6);
        Self(number.expect("table too large for its id type"))
    }

    /// Returns the address with the same number in IP version `ip`.
    pub const fn of(self, ip: Ip) -> Self {
        match ip {
            Ip::V4 => Self(self.0 & !Self::V6),
            Ip::V6 => Self(self.0 | Self::V6),
        }
    }

    /// IP version.
    #[inline]
    pub const fn ip(self) -> Ip {
        if self.0 & Self::V6 == 0 { Ip::V4 } else { Ip::V6 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ip_versions_share_a_number() {
        let four = Addr::from_index(7);
        let six = four.of(Ip::V6);
        assert_eq!((four.ip(), six.ip()), (Ip::V4, Ip::V6));
        assert_eq!((four.index(), six.index(), six.of(Ip::V4)), (7, 7, four));
        assert_ne!(four, six);
        assert_eq!((four.ip().header(), six.ip().header()), (20, 40));
    }
}
