//! A browser that loads one page repeatedly: a DNS lookup, the page's list of objects, then the objects over
//! several connections.
//!
//! This is only the client's state machine. The owner of its sockets reports received data and performs the
//! actions.

use crate::types::{Duration, Instant};
use alloc::vec::Vec;

/// Maximum number of concurrent connections of a client.
pub const WORKERS: usize = 4;

/// Length in bytes of a DNS query for a host name of 15 letters.
// spec: rfc1035 4.1 - a 12-byte header, the name as labels with its terminator, type and class.
pub const QUERY_PAYLOAD: u32 = 12 + 17 + 4;

/// Time after which an unanswered DNS query is repeated.
// linux: resolv.conf(5) - a resolver waits 5 s.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// The parts of a page, in bytes of the stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// A request.
    pub request: u32,
    /// The header of a response.
    pub header: u32,
    /// The list of the page's objects.
    pub list: u32,
    /// The objects, in the order of the list.
    pub objects: Vec<u32>,
}

/// Schedule of the loads.
#[derive(Clone, Copy, Debug)]
pub struct WebParams {
    /// Start of the first load.
    pub start: Instant,
    /// No load starts from this time on.
    pub stop: Instant,
    /// Minimum time between the starts of two loads.
    pub interval: Duration,
}

/// Action requested by the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WebAction {
    /// Look up the name.
    LookUp,
    /// Connect this worker, then request a response of this many bytes.
    Connect(usize, u32),
    /// Request a response of this many bytes on this worker's idle connection.
    Ask(usize, u32),
    /// The page is complete, with this load time: close all connections.
    Done(Duration),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Idle until the next load starts at this time.
    Idle(Instant),
    /// Waiting for a DNS answer until this time.
    LooksUp(Instant),
    /// Waiting for the list.
    Lists,
    /// Waiting for this many objects.
    Loads(usize),
}

/// State of the client.
#[derive(Debug)]
pub struct Web {
    page: Page,
    params: WebParams,
    state: State,
    began: Instant,
    asked: usize,
}

impl Web {
    /// Creates a client.
    ///
    /// Panics if the page has no objects.
    pub fn new(page: Page, params: WebParams) -> Self {
        assert!(!page.objects.is_empty(), "a page has objects");
        Self { page, state: State::Idle(params.start), params, began: params.start, asked: 0 }
    }

    /// The page that the client loads.
    pub fn page(&self) -> &Page {
        &self.page
    }

    /// When to call [`Web::on_timer`].
    pub fn next_timer(&self) -> Option<Instant> {
        match self.state {
            State::Idle(at) => (at < self.params.stop).then_some(at),
            State::LooksUp(until) => Some(until),
            State::Lists | State::Loads(_) => None,
        }
    }

    /// Handles the start of a load, or a lookup timeout.
    pub fn on_timer(&mut self, now: Instant) -> WebAction {
        if let State::Idle(_) = self.state {
            self.began = now;
        }
        self.state = State::LooksUp(now + LOOKUP_TIMEOUT);
        WebAction::LookUp
    }

    /// Handles a DNS answer. After a repeated query, two answers may arrive.
    pub fn looked_up(&mut self) -> Option<WebAction> {
        let State::LooksUp(_) = self.state else { return None };
        self.state = State::Lists;
        Some(WebAction::Connect(0, self.page.header + self.page.list))
    }

    /// Handles the complete response of a worker. Calls `act` with each action in order.
    // deviation: one lookup per load - curl looks the name up for every handle, and finds it in its cache.
    pub fn answered(&mut self, now: Instant, worker: usize, mut act: impl FnMut(WebAction)) {
        match self.state {
            State::Lists => {
                debug_assert_eq!(worker, 0);
                self.state = State::Loads(self.page.objects.len());
                self.asked = 0;
                act(WebAction::Ask(0, self.next_object().expect("a page has objects")));
                for worker in 1..WORKERS {
                    if let Some(bytes) = self.next_object() {
                        act(WebAction::Connect(worker, bytes));
                    }
                }
            }
            State::Loads(1) => {
                self.state = State::Idle(now.max(self.began + self.params.interval));
                act(WebAction::Done(now - self.began));
            }
            State::Loads(left) => {
                self.state = State::Loads(left - 1);
                if let Some(bytes) = self.next_object() {
                    act(WebAction::Ask(worker, bytes));
                }
            }
            State::Idle(_) | State::LooksUp(_) => {}
        }
    }

