//! Power save of a network at random.

/// Power save and scans of stations: half of them have none.
pub const POWERS: [&str; 14] = [
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    ", power_save = { kind = \"mac80211\", timeout = \"3 ms\" }",
    ", power_save = { kind = \"iwlwifi\", timeout = \"9 ms\" }",
    ", power_save = \"static\"",
    ", power_save = { kind = \"mac80211\", timeout = \"2 ms\", retrieve = \"ps_poll\", listen_interval = 2 }",
    ", power_save = { kind = \"phone\", timeout = \"5 ms\", uapsd = [\"VO\", \"VI\", \"BE\", \"BK\"], max_sp = 2, trigger_interval = \"15 ms\" }",
    ", scan = { kind = \"mac80211\", start = \"30 ms\", interval = \"150 ms\", active_channels = 3, passive_channels = 1, dwell_active = \"20 ms\", home_dwell = \"10 ms\" }",
    ", power_save = { kind = \"phone\", timeout = \"4 ms\", uapsd = [\"VO\"], trigger_interval = \"9 ms\" }, scan = { kind = \"ath10k\", start = \"50 ms\", interval = \"400 ms\", \
     active_channels = 2, passive_channels = 0, leave_delay = \"3 ms\" }",
];
