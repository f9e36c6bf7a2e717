//! Medium of a channel.

use stillair_model::wifi::air::medium::Medium;

use crate::scenario::Channel;

/// Creates a channel's medium, without contending functions.
pub(super) fn medium(channel: &Channel) -> Medium {
    let timing = channel.timing();
    let medium = Medium::new(timing.sifs, timing.slot);
    if channel.busy_backoff { medium } else { medium.without_busy_backoff() }
}
