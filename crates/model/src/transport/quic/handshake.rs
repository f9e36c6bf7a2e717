//! The handshake: the sequence of messages between the endpoints, with their sizes.

use alloc::vec::Vec;

/// Handshake messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandshakeParams {
    /// Length of each message in bytes, starting with the client's first. The first zero ends the handshake.
    /// A datagram with a client message has no other content and is padded to full size.
    pub messages: [u32; 4],
    /// Index of the message after which the client can send data, whether it sends or receives that message.
    pub client_ready: u8,
    /// Anti-amplification limit: until the client's second message, the server sends at most this multiple of
    /// the bytes received.
    pub amplification: Option<u64>,
}

impl HandshakeParams {
    /// gQUIC to an unknown server: hello, rejection with 4 kB of certificates, hello, answer. The client
    /// waits for the answer, so two round trips.
    // paper: bquic fig. 2 (unstated) - two round trips and 4 kB.
    pub const GQUIC: Self =
        Self { messages: [1_024, 4_096, 1_024, 256], client_ready: 3, amplification: None };
    /// TLS 1.3: one round trip, but a server with 4 kB of certificates must wait for address validation.
    // spec: rfc9000 8.1 - three times the bytes received.
    pub const TLS: Self = Self { messages: [280, 4_096, 36, 0], client_ready: 1, amplification: Some(3) };
}

/// Handshake state of one endpoint.
#[derive(Clone, Debug)]
pub struct QuicHandshake {
    params: HandshakeParams,
    client: bool,
    /// Next message to send, and bytes of it already sent.
    step: u8,
    sent: u32,
    sending: bool,
    /// Next message to receive, and the parts of it already received.
    awaited: u8,
    came: Vec<(u32, u32)>,
    ready: bool,
}

/// A part of a handshake message (CRYPTO frame).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CryptoPart {
    /// Index of the message.
    pub step: u8,
    /// Offset of the part in bytes.
    pub offset: u32,
    /// Length of the part in bytes.
    pub len: u32,
    /// Length of the message in bytes.
    pub of: u32,
}

impl QuicHandshake {
    /// Creates a handshake that has not started.
    pub fn new(params: HandshakeParams, client: bool) -> Self {
        let (step, awaited) = if client { (0, 1) } else { (1, 0) };
        Self { params, client, step, sent: 0, sending: false, awaited, came: Vec::new(), ready: false }
    }

    /// Starts the handshake at the client.
    pub fn begin(&mut self) {
        self.sending = true;
    }

    /// Returns true once application data can be sent.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Returns the server's anti-amplification factor while the limit applies.
    pub fn amplification(&self) -> Option<u64> {
        self.params.amplification.filter(|_| !self.client && self.awaited < 4)
    }

    /// Returns true if part of a message is waiting to be sent.
    pub fn has_data(&self) -> bool {
        self.sending
    }

    /// Returns true if datagrams with this message are padded to full size.
    pub fn pads(step: u8) -> bool {
        step.is_multiple_of(2)
    }

    /// Returns true if all datagrams are padded: at a client without the server's complete message, which
    /// raises the server's amplification limit.
    // spec: rfc9000 14.1.
    pub fn pads_all(&self) -> bool {
        self.client && !self.ready && self.params.amplification.is_some()
    }

    /// Returns true if the server may be blocked on this client: the hello was sent, and the server's message
    /// is incomplete and may exceed the amplification limit.
    pub fn may_hold_up(&self) -> bool {
        self.client && self.step > 0 && self.awaited == 1 && self.params.amplification.is_some()
    }

    /// Returns the next part of a message, at most `room` bytes.
    pub fn next_part(&mut self, room: u32) -> Option<CryptoPart> {
        if !self.sending || room == 0 {
            return None;
        }
        let of = self.params.messages[usize::from(self.step)];
        let part = CryptoPart { step: self.step, offset: self.sent, len: room.min(of - self.sent), of };
        self.sent += part.len;
        if self.sent == of {
            self.ready |= self.client && self.step == self.params.client_ready;
            (self.sending, self.sent, self.step) = (false, 0, self.step + 2);
        }
        Some(part)
    }

    /// Processes a received part of a message.
    pub fn on_part(&mut self, part: CryptoPart) {
        if part.step != self.awaited {
            return;
        }
        let range = (part.offset, part.offset + part.len);
        if self.came.contains(&range) {
            return;
        }
        // Retransmissions keep the original boundaries, so parts never overlap.
        self.came.push(range);
        if self.came.iter().map(|(from, end)| end - from).sum::<u32>() < part.of {
            return;
        }
        self.came.clear();
        self.awaited += 2;
        let own = self.params.messages.get(usize::from(self.step)).copied().unwrap_or(0);
        self.sending = own > 0;
        self.ready |= if self.client { part.step >= self.params.client_ready } else { part.step == 2 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Runs a handshake. Returns the order of messages, and how many each end needed to be ready.
    fn run(params: HandshakeParams) -> (Vec<u8>, [usize; 2]) {
        let (mut client, mut server) = (QuicHandshake::new(params, true), QuicHandshake::new(params, false));
        let (mut steps, mut ready) = (Vec::new(), [0; 2]);
        client.begin();
        for _ in 0..20 {
            let (from, to) =
                if client.has_data() { (&mut client, &mut server) } else { (&mut server, &mut client) };
            let Some(part) = from.next_part(1_300) else { break };
            to.on_part(part);
            if steps.last() != Some(&part.step) {
                steps.push(part.step);
            }
            for (ready, end) in ready.iter_mut().zip([&client, &server]) {
                if end.is_ready() && *ready == 0 {
                    *ready = steps.len();
                }
            }
        }
        (steps, ready)
    }

    #[test]
    fn round_trips() {
        assert_eq!(run(HandshakeParams::GQUIC), (vec![0, 1, 2, 3], [4, 3]));
        // A client that knows the server sends data with its second hello.
        let known = HandshakeParams { client_ready: 2, ..HandshakeParams::GQUIC };
        assert_eq!(run(known), (vec![0, 1, 2, 3], [3, 3]));
        assert_eq!(run(HandshakeParams::TLS), (vec![0, 1, 2], [2, 3]));
    }

    #[test]
    fn parts_in_any_order_and_twice() {
        let mut client = QuicHandshake::new(HandshakeParams::GQUIC, true);
        let part = |offset, len| CryptoPart { step: 1, offset, len, of: 4_096 };
        for p in [part(3_900, 196), part(1_300, 1_300), part(1_300, 1_300), part(0, 1_300)] {
            client.on_part(p);
            assert!(!client.has_data());
        }
        client.on_part(part(2_600, 1_300));
        assert!(client.has_data());
        // The answer to a later message is not expected yet.
        client.on_part(CryptoPart { step: 3, offset: 0, len: 256, of: 256 });
        assert!(client.is_ready());
        // A duplicate message changes nothing.
        client.next_part(1_024);
        client.on_part(part(0, 1_300));
        assert!(!client.has_data());
    }
}
