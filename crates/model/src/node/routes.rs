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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_found_replaced_and_missed() {
        let mut r = Routes::default();
        r.set(Addr(3), Route::Local);
        r.set(Addr(1), Route::Via(IfId(2), PeerId(4)));
        r.set(Addr(3), Route::Via(IfId(0), PeerId(0)));
        let got = [0, 1, 2, 3, 4].map(|n| r.get(Addr(n)));
        let via = |i, p| Some(Route::Via(IfId(i), PeerId(p)));
        assert_eq!(got, [None, via(2, 4), None, via(0, 0), None]);
    }
}
