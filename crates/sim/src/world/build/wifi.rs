//! Channels, radios and their devices.

use stillair_model::types::{Ac, ChannelId, DevId, Duration, Instant, PlaceId, Seed};
use stillair_model::wifi::air::audibility::Audibility;
use stillair_model::wifi::air::capture::CaptureEffect;
use stillair_model::wifi::air::edca::{EdcaParams, EdcaSet};
use stillair_model::wifi::air::medium::{EdcafId, Medium};
use stillair_model::wifi::air::radio::{BEACON_QUEUE, QUEUES, Radio};
use stillair_model::wifi::air::views::Views;
use stillair_model::wifi::config::{DriverConfig, HtcParams, RetryCount};
use stillair_model::wifi::dev::WifiDev;
use stillair_model::wifi::driver::Driver;
use stillair_model::wifi::phy::{PhyRate, RateTry, RetryChain};
use stillair_model::wifi::power::saver::{Listen, Saver};
use stillair_model::wifi::power::sleepers::{Habits, Sleepers};
use stillair_model::wifi::rate::RateControl;
use stillair_model::wifi::seq_window::SeqWindow;
use stillair_model::wifi::tx::aggregate::AmsduLimits;
use stillair_model::wifi::tx::starts::Starts;
use stillair_model::wifi::tx::transmitter::{Peer, Transmitter, Windows};

use super::super::air::{AirChannel, Beacons, Wlan};
use super::foreign::foreign;
use super::medium::medium;
use super::{Plan, paths};
use crate::scenario::{self, InterfaceRef, Role, Scheme, Wifi};

/// EDCA parameters of beacons, which have priority over all categories.
// linux: drivers/net/wireless/ath/ath9k/beacon.c (4.4) - AIFSN 1 and no backoff.
const BEACON: EdcaParams = EdcaParams { aifsn: 1, cw_min: 0, cw_max: 0, txop: Duration::ZERO };

