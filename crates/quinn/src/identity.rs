//! Values that quinn would request from the operating system, drawn from a random stream instead: the
//! generator's seed, connection IDs, and the keys of reset and address validation tokens.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use quinn_proto::crypto::{AeadKey, CryptoError, HandshakeTokenKey, HmacKey};
use quinn_proto::{ConnectionId, ConnectionIdGenerator, EndpointConfig, TimeSource};
use stillair_model::types::RandomStream;

/// Length of a connection ID, as in quinn.
const CID: usize = 8;

/// Length of the ID that a client chooses for the server, as in quinn.
const FIRST_CID: usize = 20;

/// All random values of one end.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    seed: [u8; 32],
    cids: RandomStream,
    key: u64,
    first: ConnectionId,
}

impl Identity {
    pub(crate) fn new(random: &mut RandomStream) -> Self {
        let mut seed = [0; 32];
        fill(random, &mut seed);
        let mut first = [0; FIRST_CID];
        fill(random, &mut first);
        Self { seed, cids: random.split(), key: random.bits(), first: ConnectionId::new(&first) }
    }

    /// Configuration of an endpoint that draws no random values itself.
    pub(crate) fn endpoint(&self) -> EndpointConfig {
        let mut config = EndpointConfig::new(Arc::new(Hash(self.key)));
        let cids = self.cids.clone();
        config.cid_generator(move || Box::new(Cids(cids.clone()))).rng_seed(Some(self.seed));
        config
    }

    /// The ID that a client uses for the server before it knows the server's own.
    pub(crate) fn first_cid(&self) -> ConnectionId {
        self.first
    }

    /// Key of address validation tokens.
    pub(crate) fn token_key(&self) -> Arc<dyn HandshakeTokenKey> {
        Arc::new(Hash(self.key))
    }
}

fn fill(random: &mut RandomStream, out: &mut [u8]) {
    for part in out.chunks_mut(8) {
        part.copy_from_slice(&random.bits().to_le_bytes()[..part.len()]);
    }
}

/// A sequence of connection IDs.
struct Cids(RandomStream);

impl ConnectionIdGenerator for Cids {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.bits().to_le_bytes())
    }
    fn cid_len(&self) -> usize {
        CID
    }
    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// A hash for all keyed functions of tokens: nothing forges tokens in a simulation.
#[derive(Clone, Copy)]
struct Hash(u64);

/// Length of its output, and of a seal.
const HASH: usize = 16;

impl Hash {
    fn of(self, parts: &[&[u8]]) -> [u8; HASH] {
        let mut out = [0; HASH];
        for (half, part) in out.chunks_mut(8).enumerate() {
            // FNV-1a, with a different initial value for each half.
            let mut h = 0xcbf2_9ce4_8422_2325 ^ self.key(half as u64);
            for byte in parts.iter().copied().flatten() {
                h = (h ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            // Never zero, unlike the tags of packets without encryption: no packet looks like a stateless
            // reset.
            part.copy_from_slice(&(h | 1).to_le_bytes());
        }
        out
    }

    fn key(self, half: u64) -> u64 {
        self.0.rotate_left(32 * half as u32) ^ half
    }
}

impl HmacKey for Hash {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        signature_out.copy_from_slice(&self.of(&[data])[..signature_out.len()]);
    }
    fn signature_len(&self) -> usize {
        HASH
    }
    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        if self.of(&[data]) == signature { Ok(()) } else { Err(CryptoError) }
    }
}

impl HandshakeTokenKey for Hash {
    fn aead_from_hkdf(&self, random_bytes: &[u8]) -> Box<dyn AeadKey> {
        let [a, b, c, d, e, f, g, h, ..] = self.of(&[random_bytes]);
        Box::new(Self(u64::from_le_bytes([a, b, c, d, e, f, g, h])))
    }
}

impl AeadKey for Hash {
    fn seal(&self, data: &mut Vec<u8>, additional_data: &[u8]) -> Result<(), CryptoError> {
        let tag = self.of(&[data, additional_data]);
        data.extend_from_slice(&tag);
        Ok(())
    }
    fn open<'a>(&self, data: &'a mut [u8], additional_data: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let at = data.len().checked_sub(HASH).ok_or(CryptoError)?;
        let (content, tag) = data.split_at_mut(at);
        if self.of(&[content, additional_data]) == *tag { Ok(content) } else { Err(CryptoError) }
    }
}

/// A constant date: tokens do not expire.
pub(crate) struct NoDate;

impl TimeSource for NoDate {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 30)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stillair_model::types::Seed;

    #[test]
    fn identities_depend_on_the_stream_only() {
        let make = |run| Identity::new(&mut Seed { seed: 1, run }.stream("quic"));
        let cids = |identity: &Identity| {
            let mut cids = Cids(identity.cids.clone());
            [identity.first, cids.generate_cid(), cids.generate_cid()]
        };
        assert_eq!(cids(&make(0)), cids(&make(0)));
        assert_ne!(cids(&make(0)), cids(&make(1)));
        assert_eq!(cids(&make(0)).map(|cid| cid.len()), [20, 8, 8]);
    }

    #[test]
    fn seals_open_with_the_same_key_and_addition_only() {
        let open = |key: u64, addition: &[u8], flip: u8| {
            let mut data = b"token".to_vec();
            Hash(7).aead_from_hkdf(b"nonce").seal(&mut data, b"address").expect("seals");
            data[0] ^= flip;
            Hash(key).aead_from_hkdf(b"nonce").open(&mut data, addition).map(|content| content.to_vec()).ok()
        };
        assert_eq!(open(7, b"address", 0).as_deref(), Some(b"token".as_slice()));
        assert_eq!(
            [open(8, b"address", 0), open(7, b"other", 0), open(7, b"address", 1)],
            [None, None, None]
        );
        let signed = Hash(7).of(&[b"cid"]);
        assert!(Hash(7).verify(b"cid", &signed).is_ok() && Hash(7).verify(b"cie", &signed).is_err());
        assert!(signed.iter().any(|byte| *byte != 0));
    }
}
