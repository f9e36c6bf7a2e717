//! Real cryptography, and how closely the sizes without encryption match.

use proptest::prelude::*;
use stillair_model::transport::quic::QuicRole;
use stillair_model::types::Seed;
use stillair_quinn::{QuinnStack, Settings, SimNull};

use super::bench::{Fifo, Seen, download};
use super::ends;
use super::headers::agree;

fn run(settings: Settings, bytes: u64, seed: u64) -> Seen {
    let mut ends = [(QuicRole::Client, "client"), (QuicRole::Server, "server")].map(|(role, name)| {
        let parts = settings.parts().with_tls(settings.handshake.certificates);
        QuinnStack::new(role, parts, &mut Seed { seed, run: 0 }.stream(name))
    });
    download(&mut ends, bytes, 1, [Fifo::PLAIN; 2], 1)
}

/// The system provides the keys, so bytes differ from run to run; times and lengths do not.
#[test]
fn times_and_lengths_are_reproducible() {
    let [a, b] = [(); 2].map(|()| run(Settings::QUINN, 10_000_000, 1));
    assert_eq!(a.shape, b.shape);
    assert_ne!(a.hash, b.hash);
    assert_eq!(a.read.into_values().collect::<Vec<_>>(), [10_000_000]);
}

/// UDP payloads of the datagrams of each end until the client can send data, and the time of that, by size of
/// the server's messages after its hello: equal with TLS and without encryption. A server flight that fits
/// into one datagram is padded; the rest of one longer than three datagrams waits until the client's address
/// is validated. With other seeds TLS differs by a few bytes, see below.
#[test]
fn the_handshake_without_encryption_has_the_sizes_of_tls() {
    for (certificates, client, server, us) in [
        (700, &[1_200][..], &[1_200][..], 8_392),
        (1_500, &[1_200, 1_200], &[1_200, 676], 8_505),
        (2_800, &[1_200, 1_200, 50], &[1_200, 1_200, 823], 8_725),
        (4_006, &[1_200, 1_200, 50, 50], &[1_200, 1_200, 1_200, 876], 16_734),
    ] {
        let settings = Settings { handshake: SimNull { certificates, ..SimNull::TLS }, ..Settings::QUINN };
        let null = download(&mut ends(settings, 1), 10_000_000, 1, [Fifo::PLAIN; 2], 1);
        let tls = run(settings, 10_000_000, 1);
        agree(&tls);
        assert_eq!(null.shape, tls.shape, "{certificates}: the transfer after it");
        for (seen, crypto) in [(null, "null"), (tls, "TLS")] {
            let [a, b] =
                seen.handshake.map(|all| all.iter().map(|datagram| datagram.len).collect::<Vec<_>>());
            let at = seen.established.nanos() / 1_000;
            assert_eq!((&a[..], &b[..], at), (client, server, us), "{crypto}, {certificates}");
        }
    }
}

// spec: rfc9000 18.1 - an endpoint may add a reserved transport parameter. quinn adds one with 0 to 15 random
// bytes; with seed 1, for which the sizes without encryption were set, it has 4.
/// Difference in bytes between TLS and the same handshake without encryption. Everything else has a fixed
/// length, including the Ed25519 signature.
const BY_CHANCE: core::ops::RangeInclusive<i32> = -4..=11;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For any seed and chain, the transfer with TLS equals one without encryption whose chain is longer or
    /// shorter by that difference: datagram by datagram, in lengths and times.
    #[test]
    fn the_tls_handshake_matches_one_without_encryption(seed: u64, certificates in 700_u32..8_000) {
        let with = |certificates| {
            Settings { handshake: SimNull { certificates, ..SimNull::TLS }, ..Settings::QUINN }
        };
        let tls = run(with(certificates), 10_000, seed);
        agree(&tls);
        let mut same = BY_CHANCE.filter(|more| {
            let settings = with(certificates.saturating_add_signed(*more));
            download(&mut ends(settings, seed), 10_000, 1, [Fifo::PLAIN; 2], 1).shape == tls.shape
        });
        prop_assert!(same.next().is_some(), "{:?}", tls.handshake.map(|all| all.len()));
    }

    /// Without encryption, handshake sizes do not depend on the seed.
    #[test]
    fn the_handshake_without_encryption_has_a_fixed_length(seed: u64, certificates in 700_u32..8_000) {
        let settings = Settings { handshake: SimNull { certificates, ..SimNull::TLS }, ..Settings::QUINN };
        let [a, b] = [1, seed].map(|seed| {
            let seen = download(&mut ends(settings, seed), 10_000, 1, [Fifo::PLAIN; 2], 1);
            (seen.handshake.map(|all| all.iter().map(|datagram| datagram.len).collect::<Vec<_>>()), seen.established)
        });
        prop_assert_eq!(a, b);
    }
}
