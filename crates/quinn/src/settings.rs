//! The settings of an end in a scenario, and their conversion to quinn's types.

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

/// Congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Congestion {
    /// CUBIC, quinn's default.
    Cubic,
    /// NewReno of RFC 9002.
    NewReno,
    /// BBR. quinn uses its window, not its pacing rate.
    Bbr,
    /// The model's window behind quinn's trait, such as Chromium's.
    Model(WindowParams),
}

/// Acknowledgement frequency requested from the peer (draft-ietf-quic-ack-frequency).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFrequency {
    /// Number of packets per acknowledgement.
    pub every: u32,
    /// Maximum acknowledgement delay, between 1 ms and the larger of the round-trip time and 25 ms. `None`:
    /// the peer's own.
    pub max_delay: Option<Duration>,
    /// Reordering threshold for an immediate acknowledgement: 1 means any reordering, 0 disables it.
    pub reordering: u32,
}

/// The settings of one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Congestion control.
    pub congestion: Congestion,
    /// Initial window in bytes. `None`: the default of the congestion control.
    pub initial_window: Option<u64>,
    /// Enable pacing.
    pub pacing: bool,
    /// Acknowledgement frequency requested by the data sender.
    pub ack_frequency: Option<AckFrequency>,
    /// Initial UDP payload in bytes.
    pub first_mtu: u16,
    /// Largest UDP payload probed by MTU discovery, in bytes. Equal to `first_mtu`: no probes.
    pub mtu: u16,
    /// Flow control window of a stream in bytes. `None`: quinn's default.
    pub stream_window: Option<u32>,
    /// Flow control window of the connection in bytes. `None`: no limit, quinn's default.
    pub connection_window: Option<u32>,
    /// Maximum number of streams that the peer may open. `None`: 100, quinn's default.
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

    /// Converts the settings to quinn's types.
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
            // spec: draft-ietf-quic-ack-frequency 4 - the threshold is the number of packets without an
            // acknowledgement: one less than the packets per acknowledgement.
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
    /// quinn's connection configuration. Its controller factory is ignored; clocks and seeds are not set
    /// here.
    pub transport: TransportConfig,
    /// Factory of the congestion controller.
    pub controller: Factory,
    /// Enable quinn's pacer.
    pub pacing: bool,
    /// Cryptography of the client.
    pub client: Arc<dyn ClientConfig>,
    /// Cryptography of the server.
    pub server: Arc<dyn ServerConfig>,
    /// Server name requested by the client.
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
