//! With real cryptography, and how near the sizes without it come.

use stillair_model::transport::quic::Role;
use stillair_model::vocabulary::Seed;
use stillair_quinn::{QuinnStack, Settings, SimNull};

use super::bench::{Fifo, Seen, download};
use super::ends;
use super::headers::agree;

fn run(settings: Settings) -> Seen {
    let mut ends = [(Role::Client, "client"), (Role::Server, "server")].map(|(role, name)| {
        let parts = settings.parts().with_tls(settings.handshake.certificates);
        QuinnStack::new(role, parts, &mut Seed { seed: 1, run: 0 }.stream(name))
    });
    download(&mut ends, 10_000_000, 1, [Fifo::PLAIN; 2], 1)
}

/// Keys are drawn from the system, so bytes differ from run to run; times and lengths do not.
#[test]
fn times_and_lengths_are_the_same_each_time() {
    let [a, b] = [run(Settings::QUINN), run(Settings::QUINN)];
    assert_eq!(a.shape, b.shape);
    assert_ne!(a.hash, b.hash);
    assert_eq!(a.read.into_values().collect::<Vec<_>>(), [10_000_000]);
}

/// UDP payload of the datagrams of each end until the client could send data, by bytes of the server's part after its hello,
/// and when that was: with TLS as without encryption. What ends within a datagram is padded; a part of more than three
/// datagrams waits for the client's address to be proved.
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
        let tls = run(settings);
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
