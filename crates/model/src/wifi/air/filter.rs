//! Destination filter of Atheros hardware. After a PPDU has failed in all its tries, other PPDUs in its queue
//! to the same station return to the driver unsent, until a PPDU clears the filter.
// linux: drivers/net/wireless/ath/ath9k/ar9003_mac.c AR_DestIdxValid, AR_ClrDestMask, ATH9K_TXERR_FILT (4.4);
// main.c ath9k_sta_add, xmit.c setup_frame_info (4.4) - data frames of an access point carry the index of
// their station, other data frames that of their key, if any.
// linux: drivers/net/wireless/ath/ath9k/mac.c ath9k_hw_set_tx_filter (4.4), ath5k/reg.h
// AR5K_DCU_TX_FILTER_0_BASE (4.4) - each queue has its own mask of 128 destinations.
// deviation: a failure sets the bit of its own queue only - no source documents this, but the driver writes
// each queue's mask separately.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::types::{Ac, DevId, PeerId};
use crate::wifi::air::ppdu::{Content, Header, Ppdu};

/// Handling of PPDUs that ath9k hardware returns unsent because a PPDU to the same destination has failed in
/// all its tries ([`Filter`]), and the conditions that clear the hardware's filter.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (4.4, 4.11) - the driver retries frames
// of a session and counts one more try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DestinationFilter {
    /// Linux before 4.9. mac80211 retries a single frame once, which clears the filter, and drops the frame
    /// the second time. After a failed or returned PPDU of a Block Ack session, the session's next PPDU
    /// clears the filter. A failed single frame does not.
    // linux: net/mac80211/status.c ieee80211_handle_filtered_frame, tx.c ieee80211_tx_pending_skb,
    // ieee80211_tx_prepare (4.4) - a retried frame passes the TX handlers again, which take the clear-filter
    // flag of the station; ath9k/xmit.c ath_tx_start (4.4) - honours the flag.
    SentAgain,
    /// Linux 4.9 and later. The driver frees single frames. The next PPDU of a TID with a failed or returned
    /// PPDU clears the filter.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_status, ath_tx_process_buffer (4.11) - returns a
    // frame to mac80211 only if its status was requested; two patches of August 2016.
    Dropped,
}

/// Destinations blocked by a radio's filter, and the PPDUs that the radio has returned unsent.
#[derive(Debug, Default)]
pub struct Filter {
    /// Blocked device, peer and access category.
    set: Vec<(DevId, PeerId, Ac)>,
    /// Returned PPDUs that the driver has not processed.
    pub(super) returned: VecDeque<Box<Ppdu>>,
}

impl Filter {
    /// Returns true if any destination is blocked.
    #[inline]
    pub(super) fn is_set(&self) -> bool {
        !self.set.is_empty()
    }

    /// Blocks the destination of a PPDU that has failed in all its tries.
    pub(super) fn set(&mut self, header: &Header) {
        let whom = (header.dev, header.peer, header.ac);
        if matches!(header.content, Content::Data { .. }) && !self.set.contains(&whom) {
            self.set.push(whom);
        }
    }

    /// Reports whether the filter stops the PPDU at the head of its queue. Clears the filter if the PPDU does
    /// so.
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
