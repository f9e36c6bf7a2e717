//! TLS 1.3 by rustls and ring, for stacks that take theirs from there.

use std::error::Error;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// A server, and a client that trusts it.
pub struct Pair {
    /// The client's side.
    pub client: ClientConfig,
    /// The server's side, which takes early data as QUIC wants it.
    pub server: ServerConfig,
}

/// A server with a certificate for `localhost`, drawn anew, and a client that trusts it.
///
/// # Errors
/// There is no randomness.
pub fn pair() -> Result<Pair, Box<dyn Error>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let der = CertificateDer::from(certified.cert);
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let mut roots = RootCertStore::empty();
    roots.add(der.clone())?;
    let client = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut server = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![der], key.into())?;
    // spec: rfc9001 4.6.1 - the only value but zero that QUIC allows.
    server.max_early_data_size = u32::MAX;
    Ok(Pair { client, server })
}
