//! The filter by destination of Atheros' hardware: where a PPDU has failed in all its tries, what else its queue holds to the same
//! station goes back to the driver unsent, until one comes that lifts that.
// linux: drivers/net/wireless/ath/ath9k/ar9003_mac.c AR_DestIdxValid, AR_ClrDestMask, ATH9K_TXERR_FILT (4.4); main.c ath9k_sta_add, xmit.c
// setup_frame_info (4.4) - data of an access point has an index of its station, other data that of its key, if there is one.
// linux: drivers/net/wireless/ath/ath9k/mac.c ath9k_hw_set_tx_filter (4.4), ath5k/reg.h AR5K_DCU_TX_FILTER_0_BASE (4.4) - each queue has a
// mask of its own, of 128 destinations.
// deviation: a failure sets the bit of its own queue alone - no source says which, but the driver writes each queue's by itself.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::vocabulary::{Ac, DevId, PeerId};
use crate::wifi::air::ppdu::{Content, Header, Ppdu};

/// Whom a radio sends nothing to, and what it has returned.
#[derive(Debug, Default)]
pub struct Filter {
    /// By device and its peer: in which category.
    set: Vec<(DevId, PeerId, Ac)>,
    /// PPDUs that the driver has not been told of.
    pub(super) returned: VecDeque<Box<Ppdu>>,
}

impl Filter {
    /// Whether anything is filtered at all.
    #[inline]
    pub(super) fn is_set(&self) -> bool {
        !self.set.is_empty()
    }

    /// A PPDU has failed in all its tries.
    pub(super) fn set(&mut self, header: &Header) {
        let whom = (header.dev, header.peer, header.ac);
        if matches!(header.content, Content::Data { .. }) && !self.set.contains(&whom) {
            self.set.push(whom);
        }
    }

    /// Whether a PPDU at the head of its queue is returned; one that lifts the filter does so.
    pub(super) fn stops(&mut self, ppdu: &Ppdu) -> bool {
        let header = &ppdu.header;
        let whom = (header.dev, header.peer, header.ac);
        let is_data = matches!(header.content, Content::Data { .. });
        let Some(place) = self.set.iter().position(|set| *set == whom).filter(|_| is_data) else {
            return false;
        };
        if ppdu.lifts {
            self.set.swap_remove(place);
        }
        !ppdu.lifts
    }
}
