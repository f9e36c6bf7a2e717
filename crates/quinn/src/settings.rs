//! The settings of an end in a scenario, and the quinn types that are made from them.

use std::fmt;
use std::sync::Arc;

use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use quinn_proto::crypto::{ClientConfig, ServerConfig};
use quinn_proto::{AckFrequencyConfig, MtuDiscoveryConfig, TransportConfig, VarInt};
use stillair_model::transport::quic::window::WindowParams;
use stillair_model::types::Duration;

use crate::chromium::Chromium;
use crate::clock::span;
use crate::gate::Factory;
use crate::sim_null::SimNull;

/// A congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Congestion {
    /// CUBIC, quinn's default.
    Cubic,
    /// NewReno of RFC 9002.
    NewReno,
    /// BBR. quinn uses its window, not its pacing rate.
    Bbr,
    /// The model's window behind quinn's interface, such as Chromium's.
    Model(WindowParams),
}

/// Acknowledgement frequency requested from the peer (draft-ietf-quic-ack-frequency).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFrequency {
    /// Number of packets for one acknowledgement.
    pub every: u32,
    /// Maximum delay of an acknowledgement; `None` means the peer's own. Between 1 ms and the larger of the
    /// round-trip time and 25 ms.
    pub max_delay: Option<Duration>,
    /// Reordering threshold for an immediate acknowledgement: 1 means any reordering, 0 means none.
    pub reordering: u32,
}

/// The settings of one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Its congestion control.
    pub congestion: Congestion,
    /// Initial window in bytes; `None` means the default of the congestion control.
    pub initial_window: Option<u64>,
    /// Packets are spread over the round trip.
    pub pacing: bool,
    /// The acknowledgement frequency that it requests as the sender of data.
    pub ack_frequency: Option<AckFrequency>,
    /// Initial UDP payload in bytes.
    pub first_mtu: u16,
    /// Largest UDP payload that MTU discovery probes for, in bytes; equal to `first_mtu` means no probes.
    pub mtu: u16,
    /// Flow control window of a stream in bytes; `None` means quinn's default.
    pub stream_window: Option<u32>,
    /// Flow control window of the connection in bytes; `None` means no limit, quinn's default.
    pub connection_window: Option<u32>,
    /// Number of streams that its peer may have open; `None` means 100, quinn's default.
    pub streams: Option<u32>,
    /// Message sizes of the handshake without encryption.
    pub handshake: SimNull,
}

impl Settings {
    /// quinn's defaults.
    pub const QUINN: Self = Self {
        congestion: Congestion::Cubic,
        initial_window: None,
        pacing: true,
        ack_frequency: None,
        first_mtu: 1_200,
        mtu: 1_452,
        stream_window: None,
        connection_window: None,
        streams: None,
        handshake: SimNull::TLS,
    };

    /// The quinn types for these settings.
    pub fn parts(&self) -> QuinnParts {
        let mut transport = TransportConfig::default();
        transport.initial_mtu(self.first_mtu).min_mtu(self.first_mtu.min(1_200));
        let discovery = (self.mtu > self.first_mtu).then(|| {
            let mut discovery = MtuDiscoveryConfig::default();
            discovery.upper_bound(self.mtu);
            discovery
        });
        transport.mtu_discovery_config(discovery);
        if let Some(ask) = self.ack_frequency {
            let mut config = AckFrequencyConfig::default();
            // spec: draft-ietf-quic-ack-frequency 4 - the threshold is how many may go without: one less than
            // an acknowledgement is for.
            config.ack_eliciting_threshold(VarInt::from_u32(ask.every.saturating_sub(1)));
            config
                .reordering_threshold(VarInt::from_u32(ask.reordering))
                .max_ack_delay(ask.max_delay.map(span));
            transport.ack_frequency_config(Some(config));
        }
        if let Some(window) = self.stream_window {
            transport.stream_receive_window(VarInt::from_u32(window));
        }
        if let Some(window) = self.connection_window {
            transport.receive_window(VarInt::from_u32(window));
        }
        if let Some(streams) = self.streams {
            transport.max_concurrent_bidi_streams(VarInt::from_u32(streams));
        }
        let null = Arc::new(self.handshake);
        QuinnParts {
            transport,
            controller: self.controller(),
            pacing: self.pacing,
            client: null.clone(),
            server: null,
            server_name: "server",
        }
    }

    fn controller(&self) -> Factory {
        macro_rules! with_window {
            ($config:expr) => {{
                let mut config = $config;
                if let Some(window) = self.initial_window {
                    config.initial_window(window);
                }
                Arc::new(config)
            }};
        }
        match self.congestion {
            Congestion::Cubic => with_window!(CubicConfig::default()),
            Congestion::NewReno => with_window!(NewRenoConfig::default()),
            Congestion::Bbr => with_window!(BbrConfig::default()),
            Congestion::Model(params) => {
                let initial = self.initial_window.unwrap_or(params.initial);
                Arc::new(Chromium(WindowParams { initial, ..params }))
            }
        }
    }
}

/// The parts of an end in quinn's own types, for your own configuration or controller.
pub struct QuinnParts {
    /// quinn's configuration of a connection. Its controller factory is not used; clocks and seeds are not
    /// set here.
    pub transport: TransportConfig,
    /// The factory of the congestion controller.
    pub controller: Factory,
    /// Packets are spread over the round trip by quinn's pacer.
    pub pacing: bool,
    /// Cryptography of the client.
    pub client: Arc<dyn ClientConfig>,
    /// Cryptography of the server.
    pub server: Arc<dyn ServerConfig>,
    /// The server name that the client requests.
    pub server_name: &'static str,
}

impl fmt::Debug for QuinnParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { transport, pacing, server_name, .. } = self;
        f.debug_struct("Parts")
            .field("transport", transport)
            .field("pacing", pacing)
            .field("server_name", server_name)
            .finish_non_exhaustive()
    }
}
