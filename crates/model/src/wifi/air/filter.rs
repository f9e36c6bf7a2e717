//! The destination filter of Atheros hardware: after a PPDU has failed in all its attempts, other PPDUs of
//! its queue to the same station return to the driver unsent, until a PPDU clears the filter.
// linux: drivers/net/wireless/ath/ath9k/ar9003_mac.c AR_DestIdxValid, AR_ClrDestMask, ATH9K_TXERR_FILT (4.4);
// main.c ath9k_sta_add, xmit.c setup_frame_info (4.4) - data of an access point has an index of its station,
// other data that of its key, if there is one.
// linux: drivers/net/wireless/ath/ath9k/mac.c ath9k_hw_set_tx_filter (4.4), ath5k/reg.h
// AR5K_DCU_TX_FILTER_0_BASE (4.4) - each queue has a mask of its own, of 128 destinations.
// deviation: a failure sets the bit of its own queue alone - no source says which, but the driver writes each
// queue's by itself.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::types::{Ac, DevId, PeerId};
use crate::wifi::air::ppdu::{Content, Header, Ppdu};

/// What happens to PPDUs that ath9k hardware returns unsent because a PPDU to the same destination has failed
/// in all its tries ([`Filter`]), and what clears the hardware's filter.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (4.4, 4.11) - frames of a session are
// sent again by the driver, and count one try more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DestinationFilter {
    /// Linux before 4.9. mac80211 sends a single frame once more, which clears the filter, and drops the
    /// frame the second time. When a PPDU of a Block Ack session failed or was returned, the session's next
    /// PPDU clears the filter. A single frame that failed does not.
    // linux: net/mac80211/status.c ieee80211_handle_filtered_frame, tx.c ieee80211_tx_pending_skb,
    // ieee80211_tx_prepare (4.4) - what is sent again is processed anew, which takes the mark that the filter
    // is to be lifted; ath9k/xmit.c ath_tx_start (4.4) - heeds it.
    SentAgain,
    /// Linux 4.9 and later. The driver frees single frames. The next PPDU of a TID with a failed or returned
    /// PPDU clears the filter.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_status, ath_tx_process_buffer (4.11) - a frame is
    // handed back to mac80211 only if its status was asked for; two patches of August 2016.
    Dropped,
}

/// The destinations that a radio's filter blocks, and the PPDUs that the radio has returned unsent.
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
