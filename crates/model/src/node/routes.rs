//! A node's routing table.

use crate::types::{Addr, IfId, PeerId};
use alloc::vec::Vec;

/// The route of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route {
    /// The address is this node's own.
    Local,
    /// Packets leave through this interface; on Wi-Fi, to this peer of its device.
    Via(IfId, PeerId),
}

/// Routes by address.
#[derive(Clone, Debug)]
pub enum Routes {
    /// One address and a default route.
    OneWay {
        /// The node's address.
        own: Addr,
        /// The default route.
        others: Route,
    },
    /// A table indexed by address; addresses are small numbers.
    Table(Vec<Option<Route>>),
}

impl Default for Routes {
    fn default() -> Self {
        Self::Table(Vec::new())
    }
}

impl Routes {
    /// Adds or replaces the route of an address. Panics on `OneWay`.
    pub fn set(&mut self, addr: Addr, route: Route) {
        let Self::Table(routes) = self else { panic!("a route beside the only one") };
        if routes.len() <= addr.index() {
            routes.resize(addr.index() + 1, None);
        }
        routes[addr.index()] = Some(route);
    }

    /// The route of an address. `None` if there is no route.
    #[inline]
    pub fn get(&self, addr: Addr) -> Option<Route> {
        match self {
            Self::OneWay { own, others } => {
                Some(if addr.index() == own.index() { Route::Local } else { *others })
            }
            Self::Table(routes) => routes.get(addr.index()).copied().flatten(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn via(i: u16, p: u16) -> Route {
        Route::Via(IfId(i), PeerId(p))
    }

    #[test]
    fn routes_are_found_replaced_and_missed() {
        let mut r = Routes::default();
        r.set(Addr(3), Route::Local);
        r.set(Addr(1), via(2, 4));
        r.set(Addr(3), via(0, 0));
        let got = [0, 1, 2, 3, 4].map(|n| r.get(Addr(n)));
        assert_eq!(got, [None, Some(via(2, 4)), None, Some(via(0, 0)), None]);
    }

    #[test]
    fn the_default_route_covers_all_other_addresses() {
        let r = Routes::OneWay { own: Addr(1), others: via(7, 2) };
        let got = [0, 1, 2, 999].map(|n| r.get(Addr(n)));
        assert_eq!(got, [via(7, 2), Route::Local, via(7, 2), via(7, 2)].map(Some));
    }
}
