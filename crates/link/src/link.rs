//! A link: the simulated network of one path, advanced by its caller.

use std::time::Duration;

use stillair_model::types::{Addr, IfId, Instant, Seed, linear_truesize};
use stillair_sim::recorder::{RunSummary, SojournReport};
use stillair_sim::world::{Entering, Left};

use crate::datagram::{Endpoint, Mark, Packet, Payload, Poll, Sent, Way};
use crate::error::{LinkError, SendError, TimeError};
use crate::header;
use crate::path::Path;
use crate::pressure::{BackPressure, Pressure};
use crate::session::Driven;

/// A path between endpoints, in virtual time.
#[derive(Debug)]
pub struct Link {
    path: Path,
    session: Driven,
    /// Start of the link's time, in the world's time.
    begin: Instant,
    /// Endpoint per interface.
    endpoints: Vec<Option<Endpoint>>,
    /// Datagrams sent per host.
    sent: Vec<u32>,
    pressure: Pressure,
    /// Endpoints that may send again, in reverse order.
    writable: Vec<Endpoint>,
    /// Buffer for the entering packet.
    entering: Vec<u8>,
    /// The packet delivered last.
    left: Vec<u8>,
}

/// Converts to the world's 64-bit nanoseconds. Later times saturate: they are past any end.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Path {
    /// Creates a link over this path. The same seed and the same calls give the same packets.
    ///
    /// # Errors
    /// The scenario is longer than a network of its size can run.
    pub fn link(&self, seed: u64) -> Result<Link, LinkError> {
        Link::new(self, Seed { seed, run: 0 })
    }
}

impl Link {
    /// Creates a link over the preset of that name. For several links over one preset use [`Path::preset`],
    /// which parses it once.
    ///
    /// # Errors
    /// There is no such preset.
    pub fn preset(name: &str, seed: u64) -> Result<Self, LinkError> {
        Path::preset(name)?.link(seed)
    }

    pub(crate) fn new(path: &Path, seed: Seed) -> Result<Self, LinkError> {
        let session = Driven::new(path, seed).map_err(LinkError::Run)?;
        let begin = Instant::ZERO + path.scenario.warm_up;
        let most = path.ends.iter().map(|end| usize::from(end.interface) + 1).max().unwrap_or(0);
        let mut endpoints = vec![None; most];
        for (n, end) in path.ends.iter().enumerate() {
            endpoints[usize::from(end.interface)] = Some(Endpoint(n as u32));
        }
        Ok(Self {
            path: path.clone(),
            session,
            begin,
            endpoints,
            sent: vec![0; path.ends.len()],
            pressure: Pressure::default(),
            writable: Vec::new(),
            entering: Vec::with_capacity(path.mtu()),
            left: Vec::with_capacity(path.mtu()),
        })
    }

    /// Gives an endpoint one socket with limited memory. Without this call, the endpoint's host accepts any
    /// number of packets.
    ///
    /// # Panics
    /// If the link has no such endpoint, or has been used: packets sent before were not charged.
    pub fn with_back_pressure(mut self, endpoint: Endpoint, limits: BackPressure) -> Self {
        assert!(self.set_back_pressure(endpoint, limits), "no such endpoint, or the link has been used");
        self
    }

    /// As [`Link::with_back_pressure`], in place. Returns false and changes nothing where that function
    /// panics.
    pub fn set_back_pressure(&mut self, endpoint: Endpoint, limits: BackPressure) -> bool {
        let may = (endpoint.0 as usize) < self.path.ends.len() && self.session.now() == Instant::ZERO;
        if may {
            self.pressure.limit(endpoint.0, limits);
        }
        may
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the endpoint of that name.
    ///
    /// # Errors
    /// There is no such endpoint; the message lists those of the link.
    pub fn endpoint(&self, name: &str) -> Result<Endpoint, LinkError> {
        self.path.endpoint(name)
    }

    /// The link's time: the duration since it began.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.session.now().nanos().saturating_sub(self.begin.nanos()))
    }

    /// End of the link: the scenario's `duration`, or 1,000,000 s if it has none.
    pub fn end(&self) -> Duration {
        self.since(self.session.end())
    }

    /// Packet memory in bytes below the socket of an endpoint with back pressure; `None` without back
    /// pressure.
    pub fn below(&self, endpoint: Endpoint) -> Option<u32> {
        self.pressure.below(endpoint.0)
    }

    fn since(&self, at: Instant) -> Duration {
        Duration::from_nanos(at.nanos() - self.begin.nanos())
    }

    /// Converts a time of the link to the world's, which must not be before the current time of either.
    fn instant(&self, now: Duration) -> Result<Instant, TimeError> {
        if now < self.now() {
            return Err(TimeError::Backwards(now, self.now()));
        }
        Ok(Instant::from_nanos(self.begin.nanos().saturating_add(nanos(now))))
    }

