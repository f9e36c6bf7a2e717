//! Socket memory of a sending host: how much of it is in use below the socket, and when there is room again.

use stillair_model::types::linear_truesize;

/// The limit of an endpoint with one socket. It counts the memory of packets (`sk_wmem_alloc`) from the
/// socket until the device has reported their transmission, or a queue has dropped them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BackPressure {
    /// With this many bytes below the socket, further datagrams are refused.
    pub limit: u32,
    /// Below this many bytes, a refused endpoint may send again.
    pub resume: u32,
}

impl BackPressure {
    /// A socket with a send buffer of this many bytes (`SO_SNDBUF` as the kernel counts it, twice the
    /// requested value; Linux's default is 212,992).
    // linux: net/core/sock.c sock_alloc_send_pskb, include/net/sock.h sock_writeable (6.12) - full at the
    // buffer, writable below half of it.
    pub const fn send_buffer(bytes: u32) -> Self {
        Self { limit: bytes, resume: bytes / 2 }
    }

    /// A limit like that of TCP small queues: `bytes` is about a millisecond at the socket's pacing rate, and
    /// at least two packets.
    // linux: net/ipv4/tcp_output.c tcp_small_queue_check, tcp_wfree (6.12) - throttled above the limit, woken
    // by the next packet that ends.
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

/// What an endpoint has below.
#[derive(Clone, Copy, Debug)]
struct Account {
    limits: BackPressure,
    below: u32,
    /// It was refused something, and not told yet that there is room.
    waits: bool,
}

/// The accounts of all endpoints that have one.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    accounts: Vec<Option<Account>>,
    /// By token.
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

    /// Whether any endpoint has one.
    pub(crate) fn is_on(&self) -> bool {
        !self.accounts.is_empty()
    }

    fn account(&mut self, endpoint: u32) -> Option<&mut Account> {
        self.accounts.get_mut(endpoint as usize)?.as_mut()
    }

    /// Bytes of an endpoint that are below; none of one without a limit.
    pub(crate) fn below(&self, endpoint: u32) -> Option<u32> {
        self.accounts.get(endpoint as usize).copied().flatten().map(|account| account.below)
    }

    /// Whether an endpoint may send; if not, it will be told.
    pub(crate) fn admit(&mut self, endpoint: u32) -> bool {
        self.account(endpoint).is_none_or(|account| {
            account.waits |= account.below >= account.limits.limit;
            account.below < account.limits.limit
        })
    }

    /// The token of a packet that is sent; none of an endpoint without a limit.
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

    /// The charge of a token has ended. The endpoint, if it waited and there is room now.
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
        // Nobody else has a limit.
        assert_eq!((pressure.charge(0, 9), pressure.admit(0), pressure.below(7)), (None, true, None));
        let tokens: Vec<u32> = (0..4).map(|_| pressure.charge(1, 1_000).expect("a token")).collect();
        assert_eq!((tokens.as_slice(), pressure.admit(1)), (&[0, 1, 2, 3][..], false));
        let told: Vec<_> = [2, 0, 1, 3].map(|token| pressure.end(token)).into();
        assert_eq!((told.as_slice(), pressure.below(1)), (&[None, None, Some(1), None][..], Some(0)));
        // Tokens are used again, the last first.
        assert_eq!((pressure.charge(1, 5), pressure.admit(1)), (Some(3), true));
    }

    #[test]
    fn small_queues_hold_two_packets_at_least() {
        let limits = BackPressure::small_queues(1);
        assert_eq!(
            limits,
            BackPressure { limit: 2 * linear_truesize(1_500), resume: 2 * linear_truesize(1_500) }
        );
        assert_eq!(BackPressure::small_queues(100_000).limit, 100_000);
    }
}
