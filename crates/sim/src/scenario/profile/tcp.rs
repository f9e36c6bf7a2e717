//! TCP parameters of a kernel: the `[tcp]` table of its data file.

use stillair_model::transport::cc::CcParams;
use stillair_model::transport::cc::bbr::BbrParams;
use stillair_model::transport::cc::cubic::CubicParams;
use stillair_model::transport::cc::hystart::{HystartParams, HystartRules};
use stillair_model::transport::cc::reno::GrowthRules;
use stillair_model::transport::tcp::config::{
    CwndLimitedRules, EarlyRetransmit, Exception, LimitOutput, LossDetection, PrrRules, RackBeside,
    RcvbufRules, SmallQueues, TcpConfig, TlpRules,
};
use stillair_model::types::Duration;

use super::super::description::{Key, TableSchema, ValueType};
use super::super::error::Diagnostic;
use super::super::reader::Field;
use super::memory::{HEADERS, MAX_BUFFER, MTU, SocketMemory};

const LOSS: [(&str, LossDetection); 3] =
    [("rack", LossDetection::RackTlp), ("dupack", LossDetection::DupAck), ("fack", LossDetection::Fack)];
const RACK_BESIDE: [(&str, RackBeside); 3] =
    [("no", RackBeside::No), ("4.4", RackBeside::InRecovery), ("4.11", RackBeside::Always)];
const PRR: [(&str, PrrRules); 4] = [
    ("3.2", PrrRules::Linux3_2),
    ("4.3", PrrRules::Linux4_3),
    ("5.11", PrrRules::Linux5_11),
    ("5.19", PrrRules::Linux5_19),
];
const TLP: [(&str, TlpRules); 3] =
    [("3.10", TlpRules::Linux3_10), ("4.14", TlpRules::Linux4_14), ("4.16", TlpRules::Linux4_16)];
const GROWTH: [(&str, GrowthRules); 3] =
    [("3.13", GrowthRules::Linux3_13), ("4.3", GrowthRules::Linux4_3), ("5.7", GrowthRules::Linux5_7)];
const CWND_LIMITED: [(&str, CwndLimitedRules); 4] = [
    ("3.13", CwndLimitedRules::Linux3_13),
    ("3.16", CwndLimitedRules::Linux3_16),
    ("5.10", CwndLimitedRules::Linux5_10),
    ("6.1", CwndLimitedRules::Linux6_1),
];
const RCVBUF: [(&str, RcvbufRules); 4] = [
    ("3.13", RcvbufRules::Linux3_13),
    ("4.16", RcvbufRules::Linux4_16),
    ("6.12", RcvbufRules::Linux6_12),
    ("6.16", RcvbufRules::Linux6_16),
];
pub(in super::super) const CAP: [(&str, LimitOutput); 4] = [
    ("fixed", LimitOutput::Fixed),
    ("at_least", LimitOutput::AtLeast),
    ("at_most", LimitOutput::AtMost),
    ("at_most_unless_paced", LimitOutput::AtMostUnlessPaced),
];
pub(in super::super) const EXCEPTION: [(&str, Exception); 4] = [
    ("never", Exception::Never),
    ("first_of_write_queue", Exception::FirstOfWriteQueue),
    ("empty_rtx_queue", Exception::EmptyRtxQueue),
    ("at_most_one_in_rtx_queue", Exception::AtMostOneInRtxQueue),
];

const HYSTART: [(&str, HystartRules); 4] = [
    ("2.6.29", HystartRules::LINUX_4),
    ("5.8", HystartRules::LINUX_5_8),
    ("5.16", HystartRules::LINUX_5_16),
    ("6.14", HystartRules::LINUX_6_1),
];

