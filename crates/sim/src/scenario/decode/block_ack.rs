//! Largest window of a Block Ack session, in frames.

use stillair_model::wifi::seq_window::SeqWindow;

use super::super::Scheme;
use super::super::contract::{Form, Key};
use super::super::error::Fault;
use super::super::reader::Section;
use super::device::Device;

pub(super) const KEY: Key = Key::open(
    "block_ack_window",
    Form::Integer(1, SeqWindow::MOST as i64),
    "256 with the schemes `mt76` and `ath11k`, 64 with the others, mac80211's default",
    "window of a Block Ack session in frames, and so the limit of an aggregate: what it requests as sender and grants as receiver. The smaller of both ends counts, and more than 64 only between HE devices. Between HT devices an aggregate has at most half of it, as in ath9k. Other drivers of HE: 256 of iwlwifi, 128 of rtw89, which grants 64",
);

pub(super) fn read(section: &mut Section<'_>, scheme: Scheme, device: Option<&Device>) -> Result<u16, Fault> {
    section.or(KEY.name, device.map_or_else(|| of(scheme), |device| device.block_ack_window))
}

// linux: drivers/net/wireless/mediatek/mt76/mt7915/init.c mt7915_init_wiphy (6.12) - max_tx_aggregation_subframes and
// max_rx_aggregation_subframes are IEEE80211_MAX_AMPDU_BUF_HE, 256; ath/ath11k/mac.c __ath11k_mac_register (6.12) - the latter.
// linux: net/mac80211/main.c ieee80211_alloc_hw_nm (6.12) - both are IEEE80211_MAX_AMPDU_BUF_HT, 64, unless a driver says otherwise.
// ath10k/htt.h ATH10K_HTT_MAX_NUM_AMPDU_DEFAULT (6.12) - 64.
// deviation: what ath11k's firmware asks for as sender no source tells; it is taken to be what it grants.
fn of(scheme: Scheme) -> u16 {
    match scheme {
        Scheme::Mt76 | Scheme::Ath11k => SeqWindow::MOST,
        _ => SeqWindow::SIZE,
    }
}