impl Plan<'_> {
    pub(super) fn edca(&self, at: InterfaceRef) -> EdcaSet {
        let wifi = self.wifi_of(at);
        let mut set = match wifi.role {
            Role::Ap => EdcaSet::ACCESS_POINT,
            Role::Station(_) => EdcaSet::STATION,
        };
        for ac in Ac::ALL {
            wifi.edca[ac.index()].apply(set.get_mut(ac));
            if let DriverConfig::Htc(_) = wifi.driver {
                // linux: drivers/net/wireless/ath/ath9k/htc_drv_txrx.c ath_htc_txq_update (4.14) - halves the
                // configured CWmin.
                set.get_mut(ac).cw_min /= 2;
            }
        }
        set
    }

    pub(super) fn wifi(&mut self, seed: Seed) -> (Vec<AirChannel>, Vec<Radio>, Vec<Wlan>) {
        let channel = |c: &scenario::Channel| {
            AirChannel::new(c.name.clone(), (c.timing(), c.cipher), c.protection, medium(c))
        };
        let mut channels: Vec<AirChannel> = self.scenario.channels.iter().map(channel).collect();
        let (mut radios, mut wlans) = (Vec::new(), Vec::new());
        // Radios of each channel, and one medium per radio if there are hidden stations.
        let mut on: Vec<Vec<(InterfaceRef, usize)>> = vec![Vec::new(); channels.len()];
        let mut media: Vec<Vec<Medium>> = channels.iter().map(|_| Vec::new()).collect();
        for n in 0..self.interfaces_of_devs.len() {
            let (at, id) = (self.interfaces_of_devs[n], DevId::from_index(n));
            let (wifi, name) = (self.wifi_of(at), self.name(at));
            // A shared radio uses the EDCA parameters of the interface that owns it.
            let edca = self.edca(wifi.radio.unwrap_or(at));
            if wifi.radio.is_none() {
                debug_assert_eq!(self.radios[n].index(), radios.len());
                let (index, channel) = (wifi.channel, &mut channels[wifi.channel]);
                let functions = if self.scenario.channels[index].is_one_medium() {
                    functions(channel.add_radio(radios.len()), &edca, &name, seed)
                } else {
                    let mut medium = medium(&self.scenario.channels[index]);
                    let functions = functions(&mut medium, &edca, &name, seed);
                    media[index].push(medium);
                    functions
                };
                let mut radio = Radio::new(ChannelId::from_index(index), functions, wifi.hardware, &edca);
                radio.number = on[index].len();
                on[index].push((at, radios.len()));
                radios.push(radio);
            }
            let mut tx = Transmitter::new(id);
            tx.lowest = channels[wifi.channel].timing().lowest;
            tx.rts_threshold = wifi.rts_threshold;
            tx.filter = wifi.filter;
            if RetryCount::of(&wifi.driver) == RetryCount::Tries {
                // linux: drivers/net/wireless/mediatek/mt76/mt7915/mac.c mt7915_mac_write_txwi (5.15) - same
                // limit as for other frames.
                tx.management_tries = wifi.retry_limit;
            }
            tx.starts = Some(Starts::new(seed.stream(&format!("{name}.sessions"))));
            for peer in self.peers[n].clone() {
                tx.add_peer(self.peer(at, peer, &edca, seed));
            }
            // linux: net/mac80211/tx.c (6.12) - sends group-addressed frames once, at the lowest basic rate.
            if let Some(group) = self.group_peer(at) {
                let once = RetryChain::new(&[RateTry::new(tx.lowest, 1)]).expect("one entry with a try");
                let all = tx.add_peer(Peer::new((id, group), RateControl::Fixed(once)));
                debug_assert_eq!(all, group);
                tx.group = Some(group);
            }
            let cipher = self.scenario.channels[wifi.channel].cipher;
            tx.tids.iter_mut().for_each(|tid| tid.encrypt(cipher));
            let place = self.place(format!("{name} mac"));
            let salt = seed.stream(&format!("{name}.mac.salt")).bits();
            let driver = Driver::new(wifi.driver.clone(), tx.peers.len(), place, salt);
            let interval = match wifi.role {
                Role::Ap => self.scenario.channels[wifi.channel].beacon_interval,
                Role::Station(_) => None,
            };
            // Access points' clocks are not synchronised; aligned beacons would collide in every interval.
            let mut tsf = seed.stream(&format!("{name}.tsf"));
            let beacons = interval.map(|interval| Beacons {
                first: Instant::ZERO + tsf.between(Duration::ZERO, interval),
                interval,
            });
            let mut dev = WifiDev::new(self.radios[n], tx, driver, wifi.retry_limit, place)
                .with_failed_ppdus_reported(wifi.report_failed_ppdus);
            if wifi.retry_limit_by_rate {
                dev = dev.with_limit_by_rate();
            }
            if let Some(params) = wifi.retry_out {
                dev = dev.with_retry_out(params);
            }
            if let DriverConfig::Htc(HtcParams { usb: Some(usb), .. }) = wifi.driver {
                dev = dev.behind_usb(usb);
            }
            if let Some(params) = wifi.rx_mitigation {
                dev = dev.with_rx_mitigation(params);
            }
            // deviation: behind USB, the host handles transfers, without a delay from the transfer to the
            // stack.
            let usb = matches!(wifi.driver, DriverConfig::Htc(HtcParams { usb: Some(_), .. }));
            if let Some(softirq) = self.softirq(at, seed).filter(|_| !usb) {
                dev = dev.with_softirq(softirq);
            }
            dev = self.power(at, n, dev, place);
            let errors = seed.stream(&format!("{name}.errors"));
            wlans.push(Wlan::new(dev, self.id(at), errors, beacons));
        }
        for (index, mut media) in media.into_iter().enumerate().filter(|(_, media)| !media.is_empty()) {
            let given = &self.scenario.channels[index];
            let at = |radio: usize| on[index][radio].0;
            let own = media.len();
            let places: Vec<_> = (0..own).map(|radio| self.scenario.nodes[at(radio).node].position).collect();
            let foreign = foreign(given, &places, &mut media, seed);
            // Neighbours are heard by all radios and hear all of them. Radios of one node hear each other.
            let number = |at: InterfaceRef| on[index].binary_search_by_key(&at, |&(radio, _)| radio).ok();
            let pairs = given.audible.pairs();
            let apart = pairs.all().filter(|(a, b, _)| a.node != b.node);
            let apart = apart.filter_map(|(a, b, hearing)| Some((number(a)?, number(b)?, hearing)));
            let hearing = Audibility::but_for(media.len(), apart);
            let capture = given.capture.as_ref().map(|capture| {
                CaptureEffect::new(capture.threshold, media.len(), |from, to| {
                    capture.between(at(from), at(to))
                })
            });
            let mut views = Views::new(media, hearing, channels[index].timing().eifs_extra());
            if let Some(capture) = capture {
                views = views.with_capture(capture);
            }
            let radios = on[index].iter().map(|&(_, radio)| radio).collect();
            channels[index].seen_by(views, radios, foreign);
        }
        (channels, radios, wlans)
    }

    /// Adds power save and scanning to a station's device, or buffering for sleeping stations to an access
    /// point's.
    fn power(&self, at: InterfaceRef, n: usize, dev: WifiDev, place: PlaceId) -> WifiDev {
        let wifi = self.wifi_of(at);
        if matches!(wifi.role, Role::Station(_)) && (wifi.power_save.is_some() || wifi.scan.is_some()) {
            return dev.with_saver(Saver::new(wifi.power_save.map(|(_, params)| params), wifi.scan));
        }
        let saves =
            |of: &InterfaceRef| self.wifi_of(*of).power_save.is_some() || self.wifi_of(*of).scan.is_some();
        let interval = self.scenario.channels[wifi.channel].beacon_interval;
        let any = wifi.scan.is_some() || self.peers[n].iter().any(saves);
        let (Role::Ap, Some(interval), true) = (&wifi.role, interval, any) else { return dev };
        let habits = |of: &InterfaceRef| {
            let saver = self.wifi_of(*of).power_save.map(|(_, params)| params);
            let listen = match saver.map(|params| params.listen) {
                Some(Listen::Every(n)) => n,
                Some(Listen::Dtim) => wifi.dtim_period,
                None => 1,
            };
            Habits { uapsd: saver.map_or(0, |p| p.uapsd), max_sp: saver.map_or(0, |p| p.max_sp), listen }
        };
        // linux: drivers/net/wireless/ath/ath10k/mac.c, ath11k/mac.c, mediatek/mt76/mt7915/init.c AP_LINK_PS
        // (6.12) - the firmware tracks sleeping stations; mac80211 does not.
        let host_keeps = !matches!(wifi.driver, DriverConfig::Firmware(..));
        let habits = self.peers[n].iter().map(habits).collect();
        let sleepers = Sleepers::new(habits, wifi.dtim_period, interval, host_keeps, place);
        dev.with_sleepers(sleepers.with_scan(wifi.scan))
    }

    pub(super) fn peer(&self, at: InterfaceRef, peer: InterfaceRef, edca: &EdcaSet, seed: Seed) -> Peer {
        let (station, path) = self.path(at, peer);
        // A station's only peer is its first.
        let back = self.numbers[self.dev(at).index()];
        let rates = if at == station { &path.uplink } else { &path.rates };
        let mut path_to = Peer::new((self.dev(peer), back), self.rate_control(at, peer, rates, seed));
        let (windows, frames) = windows(self.wifi_of(at).block_ack_window, path_to.chain.entries()[0].rate);
        (path_to.windows, path_to.most.0) = (windows, path_to.most.0.min(frames));
        if let DriverConfig::Htc(htc) = self.wifi_of(at).driver {
            path_to.most.0 = htc.max_frames.min(windows.asks.into());
            path_to.delimiter_counted = true;
        }
        path_to.sealing = self.wifi_of(at).cipher_delimiters;
        path_to.amsdu = amsdu(self.wifi_of(at), self.wifi_of(peer), path_to.chain.entries()[0].rate);
        path_to.choose(|ac| edca.get(ac).txop);
        path_to.errors = paths::errors(&path.errors, &self.scenario.error_tables);
        if let Some(trace) = &self.wifi_of(station).trace {
            paths::follow(&mut path_to, trace, |ac| edca.get(ac).txop);
        }
        path_to.weight = path.airtime_weight;
        // linux: drivers/net/wireless/mediatek/mt76/mt7915/mac.c mt7915_mac_write_txwi (5.15) - the same
        // retry count for each frame.
        let counts = RetryCount::of(&self.wifi_of(at).driver);
        if counts == RetryCount::Tries && !path.own_chain[usize::from(at == station)] {
            path_to.single_tries = Some(self.wifi_of(at).retry_limit);
        }
        path_to
    }
}