    /// Sends a datagram; the link adds UDP and IPv4 headers. Packets that arrive before `now` and have not
    /// been polled are kept for the next poll.
    ///
    /// # Errors
    /// The time is invalid, the datagram is too long or has no route, its mark is out of range, or its
    /// socket is full. Apart from its time, the link does not change.
    pub fn send<'p>(
        &mut self,
        now: Duration,
        way: Way,
        payload: impl Into<Payload<'p>>,
        mark: Mark,
    ) -> Result<Sent, SendError> {
        let payload = payload.into();
        let at = self.instant(now)?;
        if at >= self.session.end() {
            return Err(TimeError::Ended(self.end()).into());
        }
        let (from, to) = (way.from.0 as usize, way.to.0 as usize);
        let (Some(a), Some(b), true) = (self.path.ends.get(from), self.path.ends.get(to), from != to) else {
            return Err(SendError::Way(way.from.0, way.to.0));
        };
        let (bytes, most) = (payload.len(), self.path.max_payload());
        if bytes > most {
            return Err(SendError::TooLong { bytes, most });
        }
        if mark.ecn > 3 || mark.dscp > 63 {
            return Err(SendError::Mark(mark.ecn, mark.dscp));
        }
        let tos = mark.dscp << 2 | mark.ecn;
        let ips = [a.address, b.address];
        let (at_interface, to_interface, host) = (a.interface, b.interface, a.host as usize);
        header::write(&mut self.entering, ips, way.ports, tos, payload);
        self.session.advance_through(at);
        self.take_ended();
        if !self.pressure.admit(way.from.0) {
            return Err(SendError::Full);
        }
        let truesize = linear_truesize(self.entering.len() as u32);
        let flow_hash = stillair_ip::parse(&self.entering).map_or(0, |view| view.flow_hash());
        let packet = Entering {
            at: IfId(at_interface),
            bytes: &self.entering,
            src: Addr(at_interface),
            dst: Addr(to_interface),
            flow_hash,
            tos,
            ttl: header::TTL,
            truesize,
            token: self.pressure.charge(way.from.0, truesize),
        };
        let queue = self.session.enter(&packet).unwrap_or_else(|refused| {
            unreachable!("its length, its addresses and its token were made here: {refused}")
        });
        self.session.put_through();
        self.take_ended();
        // The world assigns the same numbers.
        let number = self.sent[host].wrapping_add(1);
        self.sent[host] = number;
        Ok(Sent { number, queue })
    }

    /// Advances to `until`, or to an earlier arrival of a packet, or to the time at which a full socket has
    /// room again. The link never advances past its end.
    ///
    /// # Errors
    /// `until` is before the link's time.
    pub fn poll(&mut self, until: Duration) -> Result<Poll, TimeError> {
        let until = self.instant(until)?.min(self.session.end());
        loop {
            if let Some(endpoint) = self.writable.pop() {
                return Ok(Poll::Writable(endpoint));
            }
            if let Some(left) = self.session.left(&mut self.left) {
                if let Some(packet) = self.packet(&left) {
                    return Ok(Poll::Packet(packet));
                }
                continue;
            }
            match self.session.next_event() {
                Some(next) if next <= until && next < self.session.end() => {
                    self.session.advance_through(next);
                    self.take_ended();
                }
                next => {
                    self.session.advance_through(until);
                    let next = next.filter(|&next| next < self.session.end());
                    return Ok(Poll::Wait(next.map(|next| self.since(next))));
                }
            }
        }
    }

    /// Payload of the last packet returned by [`Link::poll`].
    pub fn payload(&self) -> &[u8] {
        self.left.get(header::BYTES..).unwrap_or_default()
    }

    /// The last IPv4 packet returned by [`Link::poll`], with its headers, as it arrived.
    pub fn packet_bytes(&self) -> &[u8] {
        &self.left
    }

    fn packet(&self, left: &Left) -> Option<Packet> {
        let end = |at: u16| self.endpoints.get(usize::from(at)).copied().flatten();
        Some(Packet {
            at: self.since(left.since),
            sent: self.since(left.sent),
            from: end(left.src.0)?,
            to: end(left.at.0)?,
            ports: header::ports(&self.left),
            number: left.number,
            len: self.left.len() - header::BYTES,
            ecn: left.tos & 3,
            dscp: left.tos >> 2,
            together: left.together,
        })
    }

    /// Processes charges that have ended, if an endpoint has back pressure.
    fn take_ended(&mut self) {
        if !self.pressure.is_on() {
            return;
        }
        while let Some(token) = self.session.ended() {
            if let Some(endpoint) = self.pressure.end(token) {
                self.writable.insert(0, Endpoint(endpoint));
            }
        }
    }

    /// Ends the link, checks its accounting and returns its statistics. `hosts` has delays and losses of
    /// each endpoint's packets, `drops` the drops by place and reason, `stations` and `air` have aggregates
    /// and airtime. Drops, airtime and packet counts cover the whole run, including the warm-up.
    ///
    /// # Errors
    /// The accounting does not balance, which is a bug in this library.
    pub fn finish(self) -> Result<RunSummary, LinkError> {
        self.finish_followed().map(|(summary, _)| summary)
    }

    /// As [`Link::finish`]. If the scenario has `[record] sojourn = true`, also returns packet delays by
    /// layer and cause, in ns, by station and direction and by flow.
    ///
    /// # Errors
    /// As for [`Link::finish`].
    pub fn finish_followed(self) -> Result<(RunSummary, Option<SojournReport>), LinkError> {
        let report = self.session.finish().map_err(LinkError::Run)?;
        Ok((report.summary, report.sojourn))
    }
}