/// `[tcp]` table of a kernel's data file.
pub(super) static FILE: TableSchema = TableSchema {
    title: "TCP of a kernel",
    about: "What TCP does by default.",
    groups: &[&[
        Key::need("hz", ValueType::Integer(100, 1000), "ticks in a second (CONFIG_HZ)"),
        Key::need("loss", ValueType::Choice(&["rack", "dupack", "fack"]), "how losses are found"),
        Key::need(
            "rack_beside",
            ValueType::Choice(&["no", "4.4", "4.11"]),
            "the kernel in which RACK got the rules that it has here beside counting",
        ),
        Key::need(
            "prr",
            ValueType::Choice(&["3.2", "4.3", "5.11", "5.19"]),
            "the same of proportional rate reduction",
        ),
        Key::need("tlp", ValueType::Choice(&["3.10", "4.14", "4.16"]), "the same of tail-loss probes"),
        Key::need("early_retransmit", ValueType::Boolean, "few packets out need fewer duplicates"),
        Key::or(
            "autocorking",
            ValueType::Boolean,
            "true",
            "a small last packet waits while others are in queues below",
        ),
        Key::or("init_cwnd", ValueType::Integer(1, 1000), "10", "initial window in segments"),
        Key::or(
            "pacing_ca_ratio",
            ValueType::Integer(1, 1000),
            "120",
            "tcp_pacing_ca_ratio, or what a kernel without it paces by",
        ),
        Key::or("rto_min", ValueType::Period, "200 ms", "least retransmission timeout"),
        Key::or("timestamps", ValueType::Boolean, "true", "time stamps"),
        Key::or("small_queues", ValueType::Boolean, "true", "there are small queues"),
        Key::need("small_queues_min_packets", ValueType::Integer(0, 8), "least limit in packets"),
        Key::need("small_queues_by_rate", ValueType::Boolean, "the pacing rate's term is used"),
        Key::need(
            "small_queues_cap",
            ValueType::Choice(&["fixed", "at_least", "at_most", "at_most_unless_paced"]),
            "how tcp_limit_output_bytes acts",
        ),
        Key::need(
            "small_queues_exception",
            ValueType::Choice(&[
                "never",
                "first_of_write_queue",
                "empty_rtx_queue",
                "at_most_one_in_rtx_queue",
            ]),
            "when data is sent in spite of the limit",
        ),
        Key::need(
            "small_queues_retransmissions",
            ValueType::Boolean,
            "the limit holds for retransmissions too, doubled",
        ),
        Key::need("limit_output_bytes", ValueType::Bytes(1, MAX_BUFFER), "tcp_limit_output_bytes"),
        Key::need(
            "space_on_send",
            ValueType::Boolean,
            "a writer that waits is looked after with every packet that leaves",
        ),
        Key::need(
            "push_acks_full",
            ValueType::Boolean,
            "a full segment with PSH is acknowledged as soon as it is read",
        ),
        Key::need(
            "push_each_packet",
            ValueType::Boolean,
            "a packet of several segments bears PSH on the last one",
        ),
        Key::need(
            "timeouts_in_us",
            ValueType::Boolean,
            "probes and RACK wait for 2 ms more instead of two ticks",
        ),
        Key::need(
            "defers_for_a_ms",
            ValueType::Boolean,
            "a TSO packet waits to become larger only for an acknowledgement that is due within 1 ms",
        ),
        Key::need("tso_rtt_log", ValueType::Integer(0, 31), "tcp_tso_rtt_log"),
        Key::need(
            "growth",
            ValueType::Choice(&["3.13", "4.3", "5.7"]),
            "the kernel in which the window's growth by acknowledgements of several segments got the rules that it has here",
        ),
        Key::need(
            "departure_times",
            ValueType::Boolean,
            "a paced sender stamps packets with the time of their departure, by which BBR reckons; else a timer runs between them",
        ),
        Key::need("rtt_in_ticks", ValueType::Boolean, "round-trip times are measured in ticks"),
        Key::need(
            "cwnd_limited",
            ValueType::Choice(&["3.13", "3.16", "5.10", "6.1"]),
            "the kernel in which the question whether the window is the limit got the rules that it has here",
        ),
        Key::need(
            "no_ssthresh_metrics_save",
            ValueType::Boolean,
            "the threshold of slow start is not remembered for the next connection to the same address",
        ),
        Key::need(
            "max_header",
            ValueType::Bytes(0, 1024),
            "room for all headers before TCP's data (MAX_TCP_HEADER)",
        ),
        Key::need("data_in_head", ValueType::Boolean, "data fills up the buffer of the headers"),
        Key::need("gso_always", ValueType::Boolean, "packets have several segments on every device"),
        Key::or(
            "small_head",
            ValueType::Bytes(0, 1024),
            "0 B",
            "heads up to this size have a cache of their own",
        ),
        Key::need("wifi_pacing_shift", ValueType::Integer(0, 31), "sk_pacing_shift of sockets over Wi-Fi"),
        Key::need("rmem_default", ValueType::Bytes(1, MAX_BUFFER), "initial receive buffer"),
        Key::need("rmem_max", ValueType::Bytes(1, MAX_BUFFER), "largest receive buffer"),
        Key::need(
            "rcvbuf",
            ValueType::Choice(&["3.13", "4.16", "6.12", "6.16"]),
            "the kernel in which the receive buffer's growth got the rules that it has here",
        ),
        Key::need(
            "init_rwnd",
            ValueType::Integer(0, 1000),
            "segments that the first window holds and the first receive buffer eight times; 0: neither",
        ),
        Key::need(
            "scaling_ratio",
            ValueType::Integer(0, 255),
            "window for 256 bytes of memory at first; 0: by tcp_adv_win_scale",
        ),
        Key::need("comp_sack_nr", ValueType::Integer(0, 255), "tcp_comp_sack_nr"),
        Key::need("comp_sack_slack", ValueType::Time, "tcp_comp_sack_slack_ns"),
        Key::need(
            "hystart",
            ValueType::Choice(&["2.6.29", "5.8", "5.16", "6.14"]),
            "the kernel in which cubic's HyStart got the rules that it has here",
        ),
        Key::need(
            "bbr_pacing_margin_percent",
            ValueType::Integer(0, 99),
            "how far BBR paces below the bandwidth",
        ),
        Key::need("bbr_extra_acked", ValueType::Boolean, "BBR has room for aggregated acknowledgements"),
    ]],
};

