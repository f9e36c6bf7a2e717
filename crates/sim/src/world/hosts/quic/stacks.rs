//! Stacks at the ends of a flow. Each connection gets new instances.

use stillair_model::transport::quic::{Engine, Quic, QuicConfig, QuicRole, TcpControl};
#[cfg(feature = "quinn")]
use stillair_model::types::RandomStream;
#[cfg(feature = "quinn")]
use stillair_quinn::{AckFrequency, Congestion, QuinnStack, Settings, SimNull};

use crate::scenario::{QuicFlow, QuicStack};
#[cfg(feature = "quinn")]
use crate::scenario::{QuinnControl, QuinnFactory, QuinnOptions};

/// Factory of a flow's stacks.
#[derive(Debug)]
pub(in crate::world) enum Stacks {
    Model(Box<QuicConfig>, Option<Box<[TcpControl; 2]>>),
    #[cfg(feature = "quinn")]
    Quinn(Box<Quinns>),
}

/// Configuration of quinn stacks.
#[cfg(feature = "quinn")]
#[derive(Debug)]
pub(in crate::world) struct Quinns {
    settings: Settings,
    custom: Option<QuinnFactory>,
    #[cfg(feature = "tls")]
    tls: bool,
    /// Random stream of each end, replacing the system's random numbers.
    random: [RandomStream; 2],
}

impl Stacks {
    /// Creates the factory for a flow. `controls` are TCP congestion controls that set the windows of the
    /// model's ends, if any; `random` creates the random stream of an end.
    #[cfg(feature = "quinn")]
    pub(in crate::world) fn new(
        flow: &QuicFlow,
        controls: Option<[TcpControl; 2]>,
        random: impl FnMut(usize) -> RandomStream,
    ) -> Self {
        match &flow.stack {
            QuicStack::Model => Self::Model(Box::new(flow.config), controls.map(Box::new)),
            QuicStack::Quinn(options) => Self::Quinn(Box::new(Quinns {
                settings: settings(options, &flow.config),
                custom: options.custom.clone(),
                #[cfg(feature = "tls")]
                tls: options.crypto == crate::scenario::Crypto::Tls,
                random: [0, 1].map(random),
            })),
        }
    }

    /// Creates the factory for a flow with the model's stack. The scenario reader rejects all others in
    /// builds without quinn.
    #[cfg(not(feature = "quinn"))]
    pub(in crate::world) fn new<R>(
        flow: &QuicFlow,
        controls: Option<[TcpControl; 2]>,
        _: impl FnMut(usize) -> R,
    ) -> Self {
        match &flow.stack {
            QuicStack::Model => Self::Model(Box::new(flow.config), controls.map(Box::new)),
            QuicStack::Quinn(_) => unreachable!("quinn without the feature of its name"),
        }
    }

    /// Creates the stack of one end of a new connection.
    pub(super) fn connect(&mut self, end: usize, role: QuicRole) -> Engine {
        match self {
            Self::Model(config, controls) => {
                let control = controls.as_mut().map(|controls| {
                    // Each connection has its own random stream.
                    let random = controls[end].random.split();
                    TcpControl { random, ..controls[end].clone() }
                });
                Engine::Model(Box::new(Quic::driven(**config, role, true, control)))
            }
            #[cfg(feature = "quinn")]
            Self::Quinn(quinns) => {
                let mut parts = quinns.settings.parts();
                if let Some(QuinnFactory(factory)) = &quinns.custom {
                    parts.controller = factory.clone();
                }
                #[cfg(feature = "tls")]
                let parts =
                    if quinns.tls { parts.with_tls(quinns.settings.handshake.certificates) } else { parts };
                Engine::Other(Box::new(QuinnStack::new(role, parts, &mut quinns.random[end])))
            }
        }
    }
}

/// Returns the stack's own settings.
#[cfg(feature = "quinn")]
fn settings(q: &QuinnOptions, model: &QuicConfig) -> Settings {
    let plain = Settings::QUINN;
    Settings {
        congestion: match q.congestion_control {
            QuinnControl::Cubic => Congestion::Cubic,
            QuinnControl::NewReno => Congestion::NewReno,
            QuinnControl::Bbr => Congestion::Bbr,
            QuinnControl::Model => Congestion::Model(model.window),
        },
        initial_window: q.initial_window,
        pacing: q.pacing,
        ack_frequency: q.ack_frequency.map(|ask| AckFrequency {
            every: ask.every,
            max_delay: ask.max_delay,
            reordering: ask.reordering,
        }),
        first_mtu: q.packet.unwrap_or(plain.first_mtu),
        mtu: q.packet.unwrap_or(plain.mtu),
        stream_window: q.stream_window,
        connection_window: q.connection_window,
        streams: Some(q.streams),
        handshake: SimNull { certificates: q.certificates, ..plain.handshake },
    }
}
