//! Former names of keys and values. Scenarios that use one are rejected with its new name.

/// Former name and current name.
pub(super) const RENAMED: &[(&str, &str)] = &[
    ("away", "max_off_channel"),
    ("both_ways", "bidirectional"),
    ("certificates", "server_handshake"),
    ("chance", "probability"),
    ("connections_added", "connection_step"),
    ("connections_most", "max_connections"),
    ("customer", "cpe"),
    ("deaf", "hidden"),
    ("energy_from", "cca_ed_threshold"),
    ("every", "interval"),
    ("faint", "sense_only"),
    ("home", "home_dwell"),
    ("home_busy", "home_dwell_busy"),
    ("key_frame_ratio", "keyframe_size_ratio"),
    ("key_frames", "keyframe_interval"),
    ("like", "inherits"),
    ("loss_at_1m", "reference_loss"),
    ("loss_per_decade", "path_loss_exponent"),
    ("lowest_rate", "basic_rate"),
    ("mark", "dscp"),
    ("outside", "external"),
    ("peer_receive_cost", "peer_rx_cpu_per_packet"),
    ("peer_send_cost", "peer_tx_cpu_per_packet"),
    ("peer_timer_grain", "peer_timer_granularity"),
    ("receive_cost", "rx_cpu_per_packet"),
    ("send_cost", "tx_cpu_per_packet"),
    ("sensed_from", "cca_sensitivity"),
    ("settle", "leave_delay"),
    ("since", "kernel"),
    ("timer_grain", "timer_granularity"),
    ("understood_from", "preamble_detection_threshold"),
    ("unheard_rate", "preamble_loss_rate"),
];

/// Returns how the value of a former key is converted, if its unit changed too.
pub(super) fn conversion(old: &str) -> &'static str {
    if old == "loss_per_decade" { ": a tenth of it, without dB" } else { "" }
}

/// Returns the current name of `found`, if it is in `known`.
pub(super) fn renamed<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let (_, new) = RENAMED.iter().find(|(old, _)| *old == found)?;
    known.iter().find(|name| *name == new).copied()
}