/// Reads the `[tcp]` table of a kernel's data file.
pub(super) fn load(field: &Field<'_>) -> Result<(TcpConfig, SocketMemory, u8, CcParams), Diagnostic> {
    let mut t = field.section("a table")?;
    let n = "a value";
    let config = TcpConfig {
        hz: t.need("hz", n)?.value()?,
        advmss: MTU - HEADERS,
        timestamps: t.or("timestamps", true)?,
        loss: t.need("loss", n)?.choice(&LOSS)?,
        rack_beside: t.need("rack_beside", n)?.choice(&RACK_BESIDE)?,
        prr: t.need("prr", n)?.choice(&PRR)?,
        tlp: t.need("tlp", n)?.choice(&TLP)?,
        rcvbuf: t.need("rcvbuf", n)?.choice(&RCVBUF)?,
        init_rwnd: t.need("init_rwnd", n)?.value()?,
        early_retransmit: if t.need("early_retransmit", n)?.value()? {
            EarlyRetransmit::Delayed
        } else {
            EarlyRetransmit::Gone
        },
        no_ssthresh_metrics_save: t.need("no_ssthresh_metrics_save", n)?.value()?,
        autocorking: t.or("autocorking", true)?,
        init_cwnd: t.or("init_cwnd", 10)?,
        pacing_ca_ratio: t.or("pacing_ca_ratio", 120)?,
        small_queues: SmallQueues {
            off: !t.or("small_queues", true)?,
            min_packets: t.need("small_queues_min_packets", n)?.value()?,
            by_rate: t.need("small_queues_by_rate", n)?.value()?,
            rate_multiple: 1,
            cap: t.need("small_queues_cap", n)?.choice(&CAP)?,
            exception: t.need("small_queues_exception", n)?.choice(&EXCEPTION)?,
            retransmissions: t.need("small_queues_retransmissions", n)?.value()?,
            initial_charge: 1,
        },
        limit_output_bytes: t.need("limit_output_bytes", n)?.value()?,
        tso_rtt_log: t.need("tso_rtt_log", n)?.value()?,
        max_header: t.need("max_header", n)?.value()?,
        space_on_send: t.need("space_on_send", n)?.value()?,
        push_acks_full: t.need("push_acks_full", n)?.value()?,
        push_each_packet: t.need("push_each_packet", n)?.value()?,
        timeouts_in_us: t.need("timeouts_in_us", n)?.value()?,
        defers_for_a_ms: t.need("defers_for_a_ms", n)?.value()?,
        growth: t.need("growth", n)?.choice(&GROWTH)?,
        departure_times: t.need("departure_times", n)?.value()?,
        rtt_in_ticks: t.need("rtt_in_ticks", n)?.value()?,
        cwnd_limited: t.need("cwnd_limited", n)?.choice(&CWND_LIMITED)?,
        rmem: [4096, t.need("rmem_default", n)?.value()?, t.need("rmem_max", n)?.value()?],
        scaling_ratio: t.need("scaling_ratio", n)?.value()?,
        rto_min: t.or("rto_min", Duration::from_millis(200))?,
        comp_sack_nr: t.need("comp_sack_nr", n)?.value()?,
        comp_sack_slack: t.need("comp_sack_slack", n)?.value()?,
        // Identical in all profiles.
        ..TcpConfig::default()
    };
    let memory = SocketMemory {
        data_in_head: t.need("data_in_head", n)?.value()?,
        gso_always: t.need("gso_always", n)?.value()?,
        small_head: t.or("small_head", 0)?,
    };
    let wifi_pacing_shift = t.need("wifi_pacing_shift", n)?.value()?;
    let rules = t.need("hystart", n)?.choice(&HYSTART)?;
    let usual = BbrParams::default();
    let extra_acked: bool = t.need("bbr_extra_acked", n)?.value()?;
    let cc = CcParams {
        bbr: BbrParams {
            pacing_margin_percent: t.need("bbr_pacing_margin_percent", n)?.value()?,
            departure_times: config.departure_times,
            extra_acked_gain: if extra_acked { usual.extra_acked_gain } else { 0 },
            ..usual
        },
        cubic: CubicParams {
            hystart: HystartParams { rules, ..HystartParams::default() },
            ..CubicParams::default()
        },
        ..CcParams::default()
    };
    t.finish()?;
    Ok((config, memory, wifi_pacing_shift, cc))
}
