//! Typed indices into the world's tables: cheaper than references and impossible to mix up.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub $inner);
        impl $name {
            /// Index in the table that this id belongs to.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
            /// The id of index `i`. Panics if `i` does not fit.
            #[inline]
            pub fn from_index(i: usize) -> Self {
                Self(<$inner>::try_from(i).expect("table too large for its id type"))
            }
        }
    )*};
}

ids! {
    /// A host, router or access point.
    NodeId(u16);
    /// A network interface, numbered over the whole world.
    IfId(u16);
    /// One direction of a wired link.
    WireId(u16);
    /// A Wi-Fi device: the MAC of one wireless interface.
    DevId(u16);
    /// A radio: four EDCA functions and their short hardware queues.
    RadioId(u16);
    /// A Wi-Fi channel.
    ChannelId(u16);
    /// A neighbour of one Wi-Fi device, numbered within the device.
    PeerId(u16);
    /// An application flow.
    FlowId(u32);
    /// A socket, whose memory its packets are charged to.
    SockId(u32);
    /// A place that may drop packets; its name is in the world's table of places.
    PlaceId(u16);
}

impl SockId {
    /// No socket is charged: forwarded packets, acknowledgements, replies of the kernel.
    pub const NONE: Self = Self(u32::MAX);

    /// From here on ids are tokens of external hosts, but for [`SockId::NONE`].
    const TOKENS: u32 = 1 << 31;

    /// Maximum number of tokens.
    pub const MAX_TOKENS: u32 = u32::MAX - Self::TOKENS;

    /// Charge of an external host's packet: a token by which the host's driver identifies the packet. Panics
    /// at [`SockId::MAX_TOKENS`].
    pub const fn external(token: u32) -> Self {
        assert!(token < Self::MAX_TOKENS, "more than 2^31 - 1 tokens");
        Self(Self::TOKENS | token)
    }

    /// The token of an external host's packet, if it is one.
    #[inline]
    pub const fn token(self) -> Option<u32> {
        if self.0 >= Self::TOKENS && self.0 != u32::MAX { Some(self.0 - Self::TOKENS) } else { None }
    }

    /// Whether this is a socket of the model.
    #[inline]
    pub const fn is_socket(self) -> bool {
        self.0 < Self::TOKENS
    }
}
