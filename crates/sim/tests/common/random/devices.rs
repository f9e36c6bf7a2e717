//! Devices and links of random networks.

/// Interrupt mitigation of Wi-Fi devices; most report received frames immediately.
pub const INTERRUPTS: [&str; 4] = [
    "",
    ", rx_mitigation = \"ar9300\"",
    ", rx_mitigation = { kind = \"ar9002\" }",
    ", rx_mitigation = { kind = \"times\", last = \"4 ms\", first = \"3 ms\" }",
];

/// Links between server and access points, mostly one of the first two.
pub const WIRES: [&str; 7] = [
    "rate = \"1 Gbit/s\"\ndelay = \"0.2 ms\"",
    "rate = \"8 Mbit/s\"\ndelay = \"0.2 ms\"",
    "rate = \"1 Gbit/s\"\ndelay = \"0.2 ms\"",
    "rate = \"8 Mbit/s\"\ndelay = \"0.2 ms\"\nbql = true",
    "rate = \"100 Mbit/s\"\ndelay = \"0.2 ms\"\nring = 4\ntx_usecs = 72\ntx_frames = 53\nrx_usecs = 20\nrx_frames = 5\nbql = true",
    "rate = \"100 Mbit/s\"\ndelay = \"1 ms\"\ntx_usecs = 0\nrx_usecs = 3000",
    "kind = \"veth\"",
];

pub(super) const SCHEMES: [&str; 10] = [
    "fifo",
    "fq_codel",
    "fq_mac",
    "airtime",
    "airtime_as_printed",
    "ath9k_htc",
    "mac80211",
    "ath10k",
    "ath11k",
    "mt76",
];

/// A-MSDU keys of a firmware driver.
pub(super) fn joining(scheme: &str, n: u32) -> String {
    let by = if scheme == "mt76" && n % 9 > 4 { ", amsdu_by = \"mac80211\"" } else { "" };
    format!(", amsdu_frames = {}{by}", 1 + n % 9)
}
