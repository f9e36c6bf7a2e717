//! The stack of a QUIC flow: the model, or quinn with its options.

use stillair_model::transport::quic::handshake::HandshakeParams;

use super::super::contract::{Form, Key, Shape};
use super::super::error::Fault;
use super::super::quinn::{AckFrequency, Crypto, QuicStack, QuinnControl, QuinnOptions};
use super::super::reader::{Field, Section};

const CONTROLS: [&str; 4] = ["cubic", "newreno", "bbr", "model"];
const BY_CONTROL: &str = "the default of the congestion control";

/// UDP payload of a full packet, until probes have found that more comes through.
// spec: rfc9000 14 - no path of QUIC carries less.
const LEAST_PACKET: u16 = 1_200;

static MODEL: Shape = Shape {
    title: "Stack model",
    about: "The model of Chromium's QUIC, whose parts are keys of the flow.",
    groups: &[&[Key::tag("kind", "model")]],
};

static QUINN: Shape = Shape {
    title: "Stack quinn",
    about: "quinn-proto 0.11.19 in virtual time, at both ends, as it comes where nothing is said. The flow's parts are the \
            model's and mean nothing to it, but for a congestion control of the model.",
    groups: &[&[
        Key::tag("kind", "quinn"),
        Key::or(
            "congestion_control",
            Form::Choice(&CONTROLS),
            "cubic",
            "quinn's CUBIC, NewReno or BBR, or the window of the model with `preset` and parts of the flow",
        ),
        Key::open(
            "initial_window",
            Form::BytesFor(
                2 * LEAST_PACKET as u32,
                1 << 24,
                "two packets: with less quinn can wait for good",
            ),
            BY_CONTROL,
            "first congestion window",
        ),
        Key::or("pacing", Form::Boolean, "true", "packets are spread over the round trip"),
        Key::open(
            "ack_frequency",
            Form::Table(&ACKS),
            "not asked for",
            "how often the sender of data asks the receiver to acknowledge",
        ),
        Key::open(
            "packet",
            Form::Bytes(LEAST_PACKET as u32, 1_452),
            "1200 B, and more by probes",
            "UDP payload of a full packet",
        ),
        Key::open(
            "stream_window",
            Form::Bytes(1 << 14, 1 << 28),
            "1250000 B",
            "what may be sent on a stream ahead of its reader",
        ),
        Key::open("connection_window", Form::Bytes(1 << 14, 1 << 28), "no limit", "and on the connection"),
        Key::or(
            "streams",
            Form::Integer(1, 100_000),
            "100",
            "streams that a client may have open; others wait for these to end",
        ),
        Key::or(
            "crypto",
            Form::Choice(&["null", "tls"]),
            "null",
            "packets of the same sizes without encryption, or TLS 1.3, which takes more time and makes one datagram of the handshake up to 16 bytes longer or shorter",
        ),
        Key::or(
            "certificates",
            Form::Bytes(700, 1 << 16),
            "4006 B",
            "the server's part of the handshake after its hello; more than three datagrams cost a round trip",
        ),
    ]],
};

static ACKS: Shape = Shape {
    title: "Acknowledgements of quinn",
    about: "The extension by which a sender says when it wants acknowledgements (draft-ietf-quic-ack-frequency).",
    groups: &[&[
        Key::or("every", Form::Integer(1, 1_000), "10", "packets that one acknowledgement is for"),
        Key::open(
            "max_delay",
            Form::Times {
                least: "1 ms",
                most: Some("1 s"),
                why: "quinn takes at most 25 ms or a round trip",
            },
            "the receiver's own, 25 ms",
            "longest delay of an acknowledgement",
        ),
        Key::or(
            "reordering",
            Form::Integer(0, 1_000),
            "1",
            "packets out of order that are acknowledged at once: 1 means any, 0 none",
        ),
    ]],
};

/// What `stack` may be.
pub(super) const FORM: Form = Form::Kinds { shapes: &[&MODEL, &QUINN], bare: true };

