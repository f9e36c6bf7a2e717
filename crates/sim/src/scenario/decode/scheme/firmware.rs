//! Schemes of drivers whose firmware builds the aggregates: ath10k, ath11k and mt76, each with its sources.

use stillair_model::vocabulary::Duration;
use stillair_model::wifi::config::{
    AIRTIME_WEIGHT, AirtimeParams, AirtimeReport, AqlParams, DriverConfig, FirmwareParams, Scheduler,
    WhenFirmwareFull, WhenFull,
};

use super::super::super::Scheme;
use super::super::super::contract::{Form, Key, Shape};
use super::super::super::error::Fault;
use super::super::super::reader::Section;
use super::keys::{MAC80211_PIECES, MAC80211_SLOW, QUEUES, SLOW};
use super::{Version, mac80211_queues, queues_of, rules};

const REPORT_DELAY: Form = Form::Times {
    least: "0 us",
    most: Some("100 ms"),
    why: "a sender would wait for its memory longer than for the air",
};

const REPORT_FRAMES: Key = Key::open(
    "report_frames",
    Form::Integer(1, 65_536),
    "256 of ath11k (hal.h), 1,023 of mt76 (10 bits of its TX free event), 255 of ath10k (8 bits of its message)",
    "frames with which the firmware's report does not wait any longer",
);

const AMSDU_BYTES: Key = Key::open(
    "amsdu_bytes",
    Form::Integer(3_895, 11_454),
    "what the receiver announces: 7,991 of mt76 (MT7915), 11,454 of ath10k and ath11k, 3,895 of another with VHT or HE, the least that each \
     takes; 7,991 of mt76 (MT7915) as sender where that is less; between radios of HT 4,095 whatever is given",
    "bytes of an MPDU that holds several packets (A-MSDU) at most",
);

const AMSDU: &str = "most packets that the firmware joins into an A-MSDU, within a Block Ack session; 1 joins none. Where minstrel_ht chooses rates it also \
 limits the A-MSDU's length, as in mac80211";

const AMSDU_BY: Key = Key::or(
    "amsdu_by",
    Form::Choice(&["firmware", "mac80211"]),
    "firmware",
    "who joins packets: the firmware of what it has, as of MT7915 and newer, or mac80211 packets of one flow when they leave its queues, as of \
     MT7615, MT7603 and MT76x2. In a Block Ack session only: A-MSDUs without A-MPDU are not modelled",
);

const AIRTIME: Key = Key::open(
    "airtime_report",
    Form::Choice(&["frames", "counters"]),
    "`frames` of ath10k, `counters` of mt76",
    "airtime that stations are charged with, when frames are reported: each frame at the last rate and 16 us (ath10k without \
     REPORT_AIRTIME), or what the hardware has counted, retries included",
);

/// Frames that ath11k's firmware is assumed to keep.
pub(in crate::scenario) const ATH11K_FRAMES: u32 = 4096;

/// Packets that ath11k's firmware is assumed to join: the middle of 1 to 7.
pub(in crate::scenario) const ATH11K_AMSDU: u8 = 4;

const FRAMES: &str = "frames that the host hands over without having heard of them";
const DELAY: &str = "how long a report waits after the first frame of it";

const VOW_ATF: Key = Key::or(
    "vow_atf",
    Form::Boolean,
    "false",
    "the MAC shares the air among stations by airtime (VoW), as MT7916, MT7986, MT7996 and newer do with OpenWrt's mt76 since June 2026; \
     without, stations take turns, an aggregate each, which is assumed of MT7915 and older",
);

const ASSUMED_DELAY: Key = Key::open(
    "report_delay",
    REPORT_DELAY,
    "`0 us`, a report for each PPDU; no source says when its firmware reports: 0 to 1 ms, which is ath11k's",
    DELAY,
);

pub(super) static ATH10K: Shape = Shape {
    title: "Scheme ath10k",
    about: "mac80211's queues over firmware that makes the aggregates, as ath10k has it (QCA988x, 9984, 4019): airtime queue limits, airtime reckoned by frames.",
    groups: &[
        &[
            Key::tag("kind", "ath10k"),
            Key::or("frames", Form::Integer(64, 65_536), "1424", FRAMES),
            Key::or("amsdu_frames", Form::Integer(1, 32), "3", AMSDU),
            AMSDU_BYTES,
            REPORT_FRAMES,
            ASSUMED_DELAY,
            AIRTIME,
        ],
        MAC80211_PIECES,
        QUEUES,
        MAC80211_SLOW,
    ],
};

pub(super) static MT76: Shape = Shape {
    title: "Scheme mt76",
    about: "The same as mt76 has it (MT7915; MT7615 with `frames = 4032`): airtime queue limits, airtime by the hardware's counters.",
    groups: &[
        &[
            Key::tag("kind", "mt76"),
            Key::or("frames", Form::Integer(64, 65_536), "8128", FRAMES),
            Key::or("amsdu_frames", Form::Integer(1, 32), "8", AMSDU),
            AMSDU_BYTES,
            REPORT_FRAMES,
            ASSUMED_DELAY,
            AMSDU_BY,
            AIRTIME,
            VOW_ATF,
        ],
        MAC80211_PIECES,
        QUEUES,
        MAC80211_SLOW,
    ],
};