/// Returns the windows of Block Ack sessions that a device sets up at first rate `first`, and the maximum
/// number of frames per aggregate.
// linux: net/mac80211/agg-tx.c ieee80211_send_addba_with_timeout (6.12) - requests the driver's limit from HE
// peers, at most 64 from others; agg-rx.c __ieee80211_start_rx_ba_session (6.12) - grants the request up to
// the driver's limit.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_form_aggr (4.4) - half of the window.
fn windows(own: u16, first: PhyRate) -> (Windows, u32) {
    let asks = if matches!(first, PhyRate::He(_)) { own } else { own.min(SeqWindow::SIZE) };
    let aggregated = if matches!(first, PhyRate::Ht(_)) { asks.div_ceil(2) } else { asks };
    (Windows { asks, grants: own }, aggregated.into())
}

/// Returns the A-MSDU limits from one device to another, for a link with first rate `first`.
// linux: drivers/net/wireless/mediatek/mt76/mt7915/init.c mt7915_init_wiphy (6.12) - announces 7,991 bytes;
// include/linux/ieee80211.h IEEE80211_MAX_MPDU_LEN_VHT_3895 (6.12) - the minimum.
// linux: drivers/net/wireless/mediatek/mt76/mt7915/mcu.c mt7915_mcu_sta_amsdu_tlv (6.12) - MT7915 sends at
// most 7,991 bytes even to peers that announce more.
// linux: drivers/net/wireless/ath/ath9k/init.c (6.12) - does not set SUPPORTS_AMSDU_IN_AMPDU, so it accepts
// no A-MSDU in a Block Ack session.
// deviation: ath10k and ath11k announce the limit of their firmware, assumed to be 11,454 bytes. With VHT or
// HE, schemes of ath9k represent another device.
fn amsdu(from: &Wifi, to: &Wifi, first: PhyRate) -> AmsduLimits {
    let DriverConfig::Firmware(_, _, firmware) = &from.driver else { return AmsduLimits::NONE };
    let wide = matches!(first, PhyRate::Vht(_) | PhyRate::He(_));
    let announced = match to.scheme {
        _ if to.device.is_some() => to.device.map_or(0, |device| device.announces),
        Scheme::Mt76 => 7_991,
        Scheme::Ath10k | Scheme::Ath11k => 11_454,
        _ if wide => 3_895,
        _ => return AmsduLimits::NONE,
    };
    let sends = match from.device.filter(|device| device.scheme == from.scheme) {
        Some(device) => device.sends,
        None => (from.scheme == Scheme::Mt76).then_some(7_991),
    };
    let bytes = firmware.amsdu_bytes.unwrap_or(announced.min(sends.unwrap_or(announced)));
    AmsduLimits { packets: firmware.amsdu_frames, bytes, by_host: firmware.host_joins }
}

/// Adds a radio's contention functions to its medium.
fn functions(medium: &mut Medium, edca: &EdcaSet, name: &str, seed: Seed) -> [EdcafId; QUEUES] {
    let functions = core::array::from_fn(|queue| {
        let (params, label) = match Ac::ALL.get(queue) {
            Some(&ac) => (edca.get(ac), ac.name()),
            None => (BEACON, "beacon"),
        };
        medium.add(params, seed.stream(&format!("{name}.edca.{label}")))
    });
    debug_assert_eq!(functions.len(), BEACON_QUEUE + 1);
    functions
}