/// Reads it.
pub(super) fn read(field: &Field<'_>) -> Result<QuicStack, Fault> {
    let (kind, section) = field.kind()?;
    if kind == "model" {
        section.map_or(Ok(()), Section::finish)?;
        return Ok(QuicStack::Model);
    }
    let options = match section {
        Some(section) => options(section)?,
        None => PLAIN,
    };
    if !cfg!(feature = "quinn") {
        return Err(without(field, "quinn", "\"model\""));
    }
    Ok(QuicStack::Quinn(options))
}

/// This program lacks what `field` asks for.
fn without(field: &Field<'_>, feature: &str, expected: &str) -> Fault {
    field.found(
        format!("what this program was built without (feature {feature:?} of the crate stillair-sim)"),
        expected,
    )
}

/// Of the model's handshake with TLS, what is not the server's hello.
const CERTIFICATES: u32 = HandshakeParams::TLS.messages[1] - SERVER_HELLO;
/// Bytes of a server's hello, which both crates agree on.
const SERVER_HELLO: u32 = 90;

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
    certificates: CERTIFICATES,
};

fn options(mut section: Section<'_>) -> Result<QuinnOptions, Fault> {
    let p = PLAIN;
    let congestion_control = section
        .or_by("congestion_control", p.congestion_control, |field| field.choice(&QuinnControl::ALL))?;
    let initial_window = section.get("initial_window");
    let pacing = section.or("pacing", p.pacing)?;
    let ack_frequency = section.get("ack_frequency").map(|field| acks(&field)).transpose()?;
    let packet = section.find::<u32>("packet")?.map(|bytes| bytes as u16);
    let initial_window = initial_window
        .map(|field| {
            let window = field.value::<u32>()?.into();
            two_packets(&field, window, packet).map(|()| window)
        })
        .transpose()?;
    let stream_window = section.find("stream_window")?;
    let connection_window = section.find("connection_window")?;
    let streams = section.or("streams", p.streams)?;
    let crypto = section.or_by("crypto", p.crypto, |field| {
        let crypto = field.choice(&[("null", Crypto::Null), ("tls", Crypto::Tls)])?;
        let there = crypto == Crypto::Null || cfg!(feature = "tls");
        if there { Ok(crypto) } else { Err(without(field, "tls", "\"null\"")) }
    })?;
    let certificates = section.or("certificates", p.certificates)?;
    section.finish()?;
    Ok(QuinnOptions {
        congestion_control,
        initial_window,
        pacing,
        ack_frequency,
        packet,
        stream_window,
        connection_window,
        streams,
        crypto,
        certificates,
        #[cfg(feature = "quinn")]
        custom: None,
    })
}

/// Refuses a first window that is smaller than two packets.
// spec: rfc9002 7.2 - the least window. quinn begins a datagram only where the window holds more than it and what is in flight
// (quinn-proto 0.11.19 Connection::poll_transmit), and so with less has none for the rest of a handshake.
pub(super) fn two_packets(field: &Field<'_>, window: u64, packet: Option<u16>) -> Result<(), Fault> {
    let least = 2 * u64::from(packet.unwrap_or(LEAST_PACKET));
    if window >= least {
        return Ok(());
    }
    Err(field.wrong(format!("at least {least} bytes, two packets: with less quinn can wait for good")))
}

fn acks(field: &Field<'_>) -> Result<AckFrequency, Fault> {
    let mut section = field.section("a table with every, max_delay and reordering")?;
    let acks = AckFrequency {
        every: section.or("every", 10)?,
        max_delay: section.find("max_delay")?,
        reordering: section.or("reordering", 1)?,
    };
    section.finish()?;
    Ok(acks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_go_by_their_names() {
        assert_eq!(CONTROLS, QuinnControl::ALL.map(|(name, _)| name));
        assert!(QuinnControl::ALL.iter().all(|(name, control)| control.name() == *name));
    }

    /// What the reference calls the default is the default.
    #[test]
    fn certificates_are_as_long_as_the_models() {
        assert_eq!(CERTIFICATES, 4_006);
    }

    #[cfg(feature = "quinn")]
    #[test]
    fn the_hello_is_as_long_as_the_stacks() {
        assert_eq!(stillair_quinn::SimNull::TLS.server_hello, SERVER_HELLO);
        assert_eq!(stillair_quinn::SimNull::TLS.certificates, CERTIFICATES);
    }
}
