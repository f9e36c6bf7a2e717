//! Unmodified s2n-quic over a link. The link is the `Network` of its testing provider, which runs endpoints
//! and applications in virtual time.

mod network;

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
pub use network::OverLink;
use s2n_quic::client::Connect;
use s2n_quic::provider::congestion_controller::{Bbr, Cubic, Endpoint as Controller};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber, events};
use s2n_quic::provider::io::testing::{Handle, primary, spawn, test_seed, time};
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls;
use s2n_quic::{Client, Server};
use stillair_adapter::{LENGTH, Row};
use stillair_link::Path;

/// s2n-quic's own congestion controllers.
pub const CONTROLLERS: [&str; 2] = ["cubic", "bbr"];
/// Bytes per application write.
const CHUNK: usize = 1 << 16;
/// A window that the fastest preset does not fill.
const WINDOW: u32 = 16 << 20;

/// Counters of a run.
#[derive(Clone, Default)]
struct Seen {
    /// Bytes that the client's application has read.
    read: Arc<AtomicU64>,
    /// Packets declared lost by the server, except MTU probes.
    lost: Arc<AtomicU64>,
}

impl Subscriber for Seen {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo) {}

    fn on_packet_lost(&mut self, _: &mut (), _: &ConnectionMeta, lost: &events::PacketLost) {
        self.lost.fetch_add(u64::from(!lost.is_mtu_probe), Ordering::Relaxed);
    }
}

/// Error type required by the certificate functions.
type Wrong = Box<dyn Error + Send + Sync>;

fn limits() -> Result<Limits, Wrong> {
    let limits = Limits::new()
        .with_data_window(WINDOW.into())?
        .with_unidirectional_data_window(WINDOW.into())?
        .with_max_send_buffer_size(WINDOW)?;
    Ok(limits)
}

/// Starts a server that writes without end to each client, and a client that connects and reads for the
/// duration of a download.
fn begin(handle: &Handle, controller: impl Controller, seen: &Seen) -> Result<(), Wrong> {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let (certificate, key) = (certified.cert.pem(), certified.signing_key.serialize_pem());
    let tls = rustls::Server::builder().with_certificate(certificate.as_str(), key.as_str())?.build()?;
    let mut server = Server::builder()
        .with_io(handle.builder().build()?)?
        .with_tls(tls)?
        .with_limits(limits()?)?
        .with_event(seen.clone())?
        .with_congestion_controller(controller)?
        .start()?;
    let address = server.local_addr()?;
    spawn(async move {
        let chunk = Bytes::from(vec![0x5a; CHUNK]);
        while let Some(connection) = server.accept().await {
            let (mut connection, chunk) = (connection, chunk.clone());
            spawn(async move {
                let mut stream = connection.open_send_stream().await.expect("a stream");
                while stream.send(chunk.clone()).await.is_ok() {}
            });
        }
    });

    let tls = rustls::Client::builder().with_certificate(certificate.as_str())?.build()?;
    let client = Client::builder()
        .with_io(handle.builder().build()?)?
        .with_tls(tls)?
        .with_limits(limits()?)?
        .start()?;
    let read = seen.read.clone();
    spawn(async move {
        let connect = Connect::new(address).with_server_name("localhost");
        let mut connection = client.connect(connect).await.expect("a connection");
        let stream = connection.accept_receive_stream().await.expect("no error");
        let mut stream = stream.expect("a stream");
        while let Ok(Some(bytes)) = stream.receive().await {
            read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
    });
    // The end of this task ends the run.
    primary::spawn(time::delay(LENGTH));
    Ok(())
}

/// Runs a download of ten seconds over a preset.
///
/// # Errors
/// The controller or the preset does not exist.
pub fn row(controller: &str, path: &str, seed: u64) -> Result<Row, Box<dyn Error>> {
    let link = Path::preset(path)?.link(seed)?;
    let (client, server) = (link.endpoint("client")?, link.endpoint("server")?);
    let (link, seen) = (Rc::new(RefCell::new(link)), Seen::default());
    let network = OverLink::new(link.clone(), client, server);
    let plain = |wrong: Wrong| -> Box<dyn Error> { wrong };
    match controller {
        "cubic" => test_seed(network, seed, |handle| begin(handle, Cubic::default(), &seen).map_err(plain))?,
        "bbr" => test_seed(network, seed, |handle| begin(handle, Bbr::default(), &seen).map_err(plain))?,
        other => {
            let all = CONTROLLERS.join(", ");
            return Err(format!("s2n-quic has no controller {other:?}, expected one of {all}").into());
        }
    };
    let link = Rc::into_inner(link).ok_or("the network is still there")?.into_inner();
    let [read, lost] = [&seen.read, &seen.lost].map(|count| count.load(Ordering::Relaxed));
    Row::of(["s2n-quic 1.91", controller, path], link, read, lost)
}
