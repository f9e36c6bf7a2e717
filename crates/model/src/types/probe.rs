//! Probes of responsiveness tests.

/// Kind of a responsiveness test's probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probe {
    /// TCP handshake of a new connection (`tcp_f`).
    Tcp,
    /// TLS 1.3 handshake of a new connection, one round trip (`tls_f`).
    Tls,
    /// A request for an object of one byte on a new connection (`http_f`).
    Http,
    /// A request for an object of one byte on a connection that carries load (`http_l`).
    Loaded,
    /// A whole new connection: the sum of its handshakes and its request.
    Foreign,
}

impl Probe {
    /// All kinds, in result order.
    pub const ALL: [Self; 5] = [Self::Tcp, Self::Tls, Self::Http, Self::Loaded, Self::Foreign];

    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Http => "http",
            Self::Loaded => "loaded",
            Self::Foreign => "foreign",
        }
    }
}
