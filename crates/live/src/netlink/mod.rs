//! Netlink messages to and from the kernel.

pub mod queue;
pub mod route;

use netlink_packet_core::{ErrorBuffer, NLMSG_ERROR, NetlinkBuffer};

/// The messages in `bytes`. A truncated message ends the list.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = NetlinkBuffer<&[u8]>> {
    core::iter::from_fn(move || {
        let message = NetlinkBuffer::new_checked(bytes).ok()?;
        bytes = bytes.get((message.length() as usize).next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}

/// The error number (`errno`) of a response; zero is an acknowledgement. `None` without a response.
pub fn outcome(bytes: &[u8]) -> Option<i32> {
    let error = messages(bytes).find(|message| message.message_type() == NLMSG_ERROR)?;
    let code = ErrorBuffer::new_checked(error.payload()).ok()?.code();
    Some(code.map_or(0, |code| code.get().wrapping_neg()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_its_number() {
        let mut answer = [0; 36];
        (answer[0], answer[4]) = (36, NLMSG_ERROR as u8);
        assert_eq!(outcome(&answer), Some(0));
        answer[16..20].copy_from_slice(&(-17_i32).to_ne_bytes());
        assert_eq!(outcome(&answer), Some(17));
        assert_eq!(outcome(&answer[..15]), None);
        // A link message precedes the error.
        let link = [20, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4];
        assert_eq!(outcome(&[&link[..], &answer].concat()), Some(17));
        assert_eq!(outcome(&link), None);
    }
}