    /// Size of the next object's response, if any object is left to request.
    fn next_object(&mut self) -> Option<u32> {
        let bytes = self.page.objects.get(self.asked)?;
        self.asked += 1;
        Some(self.page.header + bytes)
    }

    /// Start of the current load. `None` if idle.
    pub fn under_way(&self) -> Option<Instant> {
        (!matches!(self.state, State::Idle(_))).then_some(self.began)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    fn client(objects: &[u32]) -> Web {
        let page = Page { request: 100, header: 10, list: 50, objects: objects.to_vec() };
        let params = WebParams { start: ms(5), stop: ms(900), interval: Duration::from_millis(200) };
        Web::new(page, params)
    }

    fn answered(web: &mut Web, at: u64, worker: usize) -> Vec<WebAction> {
        let mut said = Vec::new();
        web.answered(ms(at), worker, |action| said.push(action));
        said
    }

    #[test]
    fn a_name_a_list_and_objects_in_order() {
        use WebAction::{Ask, Connect, Done, LookUp};
        let mut web = client(&[1, 2, 3, 4, 5, 6]);
        assert_eq!((web.next_timer(), web.under_way()), (Some(ms(5)), None));
        assert_eq!(web.on_timer(ms(5)), LookUp);
        assert_eq!(web.looked_up(), Some(Connect(0, 60)));
        // The answer to a repeated query is ignored.
        assert_eq!((web.looked_up(), web.next_timer(), web.under_way()), (None, None, Some(ms(5))));
        assert_eq!(answered(&mut web, 30, 0), [Ask(0, 11), Connect(1, 12), Connect(2, 13), Connect(3, 14)]);
        // An idle worker requests the next object.
        assert_eq!(answered(&mut web, 40, 2), [Ask(2, 15)]);
        assert_eq!(answered(&mut web, 41, 0), [Ask(0, 16)]);
        assert_eq!([1, 3, 0].map(|worker| answered(&mut web, 42, worker)), [[], [], []]);
        assert_eq!(answered(&mut web, 65, 2), [Done(Duration::from_millis(60))]);
        // At least one interval after the last start.
        assert_eq!(web.next_timer(), Some(ms(205)));
    }

    #[test]
    fn fewer_objects_than_workers_and_a_slow_load() {
        let mut web = client(&[7, 8]);
        web.on_timer(ms(5));
        web.looked_up();
        assert_eq!(answered(&mut web, 400, 0), [WebAction::Ask(0, 17), WebAction::Connect(1, 18)]);
        assert_eq!(answered(&mut web, 410, 1), []);
        assert_eq!(answered(&mut web, 600, 0), [WebAction::Done(Duration::from_millis(595))]);
        // The interval has passed: load immediately. Late responses are ignored.
        assert_eq!((web.next_timer(), answered(&mut web, 601, 1)), (Some(ms(600)), Vec::new()));
        web.on_timer(ms(600));
        web.looked_up();
        answered(&mut web, 700, 0);
        answered(&mut web, 800, 0);
        answered(&mut web, 1_000, 1);
        assert_eq!(web.next_timer(), None, "nothing begins after the stop");
    }

    #[test]
    fn a_lost_lookup_is_repeated() {
        let mut web = client(&[7]);
        web.on_timer(ms(5));
        assert_eq!(web.next_timer(), Some(ms(5_005)));
        assert_eq!(web.on_timer(ms(5_005)), WebAction::LookUp);
        assert_eq!((web.under_way(), web.next_timer()), (Some(ms(5)), Some(ms(10_005))));
    }
}
