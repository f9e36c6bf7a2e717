//! Presets: Chromium's QUIC of 2017, the paper's bursty variants, current Chromium, and QUIC as in its RFCs.

use crate::types::Duration;

use super::MSS;
use super::ack_policy::{AckParams, Decimation};
use super::config::{QuicConfig, Refresh};
use super::cubic::CubicRules;
use super::flow_control::FlowParams;
use super::handshake::HandshakeParams;
use super::loss::LossParams;
use super::pacer::PacerParams;
use super::received::AckMemory;
use super::timers::{ProbeTimeout, Repair, TimerParams};
use super::window::{Growth, WindowParams};

/// A named configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preset {
    /// gQUIC 39 as in Chromium 62.
    Chromium39,
    /// gQUIC 39 with a pacer that never sends early.
    Chromium39Strict,
    /// The paper's BQUIC: ACK decimation and no pacing.
    Bquic39,
    /// BQUIC's ACK decimation only.
    Bquic39Ack,
    /// BQUIC's lack of pacing only.
    Bquic39Nopace,
    /// Current Chromium: ACK decimation always on, and packets paced in pairs.
    ChromiumNow,
    /// QUIC as in RFC 9000 and RFC 9002.
    Rfc9002,
}

const MB: u64 = 1 << 20;

/// gQUIC 39.
// spec: quic_constants.h, quic_sent_packet_manager.cc, tcp_cubic_sender_base.cc (Chromium 62) - the modules
// name their source files.
const CHROMIUM39: QuicConfig = QuicConfig {
    packet: 1_350,
    ack: AckParams::TCP_ACKING,
    // spec: quic_connection.cc SendAck (Chromium 62) - kMaxConsecutiveNonRetransmittablePackets.
    ack_memory: AckMemory::StopWaiting,
    refresh: Refresh::Packets(19),
    pacing: Some(PacerParams::CHROMIUM),
    window: WindowParams {
        growth: Growth::Cubic,
        cubic: CubicRules::CHROMIUM,
        connections: 2,
        mss: MSS,
        initial: 32 * MSS as u64,
        least: 2 * MSS as u64,
        most: 2_000 * MSS as u64,
        hystart: true,
        prr: true,
    },
    loss: LossParams::CHROMIUM,
    timers: TimerParams { repair: Repair::TailLossProbes(2), max_ack_delay: Duration::from_millis(25) },
    initial_rtt: Duration::from_millis(100),
    ack_delay_below_min: true,
    // spec: chromium/quic_stream_factory.cc, quic_flow_controller.h (Chromium 62).
    client_flow: FlowParams {
        stream: 6 * MB,
        connection: 15 * MB,
        stream_most: 16 * MB,
        connection_most: 24 * MB,
    },
    // spec: tools/quic/quic_server.cc (Chromium 62).
    server_flow: FlowParams {
        stream: MB / 16,
        connection: MB,
        stream_most: 16 * MB,
        connection_most: 24 * MB,
    },
    handshake: HandshakeParams::GQUIC,
};

impl Preset {
    /// All presets by name.
    pub const ALL: [(&'static str, Self); 7] = [
        ("chromium39", Self::Chromium39),
        ("chromium39-strict", Self::Chromium39Strict),
        ("bquic39", Self::Bquic39),
        ("bquic39-ack", Self::Bquic39Ack),
        ("bquic39-nopace", Self::Bquic39Nopace),
        ("chromium-now", Self::ChromiumNow),
        ("rfc9002", Self::Rfc9002),
    ];

    /// Returns the preset's name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, p)| *p == self).map_or("", |(name, _)| name)
    }

    /// Returns the preset's configuration.
    pub const fn config(self) -> QuicConfig {
        let base = CHROMIUM39;
        match self {
            Self::Chromium39 => base,
            Self::Chromium39Strict => QuicConfig {
                pacing: Some(PacerParams { horizon: Duration::ZERO, ..PacerParams::CHROMIUM }),
                ..base
            },
            // paper: bquic sec. III-A.
            Self::Bquic39 => QuicConfig { ack: AckParams::ACK_DECIMATION, pacing: None, ..base },
            Self::Bquic39Ack => QuicConfig { ack: AckParams::ACK_DECIMATION, ..base },
            Self::Bquic39Nopace => QuicConfig { pacing: None, ..base },
            // quiche: quic_received_packet_manager.cc GetMaxAckDelay, pacing_sender.cc OnPacketSent,
            // quic_constants.h (f44fa9f) - decimation always on, with a delay of at least 1 ms; lumps of two;
            // packets of 1250 bytes.
            // quiche: congestion_control/rtt_stats.cc UpdateRtt (f44fa9f) - ignores an ACK delay that would
            // leave less than the minimum RTT.
            // deviation: does not close a connection after five consecutive timeouts.
            Self::ChromiumNow => QuicConfig {
                packet: 1_250,
                ack: AckParams {
                    decimation: Some(Decimation {
                        gate: 100,
                        count: 10,
                        fraction: 250,
                        least: Duration::from_millis(1),
                    }),
                    ..AckParams::TCP_ACKING
                },
                pacing: Some(PacerParams { lumpy: 2, ..PacerParams::CHROMIUM }),
                window: WindowParams { cubic: CubicRules::QUICHE, ..base.window },
                loss: LossParams::QUICHE,
                timers: TimerParams { repair: Repair::ProbeTimeout(ProbeTimeout::QUICHE), ..base.timers },
                ack_delay_below_min: false,
                // quiche: quic_connection.cc OnSuccessfulVersionNegotiation - IETF versions have no
                // STOP_WAITING; quic_sent_packet_manager.h largest_packet_peer_knows_is_acked.
                ack_memory: AckMemory::Acknowledged { ranges: 255, late: 0 },
                handshake: HandshakeParams::TLS,
                ..base
            },
            // spec: rfc9000 13.2 - every second packet, 25 ms, immediately if out of order; rfc9002 6, 7.
            Self::Rfc9002 => QuicConfig {
                pacing: Some(PacerParams {
                    horizon: Duration::ZERO,
                    gain_slow_start: 125,
                    ..PacerParams::CHROMIUM
                }),
                // quinn: connection/spaces.rs MAX_ACK_BLOCKS, Dedup - 64 ranges; detects duplicates among the
                // last 128 numbers.
                ack_memory: AckMemory::Acknowledged { ranges: 64, late: 128 },
                refresh: Refresh::RoundTrip,
                window: WindowParams {
                    growth: Growth::Rfc9002,
                    connections: 1,
                    mss: 1_350,
                    // spec: rfc9002 7.2 - ten datagrams, at most 14,720 bytes.
                    initial: 10 * 1_350,
                    least: 2 * 1_350,
                    hystart: false,
                    prr: false,
                    ..base.window
                },
                loss: LossParams::RFC9002,
                timers: TimerParams { repair: Repair::ProbeTimeout(ProbeTimeout::RFC9002), ..base.timers },
                initial_rtt: Duration::from_millis(333),
                ack_delay_below_min: false,
                handshake: HandshakeParams::TLS,
                ..base
            },
        }
    }
}
