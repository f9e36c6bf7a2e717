//! A link as the network of s2n-quic's testing provider. At each time step of the provider, it takes the
//! packets sent by the endpoints and delivers those that have arrived.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use s2n_quic::provider::io::testing::network::{Buffers, Packet, PathHandle};
use s2n_quic::provider::io::testing::{Network, spawn, time};
use s2n_quic_core::inet::ExplicitCongestionNotification as Ecn;
use s2n_quic_core::time::Timestamp;
use stillair_link::{Endpoint, Link, Mark, Poll};

/// Resolution of the provider's clock.
const TICK: Duration = Duration::from_micros(1);

/// A link between two s2n-quic endpoints. The one that sends first is the client.
pub struct OverLink {
    link: Rc<RefCell<Link>>,
    client: Endpoint,
    server: Endpoint,
    /// Start of the provider's time, and the two addresses from the client's point of view.
    begun: Option<(Timestamp, PathHandle)>,
    /// Link time of the next scheduled call by the provider, and whether it has happened.
    armed: Option<(Duration, Arc<AtomicBool>)>,
}

impl OverLink {
    /// Connects `client` and `server` of a link. The caller ends the link after the provider has run.
    pub fn new(link: Rc<RefCell<Link>>, client: Endpoint, server: Endpoint) -> Self {
        Self { link, client, server, begun: None, armed: None }
    }

    /// Schedules a call by the provider when the link's next event is due, rounded up to a microsecond.
    fn arm(&mut self, now: Duration, next: Duration) {
        let wait = TICK * (next - now).as_nanos().div_ceil(TICK.as_nanos()).max(1) as u32;
        let armed = self.armed.as_ref();
        if armed.is_none_or(|(at, called)| called.load(Ordering::Relaxed) || *at > now + wait) {
            let called = Arc::new(AtomicBool::new(false));
            self.armed = Some((now + wait, called.clone()));
            // The provider advances to this time and then calls the network.
            spawn(async move {
                time::delay(wait).await;
                called.store(true, Ordering::Relaxed);
            });
        }
    }
}

impl Network for OverLink {
    fn execute(&mut self, buffers: &Buffers) -> usize {
        let (clock, mut count) = (time::now(), 0);
        let (client, server) = (self.client, self.server);
        let link = self.link.clone();
        let mut link = link.borrow_mut();
        let begun = &mut self.begun;
        buffers.drain_pending_transmissions(|packet| {
            let (begin, path) = *begun.get_or_insert((clock, packet.path));
            let way = if packet.path == path { client.to(server) } else { server.to(client) };
            let ports = [packet.path.local_address.port(), packet.path.remote_address.port()];
            let mark = Mark { ecn: packet.ecn as u8, dscp: 0 };
            let now = clock.saturating_duration_since(begin);
            // Drops by the host's own queue count as losses, as for a socket without IP_RECVERR.
            let sent = link.send(now, way.ports(ports[0], ports[1]), &packet.payload, mark);
            sent.unwrap_or_else(|refused| panic!("the link refuses a datagram of s2n-quic: {refused}"));
            count += 1;
            Ok(())
        });
        let Some((begin, path)) = self.begun else { return count };
        let now = clock.saturating_duration_since(begin);
        loop {
            match link.poll(now).expect("time goes on") {
                Poll::Packet(packet) => {
                    let mut to = path;
                    if packet.to == server {
                        to.local_address = path.remote_address.0.into();
                        to.remote_address = path.local_address.0.into();
                    }
                    let (ecn, payload) = (Ecn::new(packet.ecn), link.payload().to_vec());
                    let packet = Packet { path: to, ecn, payload };
                    buffers.rx(to.local_address.0, |queue| queue.enqueue(packet));
                    count += 1;
                }
                Poll::Writable(_) => {}
                Poll::Wait(next) => {
                    if let Some(next) = next {
                        self.arm(now, next);
                    }
                    return count;
                }
            }
        }
    }
}
