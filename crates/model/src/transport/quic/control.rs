//! Congestion control of a QUIC sender: the built-in [`Window`], or a TCP controller ([`Driven`]).

use crate::types::Instant;
use alloc::boxed::Box;

use super::driven::{Driven, TcpControl};
use super::window::{Window, WindowParams};

/// Congestion control of a connection.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the model's own is asked for each packet: no pointer is to be followed"
)]
pub enum Control {
    /// Built-in window.
    Window(Window),
    /// TCP congestion controller.
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
    /// Creates the state before the first packet. Packets have up to `packet` bytes. If given, `control`
    /// replaces the built-in window.
    pub fn new(params: WindowParams, packet: u32, control: Option<TcpControl>) -> Self {
        match control {
            None => Self::Window(Window::new(params)),
            Some(control) => Self::Driven(Box::new(Driven::new(params, packet, control))),
        }
    }

    /// Returns the congestion window in bytes.
    pub fn cwnd(&self) -> u64 {
        each!(self, c => c.cwnd())
    }

    /// Returns the slow-start threshold in bytes, or `None` before the first reduction.
    pub fn ssthresh(&self) -> Option<u64> {
        each!(self, c => c.ssthresh())
    }

    /// Returns true if the window is below the slow-start threshold.
    pub fn in_slow_start(&self) -> bool {
        each!(self, c => c.in_slow_start())
    }

    /// Returns true in recovery.
    pub fn in_recovery(&self) -> bool {
        each!(self, c => c.in_recovery())
    }

    /// Returns the pacing rate in bytes per second, if the controller sets one.
    pub fn rate(&self) -> Option<u64> {
        match self {
            Self::Window(_) => None,
            Self::Driven(driven) => driven.rate(),
        }
    }

    /// Returns true if the window allows another packet with `bytes` bytes and `packets` packets in flight.
    pub fn can_send(&self, bytes: u64, packets: u32) -> bool {
        match self {
            Self::Window(window) => window.can_send(bytes),
            Self::Driven(driven) => driven.can_send(bytes, packets),
        }
    }

    /// Called when a packet that counts as in flight was sent.
    pub fn on_sent(&mut self, now: Instant, number: u64, bytes: u64) {
        match self {
            Self::Window(window) => window.on_sent(number, bytes),
            Self::Driven(driven) => driven.on_sent(now, number, bytes),
        }
    }

    /// Called when the sender has nothing to send. The window may have room.
    pub fn on_idle(&mut self) {
        if let Self::Driven(driven) = self {
            driven.on_idle();
        }
    }

    /// Called on a retransmission timeout that was not spurious.
    pub fn on_timeout(&mut self) {
        each!(self, c => c.on_timeout());
    }
}
