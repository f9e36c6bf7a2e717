//! What sets a sender's window: the model's own rules ([`Window`]), or a congestion control of TCP's ([`Driven`]).

use crate::vocabulary::Instant;
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
    /// The model's own.
    Window(Window),
    /// One of TCP's.
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
    /// Before the first packet. Packets are of up to `packet` bytes; `law` takes the place of the window's growth.
    pub fn new(params: WindowParams, packet: u32, law: Option<TcpControl>) -> Self {
        match law {
            None => Self::Window(Window::new(params)),
            Some(law) => Self::Driven(Box::new(Driven::new(params, packet, law))),
        }
    }

    /// Bytes that may be in flight.
    pub fn cwnd(&self) -> u64 {
        each!(self, c => c.cwnd())
    }

    /// The threshold in bytes, if there is one.
    pub fn ssthresh(&self) -> Option<u64> {
        each!(self, c => c.ssthresh())
    }

    /// The window is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        each!(self, c => c.in_slow_start())
    }

    /// Losses are being repaired.
    pub fn in_recovery(&self) -> bool {
        each!(self, c => c.in_recovery())
    }

    /// Bytes a second, if it sets the rate itself.
    pub fn rate(&self) -> Option<u64> {
        match self {
            Self::Window(_) => None,
            Self::Driven(driven) => driven.rate(),
        }
    }

    /// Whether more than these bytes and packets in flight may be sent.
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

    /// There is nothing to be sent now, though it might be.
    pub fn on_idle(&mut self) {
        if let Self::Driven(driven) = self {
            driven.on_idle();
        }
    }

    /// A retransmission timeout that was right.
    pub fn on_timeout(&mut self) {
        each!(self, c => c.on_timeout());
    }
}
