//! A node's routes: where packets for an address leave.

use crate::vocabulary::{Addr, IfId, PeerId};

/// What to do with packets for an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route {
    /// They are for this node.
    Local,
    /// They leave through an interface, on Wi-Fi to one of its device's peers.
    Via(IfId, PeerId),
}

/// Routes by address, dense because addresses are small numbers.
#[derive(Clone, Debug, Default)]
pub struct Routes(Vec<Option<Route>>);

impl Routes {
    /// Adds or replaces the route of an address.
    pub fn set(&mut self, addr: Addr, route: Route) {
        if self.0.len() <= addr.index() {
            self.0.resize(addr.index() + 1, None);
        }
        self.0[addr.index()] = Some(route);
    }

    /// The route of an address, if there is one.
    #[inline]
    pub fn get(&self, addr: Addr) -> Option<Route> {
        self.0.get(addr.index()).copied().flatten()
    }
}
