//! User-defined congestion controllers.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt::Debug;

use super::{AckSample, CaState, CcEvent, CcSock, Controller, RateSample};
use crate::types::PartFactory;

/// A user-defined controller. Implemented for every [`Controller`] that is `Clone`, `Debug` and `Send`.
pub trait CustomController: Controller + Debug + Send {
    /// Returns a copy in the same state.
    fn copy(&self) -> Box<dyn CustomController>;
}

impl<C: Controller + Clone + Debug + Send + 'static> CustomController for C {
    fn copy(&self) -> Box<dyn CustomController> {
        Box::new(self.clone())
    }
}

/// A controller in a configuration; creates one instance per connection.
pub type ControllerFactory = PartFactory<dyn CustomController>;

/// A boxed user-defined controller and its name. Built-in controllers are not boxed.
#[derive(Debug)]
pub struct CustomCc {
    name: Arc<str>,
    control: Box<dyn CustomController>,
}

impl CustomCc {
    /// Wraps `control` under this name.
    pub fn new(name: &str, control: Box<dyn CustomController>) -> Self {
        Self { name: name.into(), control }
    }

    /// Returns the controller's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Clone for CustomCc {
    fn clone(&self) -> Self {
        // Dereference first: the box itself also implements `CustomController`.
        Self { name: self.name.clone(), control: (*self.control).copy() }
    }
}

impl Controller for CustomCc {
    fn init(&mut self, sk: &mut CcSock) {
        self.control.init(sk);
    }
    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        self.control.ssthresh(sk)
    }
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, acked: u32) {
        self.control.cong_avoid(sk, ack, acked);
    }
    fn cong_control(&mut self, sk: &mut CcSock, rs: &RateSample) -> bool {
        self.control.cong_control(sk, rs)
    }
    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        self.control.set_state(sk, new);
    }
    fn cwnd_event(&mut self, sk: &mut CcSock, event: CcEvent) {
        self.control.cwnd_event(sk, event);
    }
    fn in_ack_event(&mut self, sk: &mut CcSock, ece: bool) {
        self.control.in_ack_event(sk, ece);
    }
    fn pkts_acked(&mut self, sk: &mut CcSock, sample: &AckSample) {
        self.control.pkts_acked(sk, sample);
    }
    fn undo_cwnd(&mut self, sk: &mut CcSock) -> u32 {
        self.control.undo_cwnd(sk)
    }
    fn sndbuf_expand(&self) -> u32 {
        self.control.sndbuf_expand()
    }
    fn min_tso_segs(&self, sk: &CcSock, default: u32) -> u32 {
        self.control.min_tso_segs(sk, default)
    }
    fn needs_ecn(&self) -> bool {
        self.control.needs_ecn()
    }
}
