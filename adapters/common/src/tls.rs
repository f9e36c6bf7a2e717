//! TLS 1.3 with rustls and ring, for stacks that use them.

use std::error::Error;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// A server configuration, and a client configuration that trusts it.
pub struct Pair {
    /// Client side.
    pub client: ClientConfig,
    /// Server side, which accepts early data as required by QUIC.
    pub server: ServerConfig,
}

/// Creates a server with a random certificate for `localhost`, and a client that trusts it.
///
/// # Errors
/// No random numbers are available.
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
    // spec: rfc9001 4.6.1 - the only value other than zero that QUIC allows.
    server.max_early_data_size = u32::MAX;
    Ok(Pair { client, server })
}
