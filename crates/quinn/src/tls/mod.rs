//! Real cryptography: TLS 1.3 with rustls and ring, and a test certificate.
//!
//! Its private key is public, in the sources: use it in a simulator only. It is an Ed25519 key because these
//! signatures have a fixed length, so packets have the same sizes in each run. Their bytes differ, because
//! the keys of a connection come from the system.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use quinn_proto::rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use quinn_proto::rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use quinn_proto::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use quinn_proto::rustls::time_provider::TimeProvider;
use quinn_proto::rustls::version::TLS13;
use quinn_proto::rustls::{
    self, CertificateError, ClientConfig, DigitallySignedStruct, PeerIncompatible, ServerConfig,
    SignatureScheme,
};

use crate::settings::QuinnParts;

const CERTIFICATE: &[u8] = include_bytes!("../tls/server.cert.der");
const KEY: &[u8] = include_bytes!("../tls/server.key.der");

/// Bytes that a server sends after its hello with the project's certificate and an additional empty one:
/// extensions with quinn's transport parameters (including one of 0 to 15 random bytes; here 4, as with seed
/// 1), certificates, signature and Finished.
const LEAST: u32 = 607;

impl QuinnParts {
    /// Uses TLS. The server's messages after ServerHello have `certificates` bytes, or more if its own
    /// certificate needs more: an unused certificate pads them, like a chain.
    pub fn with_tls(self, certificates: u32) -> Self {
        let made = crypto(certificates.saturating_sub(LEAST));
        let made = made.expect("a certificate and key that belong together, and TLS 1.3 in ring");
        Self { client: Arc::new(made.0), server: Arc::new(made.1), ..self }
    }
}

fn crypto(filler: u32) -> Result<(QuicClientConfig, QuicServerConfig), Box<dyn std::error::Error>> {
    // deviation: only AES-128, while rustls prefers AES-256 with SHA-384 - every QUIC endpoint supports
    // AES-128 (rfc9001 5.3 requires it), and its Finished has 36 bytes, as in the handshake without
    // encryption.
    let provider =
        CryptoProvider { cipher_suites: vec![TLS13_AES_128_GCM_SHA256], ..ring::default_provider() };
    let (provider, date) = (Arc::new(provider), Arc::new(NoDate));
    let mut chain = vec![CertificateDer::from(CERTIFICATE)];
    if filler > 0 {
        chain.push(CertificateDer::from(vec![0; filler as usize]));
    }
    let client = ClientConfig::builder_with_details(provider.clone(), date.clone())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned(provider.clone())))
        .with_no_client_auth();
    let mut server = ServerConfig::builder_with_details(provider, date)
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, PrivatePkcs8KeyDer::from(KEY).into())?;
    // Connections are not resumed, and the handshake without encryption has no tickets either.
    server.send_tls13_tickets = 0;
    Ok((client.try_into()?, server.try_into()?))
}

/// A constant date, as for tokens.
#[derive(Debug)]
struct NoDate;

impl TimeProvider for NoDate {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(1 << 30)))
    }
}

/// Accepts only the project's certificate.
#[derive(Debug)]
struct Pinned(Arc<CryptoProvider>);

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if end_entity.as_ref() == CERTIFICATE {
            return Ok(ServerCertVerified::assertion());
        }
        Err(CertificateError::UnknownIssuer.into())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(PeerIncompatible::Tls13RequiredForQuic.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
