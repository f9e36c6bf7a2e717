//! Netlink messages: a header, a fixed part, and attributes.

/// Length of `nlmsghdr` in bytes.
pub const HEADER: usize = 16;
/// Message type `NLMSG_ERROR`: an error or an acknowledgement.
pub const ERROR: u16 = 2;
/// `NLM_F_REQUEST`.
pub const REQUEST: u16 = 1;
/// `NLM_F_ACK`.
pub const ACK: u16 = 4;

/// A writer of consecutive messages.
#[derive(Debug, Default)]
pub struct Messages {
    bytes: Vec<u8>,
    begin: usize,
}

impl Messages {
    /// Starts a message.
    pub fn begin(&mut self, kind: u16, flags: u16, fixed: &[u8]) -> &mut Self {
        self.begin = self.bytes.len();
        self.bytes.extend([0; 4]);
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend(flags.to_ne_bytes());
        self.bytes.extend([0; 8]);
        self.bytes.extend(fixed);
        self.close()
    }

    /// Adds an attribute to the message.
    pub fn with(&mut self, kind: u16, value: &[u8]) -> &mut Self {
        attribute(&mut self.bytes, kind, value);
        self.close()
    }

    fn close(&mut self) -> &mut Self {
        let len = (self.bytes.len() - self.begin) as u32;
        self.bytes[self.begin..][..4].copy_from_slice(&len.to_ne_bytes());
        self
    }

    /// The bytes of all messages.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Removes all messages.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// Writes an attribute, padded to four bytes.
pub fn attribute(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    out.extend((value.len() as u16 + 4).to_ne_bytes());
    out.extend(kind.to_ne_bytes());
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
}

/// The attributes in `bytes`. A truncated attribute ends the list.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    core::iter::from_fn(move || {
        let (&[a, b, c, d], _) = bytes.split_first_chunk::<4>()?;
        let len = usize::from(u16::from_ne_bytes([a, b]));
        let value = bytes.get(4..len)?;
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
        // The two upper bits say how the value is to be read.
        Some((u16::from_ne_bytes([c, d]) & 0x3fff, value))
    })
}

/// The messages in `bytes`: type, and the bytes after the header. A truncated message ends the list.
pub fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    core::iter::from_fn(move || {
        let header = bytes.get(..HEADER)?;
        let len = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let body = bytes.get(HEADER..len)?;
        let kind = u16::from_ne_bytes([header[4], header[5]]);
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, body))
    })
}

/// The error number (`errno`) of a response; zero is an acknowledgement.
pub fn outcome(bytes: &[u8]) -> Option<i32> {
    let (_, body) = messages(bytes).find(|(kind, _)| *kind == ERROR)?;
    let code: [u8; 4] = body.get(..4)?.try_into().ok()?;
    Some(-i32::from_ne_bytes(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut out = Messages::default();
        out.begin(16, REQUEST, &[1, 2, 3, 4]).with(3, b"wlan0\0").with(4, &7_u32.to_ne_bytes());
        out.begin(20, REQUEST | ACK, &[]).with(0x8001, &[9]);
        let all: Vec<_> = messages(out.bytes()).collect();
        assert_eq!(
            all.iter().map(|(kind, body)| (*kind, body.len())).collect::<Vec<_>>(),
            [(16, 24), (20, 8)]
        );
        let read: Vec<_> = attributes(&all[0].1[4..]).collect();
        assert_eq!(read, [(3, &b"wlan0\0"[..]), (4, &7_u32.to_ne_bytes()[..])]);
        assert_eq!(attributes(all[1].1).collect::<Vec<_>>(), [(1, &[9][..])]);
        for cut in 0..out.bytes().len() {
            let seen: usize = messages(&out.bytes()[..cut]).map(|(_, body)| attributes(body).count()).sum();
            assert!(seen <= 4);
        }
    }

    #[test]
    fn an_error_has_its_number() {
        let mut answer = Messages::default();
        answer.begin(ERROR, 0, &(-17_i32).to_ne_bytes());
        assert_eq!(outcome(answer.bytes()), Some(17));
        assert_eq!(outcome(&answer.bytes()[..15]), None);
    }
}