pub(super) static ATH11K: Shape = Shape {
    title: "Scheme ath11k",
    about: "The same as ath11k has it (IPQ8074, QCN9074): no airtime queue limits and no airtime fairness; every frame goes to the firmware at once.",
    groups: &[
        &[
            Key::tag("kind", "ath11k"),
            Key::open(
                "frames",
                Form::Integer(64, 65_536),
                "`4096`; no source says how many its firmware keeps: 512 (entries of a transmit ring) to 32,767 (identifiers of frames)",
                "frames that the firmware has room for; others are dropped",
            ),
            Key::open(
                "amsdu_frames",
                Form::Integer(1, 32),
                "`4`; no source says how many its firmware joins: 1 to 7, which are what 11,454 bytes hold of full packets",
                AMSDU,
            ),
            AMSDU_BYTES,
            REPORT_FRAMES,
            Key::or("report_delay", REPORT_DELAY, "1 ms", DELAY),
        ],
        QUEUES,
        SLOW,
    ],
};

/// The driver of such a scheme with all pieces at their defaults, in a node with this kernel.
pub(super) fn of(name: Scheme, version: Version) -> DriverConfig {
    // linux: drivers/net/wireless/ath/ath11k/dp.h, dp_tx.c (6.12) - an entry for each frame; hal.h HAL_SRNG_INT_BATCH_THRESHOLD_TX,
    // HAL_SRNG_INT_TIMER_THRESHOLD_TX (6.12) - 256 entries or 1,000 us.
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
        // linux: drivers/net/wireless/ath/ath10k/hw.h TARGET_10X_NUM_MSDU_DESC (6.12) - 1,424; mediatek/mt76/mt7915/mt7915.h
        // MT7915_TOKEN_SIZE, mt76.h MT76_TOKEN_FREE_THR (6.12) - 8,192, of which 64 are kept back.
        frames: if mt76 { 8192 - 64 } else { 1424 },
        full: WhenFirmwareFull::Waits,
        // linux: drivers/net/wireless/mediatek/mt76/mt76_connac2_mac.h MT_TX_FREE_MSDU_CNT (6.12) - 10 bits; ath10k/htt.h (6.12) - 8 bits.
        report_frames: if mt76 { 1023 } else { 255 },
        report_delay: Duration::ZERO,
        airtime: if mt76 { AirtimeReport::Counters } else { AirtimeReport::Frames },
        // linux: drivers/net/wireless/mediatek/mt76/mt7915/mcu.c mt7915_mcu_sta_amsdu_tlv (6.12) - 8; ath10k/htt.h
        // ATH10K_HTT_MAX_NUM_AMSDU_DEFAULT (6.12) - 3.
        amsdu_frames: if mt76 { 8 } else { 3 },
        host_joins: false,
        amsdu_bytes: None,
        shares_airtime: false,
        host_sessions: mt76,
    };
    let airtime = AirtimeParams {
        quantum: Duration::from_micros(u64::from(AIRTIME_WEIGHT)),
        // linux: drivers/net/wireless/ath/ath10k (6.12) - airtime of what it receives is registered nowhere.
        charge_rx: mt76,
        ..AirtimeParams::default()
    };
    let rules = rules(version);
    let aql = AqlParams { groups: rules.groups(), ..AqlParams::default() };
    let scheduler = Scheduler::Mac80211(airtime, Some(aql), rules);
    DriverConfig::Firmware(mac80211_queues(version), scheduler, params)
}

/// Reads what the firmware has.
pub(super) fn read(section: &mut Section<'_>, name: Scheme, p: &mut FirmwareParams) -> Result<(), Fault> {
    p.frames = section.or("frames", p.frames)?;
    p.amsdu_frames = section.or("amsdu_frames", p.amsdu_frames)?;
    if p.amsdu_frames == 1 {
        section.idle(
            "amsdu_bytes",
            "with amsdu_frames = 1",
            "amsdu_frames = 2 or more, or no `amsdu_bytes`",
        )?;
    }
    p.amsdu_bytes = section.find("amsdu_bytes")?;
    p.report_frames = section.or("report_frames", p.report_frames)?;
    p.report_delay = section.or("report_delay", p.report_delay)?;
    if name == Scheme::Mt76 {
        if p.amsdu_frames == 1 {
            section.idle(
                "amsdu_by",
                "with amsdu_frames = 1",
                "amsdu_frames = 2 or more, or no `amsdu_by`",
            )?;
        }
        let by = [("firmware", false), ("mac80211", true)];
        p.host_joins = section.or_by("amsdu_by", p.host_joins, |field| field.choice(&by))?;
        p.shares_airtime = section.or("vow_atf", p.shares_airtime)?;
    }
    if p.airtime != AirtimeReport::Nothing {
        let all = [("frames", AirtimeReport::Frames), ("counters", AirtimeReport::Counters)];
        p.airtime = section.or_by("airtime_report", p.airtime, |field| field.choice(&all))?;
    }
    Ok(())
}
