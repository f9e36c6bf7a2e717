//! The stack of a QUIC flow: the model, or quinn with its options.

use serde_json::Value as Json;
use stillair_model::transport::quic::handshake::HandshakeParams;
use stillair_model::types::Duration;
use stillair_scenario_derive::Section;

use super::super::super::description::ValueType;
use super::super::super::error::Diagnostics;
use super::super::super::quinn::{AckFrequency, Crypto, QuicStack, QuinnControl, QuinnOptions};
use super::super::super::units;
use super::super::domain::{Bytes, Choice, Flag, Inner, Int, bytes_text, named, quantity};
use super::super::{Key, Place, Resolved};

named!(QuinnControl { Cubic = "cubic", NewReno = "newreno", Bbr = "bbr", Model = "model" });
named!(Crypto { Null = "null", Tls = "tls" });

/// UDP payload of a full packet before path MTU discovery.
// spec: rfc9000 14 - the minimum that a QUIC path must carry.
const LEAST_PACKET: u16 = 1_200;

/// Size in bytes of a ServerHello, identical in both crates.
const SERVER_HELLO: u32 = 90;

/// Options of quinn.
#[derive(Section, Clone, Debug, Default)]
#[section(params = QuinnOptions, base = PLAIN)]
pub struct Quinn {
    /// quinn's CUBIC, NewReno or BBR, or the window of the model with `preset` and parts of the flow
    #[key(to = congestion_control)]
    pub congestion_control: Key<Choice<QuinnControl>>,
    /// first congestion window
    #[key(to = initial_window, or = "the default of the congestion control")]
    pub initial_window: Key<FirstWindow>,
    /// packets are spread over the round trip
    #[key(to = pacing)]
    pub pacing: Key<Flag>,
    /// how often the sender of data asks the receiver to acknowledge
    #[key(to = ack_frequency, or = "not asked for")]
    pub ack_frequency: Key<Inner<Acks>>,
    /// UDP payload of a full packet
    #[key(to = packet, or = "1200 B, and more by probes")]
    pub packet: Key<Packet>,
    /// what may be sent on a stream ahead of its reader
    #[key(to = stream_window, or = "1250000 B")]
    pub stream_window: Key<Bytes<{ 1 << 14 }, { 1 << 28 }>>,
    /// and on the connection
    #[key(to = connection_window, or = "no limit")]
    pub connection_window: Key<Bytes<{ 1 << 14 }, { 1 << 28 }>>,
    /// streams that a client may have open; others wait for these to end
    #[key(to = streams)]
    pub streams: Key<Int<1, 100_000>>,
    /// packets of the same sizes without encryption, or TLS 1.3, which takes more time and makes one datagram
    /// of the handshake up to 16 bytes longer or shorter
    #[key(to = crypto)]
    pub crypto: Key<Choice<Crypto>>,
    /// the server's part of the handshake after its hello; more than three datagrams cost a round trip
    #[key(to = certificates)]
    pub server_handshake: Key<Bytes<700, { 1 << 16 }>>,
}

/// The extension by which a sender says when it wants acknowledgements (draft-ietf-quic-ack-frequency).
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Acknowledgements of quinn",
    expected = "a table with every, max_delay and reordering",
    params = AckFrequency,
    base = AckFrequency { every: 10, max_delay: None, reordering: 1 }
)]
pub struct Acks {
    /// packets that one acknowledgement is for
    #[key(to = every)]
    pub every: Key<Int<1, 1_000>>,
    /// longest delay of an acknowledgement
    #[key(to = max_delay, or = "the receiver's own, 25 ms")]
    pub max_delay: Key<MaxDelay>,
    /// packets out of order that are acknowledged at once: 1 means any, 0 none
    #[key(to = reordering)]
    pub reordering: Key<Int<0, 1_000>>,
}

kinds! {
    /// What speaks QUIC at both ends.
    pub struct Stack: Quinn => QuinnOptions {
        /// The model of Chromium's QUIC, whose parts are keys of the flow.
        "model": "Stack model",
        /// quinn-proto 0.11.19 in virtual time, at both ends, with its defaults unless stated. It ignores the
        /// flow's parts of the model, except a congestion control of the model.
        "quinn": "Stack quinn" = PLAIN,
    }
}

