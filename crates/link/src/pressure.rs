//! Socket memory of a sending host: the memory in use below the socket, and when there is room again.

use stillair_model::types::linear_truesize;

/// Limits of an endpoint with one socket, in packet memory (`sk_wmem_alloc`). A packet is charged from the
/// socket until the device reports its transmission, or a queue drops it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BackPressure {
    /// Bytes below the socket at which further datagrams are refused.
    pub limit: u32,
    /// Bytes below the socket under which a refused endpoint may send again.
    pub resume: u32,
}

impl BackPressure {
    /// A socket with a send buffer of this many bytes (`SO_SNDBUF` as the kernel counts it, twice the
    /// requested value; the Linux default is 212,992).
    // linux: net/core/sock.c sock_alloc_send_pskb, include/net/sock.h sock_writeable (6.12) - full at the
    // buffer size, writable below half of it.
    pub const fn send_buffer(bytes: u32) -> Self {
        Self { limit: bytes, resume: bytes / 2 }
    }

    /// A limit like that of TCP small queues: `bytes` is about a millisecond at the socket's pacing rate,
    /// and at least two packets.
    // linux: net/ipv4/tcp_output.c tcp_small_queue_check, tcp_wfree (6.12) - throttle above the limit,
    // resume at the next TX completion.
    pub const fn small_queues(bytes: u32) -> Self {
        let least = 2 * linear_truesize(1_500);
        let limit = if bytes > least { bytes } else { least };
        Self { limit, resume: limit }
    }
}

/// A packet whose charge has not ended.
#[derive(Clone, Copy, Debug)]
struct Charge {
    endpoint: u32,
    truesize: u32,
}

/// Memory in use by an endpoint.
#[derive(Clone, Copy, Debug)]
struct Account {
    limits: BackPressure,
    below: u32,
    /// True if a datagram was refused and the endpoint has not been notified since.
    waits: bool,
}

/// Accounts of all endpoints with a limit.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    accounts: Vec<Option<Account>>,
    /// Charges by token.
    charges: Vec<Charge>,
    free: Vec<u32>,
}

impl Pressure {
    /// Gives an endpoint a limit.
    pub(crate) fn limit(&mut self, endpoint: u32, limits: BackPressure) {
        let at = endpoint as usize;
        if self.accounts.len() <= at {
            self.accounts.resize(at + 1, None);
        }
        self.accounts[at] = Some(Account { limits, below: 0, waits: false });
    }

    /// Returns true if any endpoint has a limit.
    pub(crate) fn is_on(&self) -> bool {
        !self.accounts.is_empty()
    }

    fn account(&mut self, endpoint: u32) -> Option<&mut Account> {
        self.accounts.get_mut(endpoint as usize)?.as_mut()
    }

    /// Bytes below an endpoint's socket; `None` without a limit.
    pub(crate) fn below(&self, endpoint: u32) -> Option<u32> {
        self.accounts.get(endpoint as usize).copied().flatten().map(|account| account.below)
    }

    /// Returns true if an endpoint may send. If not, `end` reports when it may.
    pub(crate) fn admit(&mut self, endpoint: u32) -> bool {
        self.account(endpoint).is_none_or(|account| {
            account.waits |= account.below >= account.limits.limit;
            account.below < account.limits.limit
        })
    }

    /// Charges a packet and returns its token; `None` without a limit.
    pub(crate) fn charge(&mut self, endpoint: u32, truesize: u32) -> Option<u32> {
        let account = self.account(endpoint)?;
        account.below += truesize;
        let charge = Charge { endpoint, truesize };
        Some(match self.free.pop() {
            Some(token) => {
                self.charges[token as usize] = charge;
                token
            }
            None => {
                self.charges.push(charge);
                self.charges.len() as u32 - 1
            }
        })
    }

    /// Ends the charge of a token. Returns the endpoint if it was refused and has room again.
    pub(crate) fn end(&mut self, token: u32) -> Option<u32> {
        let Charge { endpoint, truesize } = self.charges[token as usize];
        self.free.push(token);
        let account = self.account(endpoint)?;
        account.below -= truesize;
        let told = account.waits && account.below < account.limits.resume;
        account.waits &= !told;
        told.then_some(endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_full_at_its_buffer_and_writable_below_half() {
        let mut pressure = Pressure::default();
        pressure.limit(1, BackPressure::send_buffer(4_000));
        // No other endpoint has a limit.
        assert_eq!((pressure.charge(0, 9), pressure.admit(0), pressure.below(7)), (None, true, None));
        let tokens: Vec<u32> = (0..4).map(|_| pressure.charge(1, 1_000).expect("a token")).collect();
        assert_eq!((tokens.as_slice(), pressure.admit(1)), (&[0, 1, 2, 3][..], false));
        let told: Vec<_> = [2, 0, 1, 3].map(|token| pressure.end(token)).into();
        assert_eq!((told.as_slice(), pressure.below(1)), (&[None, None, Some(1), None][..], Some(0)));
        // Tokens are reused, the last one first.
        assert_eq!((pressure.charge(1, 5), pressure.admit(1)), (Some(3), true));
    }

    #[test]
    fn small_queues_allow_at_least_two_packets() {
        let limits = BackPressure::small_queues(1);
        assert_eq!(
            limits,
            BackPressure { limit: 2 * linear_truesize(1_500), resume: 2 * linear_truesize(1_500) }
        );
        assert_eq!(BackPressure::small_queues(100_000).limit, 100_000);
    }
}
