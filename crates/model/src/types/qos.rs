//! Access categories, and the two classifications of a packet, which look at different bits.

/// An 802.11e access category, in the kernel's order: `VO` is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Ac {
    /// Voice.
    Vo = 0,
    /// Video.
    Vi = 1,
    /// Best effort.
    Be = 2,
    /// Background.
    Bk = 3,
}

impl Ac {
    /// All four, highest priority first.
    pub const ALL: [Self; 4] = [Self::Vo, Self::Vi, Self::Be, Self::Bk];

    /// Returns the access category of a TID (802.1D user priority).
    // spec: ieee80211 table 10-1 - user priority to access category: 1 and 2 map to background, 0 and 3 to
    // best effort.
    #[inline]
    pub const fn of_tid(tid: u8) -> Self {
        match tid & 7 {
            1 | 2 => Self::Bk,
            0 | 3 => Self::Be,
            4 | 5 => Self::Vi,
            _ => Self::Vo,
        }
    }

    /// Index in tables by access category.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Name as `iw` and hostapd write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vo => "VO",
            Self::Vi => "VI",
            Self::Be => "BE",
            Self::Bk => "BK",
        }
    }
}
