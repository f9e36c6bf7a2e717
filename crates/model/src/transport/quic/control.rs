//! Sets a sender's congestion window: the model's own rules ([`Window`]), or a TCP congestion control
//! ([`Driven`]).

use crate::types::Instant;
use alloc::boxed::Box;

use super::driven::{Driven, TcpControl};
use super::window::{Window, WindowParams};

/// The one that a connection has.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the model's own is asked for each packet: no pointer is to be followed"
)]
pub enum Control {
    /// The model's own rules.
    Window(Window),
    /// A TCP congestion control.
    Driven(Box<Driven>),
}

macro_rules! each {
    ($self:expr, $c:ident => $do:expr) => {
        match $self {
            Control::Window($c) => $do,
            Control::Driven($c) => $do,
        }
    };
}

impl Control {
    /// State before the first packet. Packets have up to `packet` bytes. `control` replaces the window's own
    /// growth rules.
    pub fn new(params: WindowParams, packet: u32, control: Option<TcpControl>) -> Self {
        match control {
            None => Self::Window(Window::new(params)),
            Some(control) => Self::Driven(Box::new(Driven::new(params, packet, control))),
        }
    }

    /// Congestion window in bytes.
    pub fn cwnd(&self) -> u64 {
        each!(self, c => c.cwnd())
    }

    /// Slow-start threshold in bytes, if there is one.
    pub fn ssthresh(&self) -> Option<u64> {
        each!(self, c => c.ssthresh())
    }

    /// Whether the window is below the slow-start threshold.
    pub fn in_slow_start(&self) -> bool {
        each!(self, c => c.in_slow_start())
    }

    /// Whether the sender is in recovery.
    pub fn in_recovery(&self) -> bool {
        each!(self, c => c.in_recovery())
    }

    /// Pacing rate in bytes per second, if the congestion control sets it.
    pub fn rate(&self) -> Option<u64> {
        match self {
            Self::Window(_) => None,
            Self::Driven(driven) => driven.rate(),
        }
    }

    /// Whether more may be sent with `bytes` bytes and `packets` packets in flight.
    pub fn can_send(&self, bytes: u64, packets: u32) -> bool {
        match self {
            Self::Window(window) => window.can_send(bytes),
            Self::Driven(driven) => driven.can_send(bytes, packets),
        }
    }

    /// A packet that counts as in flight was sent.
    pub fn on_sent(&mut self, now: Instant, number: u64, bytes: u64) {
        match self {
            Self::Window(window) => window.on_sent(number, bytes),
            Self::Driven(driven) => driven.on_sent(now, number, bytes),
        }
    }

    /// The sender has nothing to send, although the window may have room.
    pub fn on_idle(&mut self) {
        if let Self::Driven(driven) = self {
            driven.on_idle();
        }
    }

    /// A retransmission timeout that was not spurious.
    pub fn on_timeout(&mut self) {
        each!(self, c => c.on_timeout());
    }
}
