//! Keys that leave the content unchanged and only extend a packet by a tag.

use bytes::BytesMut;
use quinn_proto::crypto::{CryptoError, HeaderKey, KeyPair, Keys, PacketKey};

/// Length of the tag, as with AES-GCM and ChaCha20-Poly1305.
const TAG: usize = 16;

struct NullKey;

impl PacketKey for NullKey {
    fn encrypt(&self, _: u64, buf: &mut [u8], _: usize) {
        let tag = buf.len() - TAG;
        buf[tag..].fill(0);
    }
    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        payload.truncate(payload.len().checked_sub(TAG).ok_or(CryptoError)?);
        Ok(())
    }
    fn tag_len(&self) -> usize {
        TAG
    }
    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }
    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for NullKey {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}
    fn encrypt(&self, _: usize, _: &mut [u8]) {}
    // Packets shorter than a sample are padded, as with real keys.
    fn sample_size(&self) -> usize {
        TAG
    }
}

/// Keys of an encryption level.
pub(super) fn null_keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(NullKey), remote: Box::new(NullKey) },
        packet: null_packet_keys(),
    }
}

/// Packet keys for a key update.
pub(super) fn null_packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(NullKey), remote: Box::new(NullKey) }
}
