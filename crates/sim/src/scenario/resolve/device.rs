//! Keys of a Wi-Fi device: defaults from scheme, device profile and kernel, and their dependence on scheme
//! and channel.

use stillair_model::wifi::air::filter::DestinationFilter;
use stillair_model::wifi::config::{DriverConfig, HtcParams, Scheduler};
use stillair_model::wifi::seq_window::SeqWindow;

use super::super::error::Diagnostics;
use super::super::spec::device::OfWifi;
use super::super::{Device, Scheme};
use super::scheme::{Choice, Version};

/// Retry limit of ath9k and of the schemes that represent it.
// linux: drivers/net/wireless/ath/ath9k/ath9k.h ATH_MAX_SW_RETRIES (3.11, 4.4) - 30; 10 in trees before about
// 3.7.
const RETRY_LIMIT: u8 = 30;

/// Retry limit of the firmware used by ath9k_htc.
// ath9k_htc-firmware: wlan/if_owl.c ath_tx_retry_subframe, OWLMAX_RETRIES (e888634).
const HTC_RETRY_LIMIT: u8 = 10;

/// Retry limit of mt76.
// linux: drivers/net/wireless/mediatek/mt76/mt7915/mac.c mt7915_mac_write_txwi (5.15), mt76_connac_mac.c
// mt76_connac2_mac_write_txwi (6.12) - sets tx_count to 15 for each frame.
const MT76_RETRY_LIMIT: u8 = 15;

/// Retry limit of ath10k and ath11k.
// qcacld-3.0: components/mlme/dispatcher/inc/cfg_qos.h gTxAggSwRetry, gTxNonAggSwRetry (2021) - 16 by
// default, range 0 to 64.
// deviation: assumed for the firmware of ath10k and ath11k, for which these drivers set no number, and
// assumed to count hardware attempts.
pub(in super::super) const FIRMWARE_RETRY_LIMIT: u8 = 16;

/// Returns the retry limit of a scheme, or of a device with its own.
pub(in super::super) fn retry_limit(scheme: Scheme, device: Option<&Device>) -> u8 {
    let own = device.filter(|device| device.scheme == scheme).and_then(|device| device.retry_limit);
    own.unwrap_or(match scheme {
        Scheme::Ath9kHtc => HTC_RETRY_LIMIT,
        Scheme::Mt76 => MT76_RETRY_LIMIT,
        Scheme::Ath10k | Scheme::Ath11k => FIRMWARE_RETRY_LIMIT,
        _ => RETRY_LIMIT,
    })
}

/// Returns the maximum Block Ack window of a device, or the default of its scheme.
// linux: drivers/net/wireless/mediatek/mt76/mt7915/init.c mt7915_init_wiphy (6.12) - sets
// max_tx_aggregation_subframes and max_rx_aggregation_subframes to IEEE80211_MAX_AMPDU_BUF_HE, 256;
// ath/ath11k/mac.c __ath11k_mac_register (6.12) - sets only the latter.
// linux: net/mac80211/main.c ieee80211_alloc_hw_nm (6.12) - both default to IEEE80211_MAX_AMPDU_BUF_HT, 64.
// ath10k/htt.h ATH10K_HTT_MAX_NUM_AMPDU_DEFAULT (6.12) - 64.
// deviation: no source documents the window that ath11k's firmware requests as sender; assumed equal to the
// one it grants.
pub(in super::super) fn block_ack_window(scheme: Scheme, device: Option<&Device>) -> u16 {
    match (device, scheme) {
        (Some(device), _) => device.block_ack_window,
        (None, Scheme::Mt76 | Scheme::Ath11k) => SeqWindow::MOST,
        (None, _) => SeqWindow::SIZE,
    }
}

/// Returns the empty delimiters that the hardware needs on an encrypted channel.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_compute_num_delims, ath9k.h ATH_AGGR_ENCRYPTDELIM (4.4) -
// 10, on chips before EDMA (introduced by the AR9300). ath9k_htc-firmware: wlan/if_owl.c
// ath_compute_num_delims (e888634) - also 10.
pub(in super::super) fn cipher_delimiters(scheme: Scheme, has_cipher: bool) -> u32 {
    if has_cipher && scheme == Scheme::Ath9kHtc { 10 } else { 0 }
}

/// Rejects keys that have no effect on USB devices, or without a cipher on the channel.
pub(in super::super) fn check(own: &OfWifi, scheme: &Choice, has_cipher: bool, faults: &mut Diagnostics) {
    if let DriverConfig::Htc(HtcParams { usb: Some(_), .. }) = scheme.driver {
        let right = "usb_rx_wait and usb_interrupt of the scheme, or usb = false";
        own.rx_mitigation.idle("behind USB", right, faults);
    }
    if !has_cipher {
        let right = "cipher = \"ccmp\" there, or none";
        own.cipher_delimiters.idle("without a cipher on its channel", right, faults);
    }
}

/// Returns a device's default destination filter in a kernel, and true if it depends on the device profile.
/// `has_index` is false for a station whose frames are not encrypted.
pub(in super::super) fn filter(
    own: &OfWifi,
    scheme: &Choice,
    has_index: bool,
    version: Version,
    faults: &mut Diagnostics,
) -> (Option<DestinationFilter>, bool) {
    let mut idle = |why, right| {
        own.destination_filter.idle(why, right, faults);
        (None, false)
    };
    let filter = match &scheme.driver {
        DriverConfig::Htc(_) => return idle("behind USB", "none, or a scheme of ath9k"),
        DriverConfig::Firmware(..) => {
            return idle("with firmware that makes the aggregates", "none, or a scheme of ath9k");
        }
        _ if !has_index => {
            return idle("at a station whose frames are not encrypted", "none, or a cipher on its channel");
        }
        DriverConfig::Legacy(_) if scheme.hardware.open => None,
        DriverConfig::Legacy(_) if version < Some((4, 9)) => version.map(|_| DestinationFilter::SentAgain),
        DriverConfig::Fq(_, Scheduler::Mac80211(_, Some(_), _)) => None,
        DriverConfig::Legacy(_) | DriverConfig::Fq(..) => version.map(|_| DestinationFilter::Dropped),
    };
    (filter, own.destination_filter.place().is_none())
}
