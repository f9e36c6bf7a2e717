//! What probes of a test of responsiveness time.

/// What a probe times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probe {
    /// The handshake of TCP on a new connection (`tcp_f`).
    Tcp,
    /// The handshake of TLS 1.3 on a new connection, one round trip (`tls_f`).
    Tls,
    /// A request for an object of one byte on a new connection (`http_f`).
    Http,
    /// A request for an object of one byte on a connection that carries load (`http_l`).
    Loaded,
    /// A new connection as a whole: all of its handshakes and its request.
    Foreign,
}

impl Probe {
    /// All of them, in the order of results.
    pub const ALL: [Self; 5] = [Self::Tcp, Self::Tls, Self::Http, Self::Loaded, Self::Foreign];

    /// Its name in results.
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
