//! Tests of responsiveness under working conditions.

use stillair_model::app::{Load, ResponsivenessParams};
use stillair_model::vocabulary::Duration;

use super::super::contract::{Form, Key, Shape};
use super::super::error::Fault;
use super::super::reader::Section;
use super::mark;

const CONNECTIONS: Form = Form::Integer(1, 1_000);

pub(super) static SHAPE: Shape = Shape {
    title: "Flow of kind responsiveness",
    about: "A client at `from` measures round trips per minute (RPM) against a server at `to`, as `networkQuality` and goresponsiveness do \
            (draft-ietf-ippm-responsiveness-09): it adds TCP connections until they carry no more, and times probes beside them. \
            The test ends when the figure has settled, and at `stop` or the end of the run otherwise.",
    groups: &[
        &[Key::tag("kind", "responsiveness")],
        mark::COMMON,
        &[
            Key::or(
                "load",
                Form::Choice(&["down", "up", "both", "none"]),
                "down",
                "what is loaded: downloads, uploads, both at once, or nothing (idle)",
            ),
            Key::or(
                "interval",
                Form::Times { least: "100 ms", most: Some("60 s"), why: "each decides once" },
                "1 s",
                "time from one decision to the next (ID). The draft said 1 s up to -08, as goresponsiveness does, and says 5 s in -09",
            ),
            Key::or("averaged", Form::Integer(2, 100), "4", "intervals in a moving average (MAD)"),
            Key::or(
                "tolerance",
                Form::Integer(1, 100),
                "5",
                "per cent of the average that its standard deviation may reach when it has settled (SDT)",
            ),
            Key::or(
                "connections",
                CONNECTIONS,
                "1",
                "load-generating connections at the beginning, in each direction (INP)",
            ),
            Key::or(
                "connections_added",
                Form::Integer(0, 1_000),
                "1",
                "connections that each interval adds (INC)",
            ),
            Key::or(
                "connections_most",
                CONNECTIONS,
                "16",
                "most load-generating connections in each direction (MNP)",
            ),
            Key::or(
                "probes_per_second",
                Form::Integer(2, 1_000),
                "100",
                "most probes in a second, half of them on new connections, half on loaded ones (MPS)",
            ),
            Key::or(
                "probe_capacity",
                Form::Integer(1, 100),
                "5",
                "per cent of the capacity that probes may take (PTC)",
            ),
            Key::or("tls", Form::Boolean, "true", "connections begin with a handshake of TLS 1.3"),
            Key::open(
                "notsent_lowat",
                Form::Bytes(1, 1 << 30),
                "what `net.ipv4.tcp_notsent_lowat` says",
                "bytes that wait unsent in a socket of either end when its writer hands it more (TCP_NOTSENT_LOWAT). Without it a probe on a loaded \
                 connection waits for all that the socket's buffer holds. The draft asks for 5 ms of the connection's rate",
            ),
        ],
    ],
};

/// Reads what only a test of responsiveness has.
// spec: draft-ietf-ippm-responsiveness-09 Test Parameters.
pub(super) fn read(section: &mut Section<'_>) -> Result<ResponsivenessParams, Fault> {
    let loads = [("down", Load::Down), ("up", Load::Up), ("both", Load::Both), ("none", Load::None)];
    let load = section.or_by("load", Load::Down, |field| field.choice(&loads))?;
    let connections = [
        section.or("connections", 1)?,
        section.or("connections_added", 1)?,
        section.or("connections_most", 16)?,
    ];
    if connections[0] > connections[2] {
        let found = format!("connections = {} above connections_most = {}", connections[0], connections[2]);
        return Err(section.wrong(found, "no more at the beginning than at most"));
    }
    Ok(ResponsivenessParams {
        load,
        interval: section.or("interval", Duration::from_secs(1))?,
        averaged: section.or("averaged", 4)?,
        tolerance_percent: section.or("tolerance", 5)?,
        connections,
        probes_per_second: section.or("probes_per_second", 100)?,
        capacity_percent: section.or("probe_capacity", 5)?,
        tls: section.or("tls", true)?,
        notsent_lowat: section.find("notsent_lowat")?,
    })
}
