//! An access point of a random network, as text.

use super::*;

impl Cell {
    pub(super) fn text(&self, flows: u32) -> String {
        let kind = SCHEMES[self.scheme];
        let (aggregates, singles) = self.hardware;
        let mut scheme = if is_firmware(self.scheme) {
            let (frames, delay) = (64 + 8 * self.limit, 100 * aggregates);
            format!(
                "kind = \"{kind}\", frames = {frames}, report_frames = {singles}, report_delay = \"{delay} us\", \
                 amsdu_frames = {}",
                1 + self.retry_limit % 9
            )
        } else {
            format!("kind = \"{kind}\", hw_aggregates = {aggregates}, hw_singles = {singles}")
        };
        if ["mac80211", "ath10k", "mt76"].contains(&kind) {
            scheme.push_str(match self.retry_limit % 4 {
                0 => ", aql_multicast = \"2 ms\"",
                1 => ", aql_multicast = \"threshold\"",
                _ => "",
            });
        }
        if kind == "mt76" && !self.retry_limit.is_multiple_of(9) && self.retry_limit.is_multiple_of(2) {
            scheme.push_str(", amsdu_by = \"mac80211\"");
        }
        if self.scheme < 2 && self.retry_limit.is_multiple_of(2) {
            scheme.push_str(", firmware_aggregates = true");
        }
        let mut qdisc = String::new();
        let n = self.limit;
        if self.limit > 0 {
            match self.scheme {
                0 | 1 => write!(scheme, ", qlen = {n}"),
                HTC => write!(scheme, ", limit = {n}, target_buffers = {}", n.div_ceil(4)),
                _ => write!(scheme, ", limit = {n}, flows = {n}"),
            }
            .expect("writing to a string");
        }
        if self.root_qdisc {
            let limit = if n > 0 { format!(", limit = {n}, flows = {n}") } else { String::new() };
            qdisc = match self.scheme {
                1 => format!("qdisc = {{ kind = \"fq_codel\", mq = false{limit} }}, "),
                0 if n % 2 == 1 => {
                    format!("qdisc = {{ kind = \"bfifo\", mq = false, limit = {} }}, ", 1514 * n)
                }
                2 if n > 0 => format!("qdisc = {{ kind = \"pfifo\", mq = false, limit = {n} }}, "),
                _ => format!("qdisc = {{ kind = \"pfifo_fast\", mq = false }}, txqueuelen = {}, ", n.max(1)),
            };
        }
        if self.limit == 0 && has_flows(self.scheme) {
            scheme.push_str(&format!(", flows = {flows}"));
        }
        let bursts = if self.bursts {
            // Stations with a window of zero slots collide until they give up.
            "tx_queue_data2_burst = \"2 ms\", wmm_ac_be_txop_limit = 94, wmm_ac_bk_cwmin = 2, wmm_ac_vi_cwmin = 0, \
             wmm_ac_vi_cwmax = 0, "
        } else {
            ""
        };
        // Few frames are often received with errors, so the rule only acts at a low index.
        let retry_out = match self.retry_limit % 3 {
            0 => "retry_out = { kind = \"index\", index = 1 }, retry_limit_by_rate = true, ",
            1 => "retry_out = \"by_rate\", ",
            _ => "",
        };
        let filter = self.filter().map_or(String::new(), |rule| format!("destination_filter = \"{rule}\", "));
        format!(
            "scheme = {{ {scheme} }}, {qdisc}{bursts}{filter}{retry_out}block_ack_window = {}, retry_limit = {}",
            WINDOWS[self.limit as usize % 4],
            self.retry_limit
        )
    }

    /// Scan settings of the access point, if its scheme allows scans.
    pub(super) fn scan(&self) -> &'static str {
        match self.limit % 5 {
            _ if self.scheme == HTC => "",
            0 if self.limit > 0 => {
                ", scan = { kind = \"mac80211\", start = \"30 ms\", active_channels = 2, passive_channels = 1, dwell_active = \"9 ms\" }"
            }
            1 => {
                ", scan = { kind = \"ath10k\", start = \"20 ms\", interval = \"150 ms\", active_channels = 2, passive_channels = 1, dwell_active = \"5 ms\", \
                  dwell_passive = \"30 ms\", home_dwell = \"10 ms\", home_dwell_busy = \"20 ms\" }"
            }
            _ => "",
        }
    }

    /// Handling of frames queued behind a failed one in the hardware; not configurable behind USB.
    pub(super) fn filter(&self) -> Option<&'static str> {
        let rule = ["none", "linux-4.9", "linux-4.4"][usize::from(self.retry_limit) / 3 % 3];
        (self.scheme != HTC && !is_firmware(self.scheme)).then_some(rule)
    }
}
