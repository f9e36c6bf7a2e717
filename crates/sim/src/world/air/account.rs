//! Read access to the air: accounts, backlogs of devices and radios, losses, and rate control statistics.

use stillair_model::types::{DevId, IfId, Instant, Packets, Pkt, SockId};
use stillair_model::wifi::air::account::AirAccount;
use stillair_model::wifi::air::ppdu::Mpdu;
use stillair_model::wifi::dev::WifiDev;
use stillair_model::wifi::phy::frame::Cipher;
use stillair_model::wifi::power::saver::SaverCounters;
use stillair_model::wifi::rate::{RateControl, StatsRow};
use stillair_model::wifi::rx::RxTid;
use stillair_model::wifi::tx::transmitter::TIDS;

use super::Air;
use crate::recorder::Losses;

/// Backlog of a device, layer by layer.
pub(in crate::world) struct Within<'a> {
    dev: &'a WifiDev,
    air: &'a Air,
    id: DevId,
}

impl<'a> Within<'a> {
    /// Cipher of the device's frames.
    pub(in crate::world) fn cipher(&self) -> Cipher {
        self.air.channels[self.air.radios[self.dev.radio.index()].channel.index()].cipher
    }

    /// Packets and bytes in the driver's queues.
    pub(in crate::world) fn queued(&self) -> (u64, u64) {
        self.dev.queued()
    }

    /// Frames with a sequence number waiting for transmission or retransmission.
    pub(in crate::world) fn waiting(&self) -> impl Iterator<Item = &'a Mpdu> {
        self.dev.waiting()
    }

    /// Frames in the hardware.
    pub(in crate::world) fn hardware(&self) -> impl Iterator<Item = &'a Mpdu> {
        let id = self.id;
        let ppdus = self.air.radios[self.dev.radio.index()].ppdus();
        ppdus.filter(move |p| p.header.dev == id).flat_map(|p| &p.mpdus)
    }

    /// Received packets not yet passed up; of an A-MSDU, only the first.
    pub(in crate::world) fn received(&self) -> impl Iterator<Item = Pkt> {
        self.dev.received()
    }
}

impl Air {
    /// Accounts the airtime up to `end` and checks that it adds up. The error names the channel that does
    /// not.
    pub(in crate::world) fn close(&mut self, end: Instant) -> Result<(), String> {
        for channel in &mut self.channels {
            channel.close(end, &self.radios);
            let booked = channel.account.total();
            if booked != end - Instant::ZERO {
                return Err(format!("air of channel {}: {booked:?} booked of {end:?}", channel.name));
            }
            let foreign = channel.partly_connected.as_ref().and_then(|partly| partly.foreign.as_ref());
            foreign.map_or(Ok(()), |foreign| foreign.check())?;
        }
        Ok(())
    }

    /// Returns the airtime account of each channel, by channel name.
    pub(in crate::world) fn accounts(&self) -> Vec<(String, &AirAccount)> {
        self.channels.iter().map(|c| (c.name.clone(), &c.account)).collect()
    }

    /// Returns the number of packets in drivers and in radios.
    pub(in crate::world) fn held(&self, packets: &Packets) -> (u64, u64) {
        let drivers = self.wlans.iter().map(|s| s.dev.held(packets)).sum();
        let in_hardware = self.radios.iter().flat_map(|r| r.ppdus()).flat_map(|p| &p.mpdus);
        (drivers, in_hardware.map(Mpdu::held).sum())
    }

    /// Returns the sockets charged for frames whose packets have moved on.
    pub(in crate::world) fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        let in_hardware = self.radios.iter().flat_map(|r| r.ppdus()).flat_map(|p| &p.mpdus);
        let waiting = self.wlans.iter().flat_map(|s| s.dev.waiting());
        let reports = self.wlans.iter().flat_map(|s| s.dev.unheard_charges());
        in_hardware.chain(waiting).filter(|m| m.pkt.is_none()).map(|m| (m.charge, m.truesize)).chain(reports)
    }

    /// Returns the backlog of a device.
    pub(in crate::world) fn within(&self, id: DevId) -> Within<'_> {
        Within { dev: &self.wlans[id.index()].dev, air: self, id }
    }

    /// Returns the number of frames received more than once because an acknowledgement was lost.
    pub(in crate::world) fn duplicates(&self) -> u64 {
        self.wlans.iter().map(|w| w.dev.duplicates()).sum()
    }

    /// Returns the rate control statistics of each link without a fixed rate: sending interface, receiving
    /// interface, and one row per rate.
    pub(in crate::world) fn rate_stats(&self) -> impl Iterator<Item = (IfId, IfId, Vec<StatsRow>)> {
        let links = self.wlans.iter().flat_map(|w| w.stations().map(move |p| (w.interface, p)));
        let learning =
            links.filter(|(_, peer)| !matches!(peer.rate, RateControl::Fixed(_) | RateControl::Traced(_)));
        learning.map(|(from, peer)| (from, self.wlans[peer.remote.0.index()].interface, peer.rate.rows()))
    }

    /// Returns the power save and scan counters of stations until `now`, by interface.
    pub(in crate::world) fn savers(&self, now: Instant) -> impl Iterator<Item = (IfId, SaverCounters)> {
        self.wlans.iter().filter_map(move |w| Some((w.interface, w.dev.saver_counters(now)?)))
    }

    /// Returns the losses and duplicates of each link, with the sending and the receiving interface.
    pub(in crate::world) fn losses(&self) -> impl Iterator<Item = (IfId, IfId, Losses)> {
        let links = self.wlans.iter().flat_map(|w| w.stations().map(move |p| (w.interface, p)));
        links.map(|(from, peer)| {
            let (dev, back) = peer.remote;
            let receiver = &self.wlans[dev.index()];
            let of =
                |count: fn(&RxTid) -> u64| (0..TIDS as u8).map(|tid| count(receiver.dev.rx(back, tid))).sum();
            let losses = Losses {
                mpdus_broken: of(|rx| rx.broken),
                ppdus_unheard: peer.unheard,
                answers_lost: peer.answers_lost,
                mpdus_twice: of(|rx| rx.duplicates),
                begun_amid: peer.begun_amid,
            };
            (from, receiver.interface, losses)
        })
    }

    /// Corrupts the account for a test: accounts the first channel's airtime beyond the present.
    #[cfg(test)]
    pub(in crate::world) fn book_ahead(&mut self, until: Instant) {
        self.channels[0].account.book(stillair_model::wifi::air::account::AirUse::Ack, until);
    }
}
