//! Schemes of drivers whose firmware builds the aggregates (ath10k, ath11k and mt76), each with its sources.

use stillair_model::types::Duration;
use stillair_model::wifi::config::{
    AIRTIME_WEIGHT, AirtimeParams, AirtimeReport, AqlParams, DriverConfig, FirmwareParams, Scheduler,
    WhenFirmwareFull, WhenFull,
};

use super::super::super::Scheme;
use super::super::super::error::Diagnostics;
use super::super::super::spec::Assign as _;
use super::super::super::spec::scheme::Firmware;
use super::{Version, mac80211_queues, queues_of, rules};

/// Assumed queue capacity of ath11k's firmware in frames.
pub(in crate::scenario) const ATH11K_FRAMES: u32 = 4096;

/// Assumed A-MSDU size of ath11k's firmware in packets: the middle of 1 to 7.
pub(in crate::scenario) const ATH11K_AMSDU: u8 = 4;

/// Returns the driver of such a scheme with default options, for this kernel.
pub(super) fn of(name: Scheme, version: Version) -> DriverConfig {
    // linux: drivers/net/wireless/ath/ath11k/dp.h, dp_tx.c (6.12) - one entry per frame; hal.h
    // HAL_SRNG_INT_BATCH_THRESHOLD_TX, HAL_SRNG_INT_TIMER_THRESHOLD_TX (6.12) - 256 entries or 1,000 us.
    if name == Scheme::Ath11k {
        let params = FirmwareParams {
            frames: ATH11K_FRAMES,
            full: WhenFirmwareFull::Drops,
            report_frames: 256,
            report_delay: Duration::from_millis(1),
            airtime: AirtimeReport::Nothing,
            amsdu_frames: ATH11K_AMSDU,
            host_joins: false,
            amsdu_bytes: None,
            shares_airtime: false,
            host_sessions: false,
        };
        return DriverConfig::Firmware(
            queues_of(version),
            Scheduler::RoundRobin(WhenFull::KeepsTurn),
            params,
        );
    }
    let mt76 = name == Scheme::Mt76;
    let params = FirmwareParams {
        // linux: drivers/net/wireless/ath/ath10k/hw.h TARGET_10X_NUM_MSDU_DESC (6.12) - 1,424;
        // mediatek/mt76/mt7915/mt7915.h MT7915_TOKEN_SIZE, mt76.h MT76_TOKEN_FREE_THR (6.12) - 8,192, of
        // which 64 are reserved.
        frames: if mt76 { 8192 - 64 } else { 1424 },
        full: WhenFirmwareFull::Waits,
        // linux: drivers/net/wireless/mediatek/mt76/mt76_connac2_mac.h MT_TX_FREE_MSDU_CNT (6.12) - 10 bits;
        // ath10k/htt.h (6.12) - 8 bits.
        report_frames: if mt76 { 1023 } else { 255 },
        report_delay: Duration::ZERO,
        airtime: if mt76 { AirtimeReport::Counters } else { AirtimeReport::Frames },
        // linux: drivers/net/wireless/mediatek/mt76/mt7915/mcu.c mt7915_mcu_sta_amsdu_tlv (6.12) - 8;
        // ath10k/htt.h ATH10K_HTT_MAX_NUM_AMSDU_DEFAULT (6.12) - 3.
        amsdu_frames: if mt76 { 8 } else { 3 },
        host_joins: false,
        amsdu_bytes: None,
        shares_airtime: false,
        host_sessions: mt76,
    };
    let airtime = AirtimeParams {
        quantum: Duration::from_micros(u64::from(AIRTIME_WEIGHT)),
        // linux: drivers/net/wireless/ath/ath10k (6.12) - does not register the airtime of received frames.
        charge_rx: mt76,
        ..AirtimeParams::default()
    };
    let rules = rules(version);
    let aql = AqlParams { groups: rules.groups(), ..AqlParams::default() };
    let scheduler = Scheduler::Mac80211(airtime, Some(aql), rules);
    DriverConfig::Firmware(mac80211_queues(version), scheduler, params)
}

/// Applies the scenario's options, and rejects A-MSDU keys if the firmware does not aggregate MSDUs.
pub(super) fn assign(own: &Firmware, p: &mut FirmwareParams, faults: &mut Diagnostics) {
    own.assign(p);
    if p.amsdu_frames == 1 {
        let why = "with amsdu_frames = 1";
        own.amsdu_bytes.idle(why, "amsdu_frames = 2 or more, or no `amsdu_bytes`", faults);
        own.amsdu_by.idle(why, "amsdu_frames = 2 or more, or no `amsdu_by`", faults);
    }
}
