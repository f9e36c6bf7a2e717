//! EDCA parameters under hostapd's names: `tx_queue_data2_*` for the access point's own queues, `wmm_ac_be_*`
//! for stations.

use stillair_model::types::{Ac, Duration};
use stillair_scenario_derive::Section;

use super::super::description::ValueType;
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::Field;
use super::super::units;
use super::domain::{Int, quantity};
use super::{Domain, Key};

/// Declares a key for each access category, in the order of [`Ac::index`].
macro_rules! four {
    ($($name:ident: $domain:ty = $about:tt [$vo:ident $vi:ident $be:ident $bk:ident];)*) => { $(
        /// One key per access category.
        #[derive(Section, Clone, Debug, Default)]
        pub struct $name {
            #[doc = $about]
            #[key(or = "as hostapd ships it")]
            pub $vo: Key<$domain>,
            #[doc = $about]
            #[key(or = "as hostapd ships it")]
            pub $vi: Key<$domain>,
            #[doc = $about]
            #[key(or = "as hostapd ships it")]
            pub $be: Key<$domain>,
            #[doc = $about]
            #[key(or = "as hostapd ships it")]
            pub $bk: Key<$domain>,
        }

        impl $name {
            pub(in super::super) fn of(&self, ac: Ac) -> &Key<$domain> {
                [&self.$vo, &self.$vi, &self.$be, &self.$bk][ac.index()]
            }
        }
    )* };
}

four! {
    Aifs: Int<1, 15, u8> = "the access point's own AIFSN; queues 0 to 3 are VO, VI, BE, BK"
        [tx_queue_data0_aifs tx_queue_data1_aifs tx_queue_data2_aifs tx_queue_data3_aifs];
    CwMin: Window = "its least window in slots, at most its greatest"
        [tx_queue_data0_cwmin tx_queue_data1_cwmin tx_queue_data2_cwmin tx_queue_data3_cwmin];
    CwMax: Window = "its greatest window in slots"
        [tx_queue_data0_cwmax tx_queue_data1_cwmax tx_queue_data2_cwmax tx_queue_data3_cwmax];
    BurstOf: Burst = "its longest transmission opportunity, rounded to units of 32 us as hostapd does; zero is one frame exchange"
        [tx_queue_data0_burst tx_queue_data1_burst tx_queue_data2_burst tx_queue_data3_burst];
    BeaconAifs: Int<2, 15, u8> = "the AIFSN that its stations use, from its beacons"
        [wmm_ac_vo_aifs wmm_ac_vi_aifs wmm_ac_be_aifs wmm_ac_bk_aifs];
    BeaconCwMin: Int<0, 15, u8> = "their least window as an exponent: n for 2^n - 1 slots"
        [wmm_ac_vo_cwmin wmm_ac_vi_cwmin wmm_ac_be_cwmin wmm_ac_bk_cwmin];
    BeaconCwMax: Int<0, 15, u8> = "their greatest window as an exponent"
        [wmm_ac_vo_cwmax wmm_ac_vi_cwmax wmm_ac_be_cwmax wmm_ac_bk_cwmax];
    BeaconTxop: Int<0, 65_535, u16> = "their longest transmission opportunity, in units of 32 us"
        [wmm_ac_vo_txop_limit wmm_ac_vi_txop_limit wmm_ac_be_txop_limit wmm_ac_bk_txop_limit];
}

/// Keys of an access point's interface.
#[derive(Section, Clone, Debug, Default)]
pub struct Edca {
    /// AIFSN.
    #[key(group)]
    pub aifs: Aifs,
    /// Least windows.
    #[key(group)]
    pub cwmin: CwMin,
    /// Greatest windows.
    #[key(group)]
    pub cwmax: CwMax,
    /// Transmission opportunities.
    #[key(group)]
    pub burst: BurstOf,
    /// AIFSN of stations.
    #[key(group)]
    pub beacon_aifs: BeaconAifs,
    /// Least windows of stations.
    #[key(group)]
    pub beacon_cwmin: BeaconCwMin,
    /// Greatest windows of stations.
    #[key(group)]
    pub beacon_cwmax: BeaconCwMax,
    /// Transmission opportunities of stations.
    #[key(group)]
    pub beacon_txop: BeaconTxop,
}

/// Slots of a contention window: 2^n - 1.
// hostapd: hostapd/config_file.c valid_cw (2.10) - the accepted windows; 0 means none.
pub struct Window;

impl Domain for Window {
    type Value = u16;
    const TYPE: ValueType =
        ValueType::Numbers(&[1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047, 4095, 8191, 16_383, 32_767]);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<u16, Diagnostic> {
        field.value()
    }

    fn written(value: &u16) -> Value {
        Value::Integer((*value).into())
    }
}

quantity! {
    /// A TXOP limit.
    Burst: Duration = ValueType::Times {
        least: "0 ms",
        most: Some("2097.12 ms"),
        why: "65535 units of 32 us are the most",
    }, "_ns", units::duration_text;
}