quantity! {
    /// An initial congestion window.
    FirstWindow: u64 = ValueType::BytesFor(2 * LEAST_PACKET as u32, 1 << 24, "two packets: with less quinn can wait for good"),
        "_bytes", bytes_text;
    /// UDP payload of a full packet.
    Packet: u16 = ValueType::Bytes(LEAST_PACKET as u32, 1_452), "_bytes", bytes_text;
    /// Maximum acknowledgement delay.
    MaxDelay: Duration = ValueType::Times { least: "1 ms", most: Some("1 s"), why: "quinn takes at most 25 ms or a round trip" },
        "_ns", units::duration_text;
}

const PLAIN: QuinnOptions = QuinnOptions {
    congestion_control: QuinnControl::Cubic,
    #[cfg(feature = "quinn")]
    custom: None,
    initial_window: None,
    pacing: true,
    ack_frequency: None,
    packet: None,
    stream_window: None,
    connection_window: None,
    streams: 100,
    crypto: Crypto::Null,
    // The model's TLS handshake without the ServerHello.
    certificates: HandshakeParams::TLS.messages[1] - SERVER_HELLO,
};

impl Stack {
    /// Returns the stack at `at`. Errors are added to `faults`.
    pub(in super::super::super) fn stack(&self, at: &Place, faults: &mut Diagnostics) -> QuicStack {
        let Some(params) = self.params() else { return QuicStack::Model };
        if !cfg!(feature = "quinn") {
            without(at, "quinn", "\"model\"", faults);
        }
        if let Key::Given(Crypto::Tls, at) = &self.options.crypto
            && !cfg!(feature = "tls")
        {
            without(at, "tls", "\"null\"", faults);
        }
        if let Key::Given(window, at) = &self.options.initial_window {
            two_packets(at, *window, params.packet, faults);
        }
        QuicStack::Quinn(params)
    }

    /// Returns the resolved scenario's table.
    pub(in super::super::super) fn resolved(q: &QuinnOptions) -> Json {
        let mut keys = super::super::resolved::<Quinn, _>(q);
        keys.insert("kind".to_owned(), "quinn".into());
        #[cfg(feature = "quinn")]
        if q.custom.is_some() {
            keys.insert("congestion_control".to_owned(), "a program's own".into());
        }
        keys.into()
    }
}

/// Rejects a value that requires a feature missing from this build.
fn without(at: &Place, feature: &str, expected: &str, faults: &mut Diagnostics) {
    let found =
        format!("what this program was built without (feature {feature:?} of the crate stillair-sim)");
    faults.add(at.found(found, expected));
}

/// Rejects an initial window smaller than two packets.
// spec: rfc9002 7.2 - the minimum window. quinn starts a datagram only if the window exceeds it plus the
// bytes in flight (quinn-proto 0.11.19 Connection::poll_transmit), so a smaller window blocks the rest of the
// handshake.
// of a handshake.
pub(in super::super::super) fn two_packets(
    at: &Place,
    window: u64,
    packet: Option<u16>,
    faults: &mut Diagnostics,
) {
    let least = 2 * u64::from(packet.unwrap_or(LEAST_PACKET));
    if window < least {
        faults
            .add(at.wrong(format!("at least {least} bytes, two packets: with less quinn can wait for good")));
    }
}

impl From<Acks> for Option<AckFrequency> {
    fn from(own: Acks) -> Self {
        Some(own.applied())
    }
}

impl Resolved for AckFrequency {
    fn json(&self) -> Json {
        super::super::resolved::<Acks, _>(self).into()
    }
}

#[cfg(all(test, feature = "quinn"))]
mod tests {
    use super::*;

    #[test]
    fn server_hello_size_matches_stack() {
        assert_eq!(stillair_quinn::SimNull::TLS.server_hello, SERVER_HELLO);
        assert_eq!(stillair_quinn::SimNull::TLS.certificates, PLAIN.certificates);
    }
}
