//! TCP parameters of a node in the resolved scenario.

use serde_json::{Value, json};
use stillair_model::transport::tcp::config::TcpConfig;

/// Returns all TCP parameters of a node's sockets.
pub(super) fn tcp(t: &TcpConfig) -> Value {
    let mut all = rules(t);
    if let (Value::Object(all), Value::Object(named)) = (&mut all, sysctls(t)) {
        all.extend(named);
    }
    all
}

/// Returns rules of the kernel and node without a `sysctl` name.
fn rules(t: &TcpConfig) -> Value {
    let queues = &t.small_queues;
    json!({
        "hz": t.hz,
        "advmss": t.advmss,
        "initcwnd": t.init_cwnd,
        "max_header_bytes": t.max_header,
        "rto_min_ns": t.rto_min.nanos(),
        "loss": format!("{:?}", t.loss),
        "rack_beside": format!("{:?}", t.rack_beside),
        "rack_static_window": t.rack_static_window,
        "rack_no_dupthresh": t.rack_no_dupthresh,
        "prr": format!("{:?}", t.prr),
        "tail_loss_probe": t.tail_loss_probe,
        "tlp": format!("{:?}", t.tlp),
        "rcvbuf": format!("{:?}", t.rcvbuf),
        "init_rwnd": t.init_rwnd,
        "early_retransmit": format!("{:?}", t.early_retransmit),
        "scaling_ratio": t.scaling_ratio,
        "pacing_base": format!("{:?}", t.pacing_base),
        "pacing_shift": t.pacing_shift,
        "small_queues": {
            "off": queues.off,
            "min_packets": queues.min_packets,
            "by_rate": queues.by_rate,
            "rate_multiple": queues.rate_multiple,
            "cap": format!("{:?}", queues.cap),
            "exception": format!("{:?}", queues.exception),
            "retransmissions": queues.retransmissions,
        },
    })
}

/// Returns the parameters that `sysctl` shows.
fn sysctls(t: &TcpConfig) -> Value {
    json!({
        "net.ipv4.tcp_limit_output_bytes": t.limit_output_bytes,
        "net.ipv4.tcp_pacing_ss_ratio": t.pacing_ss_ratio,
        "net.ipv4.tcp_pacing_ca_ratio": t.pacing_ca_ratio,
        "net.ipv4.tcp_min_tso_segs": t.min_tso_segs,
        "net.ipv4.tcp_tso_rtt_log": t.tso_rtt_log,
        "net.ipv4.tcp_tso_win_divisor": t.tso_win_divisor,
        "net.ipv4.tcp_notsent_lowat": t.notsent_lowat,
        "net.ipv4.tcp_ecn": t.ecn,
        "net.ipv4.tcp_sack": t.sack,
        "net.ipv4.tcp_dsack": t.dsack,
        "net.ipv4.tcp_timestamps": t.timestamps,
        "net.ipv4.tcp_reordering": t.reordering,
        "net.ipv4.tcp_max_reordering": t.max_reordering,
        "net.ipv4.tcp_min_rtt_wlen": t.min_rtt_wlen,
        "net.ipv4.tcp_window_scaling": t.window_scaling,
        "net.core.rmem_max": t.core_rmem_max,
        "net.ipv4.tcp_autocorking": t.autocorking,
        "net.ipv4.tcp_frto": t.frto,
        "net.ipv4.tcp_slow_start_after_idle": t.slow_start_after_idle,
        "net.ipv4.tcp_no_metrics_save": t.no_metrics_save,
        "net.ipv4.tcp_no_ssthresh_metrics_save": t.no_ssthresh_metrics_save,
        "net.ipv4.tcp_wmem": t.wmem,
        "net.ipv4.tcp_rmem": t.rmem,
        "net.ipv4.tcp_adv_win_scale": t.adv_win_scale,
        "net.ipv4.tcp_moderate_rcvbuf": t.moderate_rcvbuf,
        "net.ipv4.tcp_comp_sack_nr": t.comp_sack_nr,
        "net.ipv4.tcp_comp_sack_delay_ns": t.comp_sack_delay.nanos(),
        "net.ipv4.tcp_comp_sack_slack_ns": t.comp_sack_slack.nanos(),
    })
}
