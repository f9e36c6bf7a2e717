//! Keys of a Wi-Fi device that do not depend on its role.

use serde_json::Value as Json;
use stillair_model::wifi::air::filter::DestinationFilter;
use stillair_model::wifi::seq_window::SeqWindow;
use stillair_scenario_derive::Section;

use super::super::Wifi;
use super::Key;
use super::channel::ChannelName;
use super::domain::{Choice, Int, Named, Octets};
use super::interrupts::Mitigation;
use super::product::Product;
use super::qdisc::Root;
use super::retries::{Receiver, Sender};
use super::scheme::Hardware;

/// Keys of a Wi-Fi interface.
#[derive(Section, Clone, Debug, Default)]
#[section(params = Wifi)]
pub struct OfWifi {
    /// PPDUs of more bytes begin with RTS and CTS
    #[key(to = rts_threshold, hidden, or = "off")]
    pub rts_threshold: Key<Octets<0, 65_535>>,
    /// receive interrupt mitigation: how long the device waits before it reports received frames to its host;
    /// a broken frame and the end of a transmission report them too
    #[key(to = rx_mitigation, default = "none")]
    pub rx_mitigation: Key<Mitigation>,
    /// when all tries of a PPDU have failed, the hardware returns the frames queued for the same station
    /// unsent. Single frames are then sent once more (4.4) or dropped (4.9)
    #[key(to = filter, or = "of an access point, and of stations too where frames are encrypted: `linux-4.9` in kernels from that on and \
        with queues in the MAC, else `linux-4.4`; `none` where the device is not ath9k's: if it can VHT, with `firmware_aggregates`, with \
        `aql`, and in what is not Linux")]
    pub destination_filter: Key<Choice<Option<DestinationFilter>>>,
    /// sets `scheme` with its parameters, `block_ack_window` and the maximum MPDU length that is announced;
    /// keys beside it override it. Notes name streams and width that the device does not have. `stillair
    /// check` prints values without a source
    #[key(or = "none")]
    pub device: Key<Product>,
    /// window of a Block Ack session in frames, and so the limit of an aggregate: what it requests as sender
    /// and grants as receiver. The smaller of both ends counts, and more than 64 only between HE devices.
    /// Between HT devices an aggregate has at most half of it, as in ath9k. Other drivers of HE: 256 of
    /// iwlwifi, 128 of rtw89, which grants 64
    #[key(to = block_ack_window, hidden, or = "256 with the schemes `mt76` and `ath11k`, 64 with the others, mac80211's default")]
    pub block_ack_window: Key<Int<1, { SeqWindow::MOST as i64 }, u16>>,
    /// empty delimiters of 4 bytes that its hardware needs after each frame of an aggregate that it encrypts:
    /// 10 for Atheros chips before the AR9300, none from that on
    #[key(to = cipher_delimiters, or = "0; with the scheme `ath9k_htc` 10")]
    pub cipher_delimiters: Key<Int<0, 63>>,
    /// the channel that it is on
    #[key(need = "the name of a channel")]
    pub channel: Key<ChannelName>,
    /// its qdisc
    #[key(or = "that of the scheme")]
    pub qdisc: Key<Root<true>>,
}

/// Adds a device's keys to the resolved scenario.
pub(in super::super) fn resolved(wifi: &Wifi, out: &mut Json) {
    let mut keys = super::resolved::<OfWifi, _>(wifi);
    keys.extend(super::resolved::<Hardware, _>(&wifi.hardware));
    keys.extend(super::resolved::<Sender, _>(wifi));
    keys.extend(super::resolved::<Receiver, _>(wifi));
    let rts_threshold = (wifi.rts_threshold < u32::MAX).then_some(wifi.rts_threshold);
    keys.insert("rts_threshold_bytes".to_owned(), rts_threshold.into());
    // Omit the default, so that results stored before the key existed still match.
    if wifi.block_ack_window != SeqWindow::SIZE {
        keys.insert("block_ack_window".to_owned(), wifi.block_ack_window.into());
    }
    keys.into_iter().for_each(|(key, value)| out[key] = value);
}

/// Rules of the destination filter, named by the kernels that have them.
impl Named for Option<DestinationFilter> {
    const NAMES: &'static [&'static str] = &["none", "linux-4.4", "linux-4.9"];
    const ALL: &'static [(&'static str, Self)] = &[
        ("none", None),
        ("linux-4.4", Some(DestinationFilter::SentAgain)),
        ("linux-4.9", Some(DestinationFilter::Dropped)),
    ];
}
