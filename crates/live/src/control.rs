//! Requests to a running engine, through a socket that only its user can open.
//!
//! The socket is a file in a tmpfs that is reachable only through the engine's working directory:
//! `/proc/PID/cwd/control`. It disappears with the run, and is invisible to processes without access to the
//! engine's `/proc` entry.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::sys::{SysError, net, process};

/// Name of the socket in the engine's working directory.
pub const NAME: &str = "control";
/// Maximum length of a request in bytes.
const LONGEST: usize = 1 << 16;
/// Maximum number of concurrent clients.
const MOST: usize = 64;

/// A message that is not a request.
#[derive(Debug, Error)]
#[error("control: {0}")]
pub struct Malformed(#[from] serde_json::Error);

/// A request to a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Asked {
    /// The run's status and the namespaces of its hosts.
    Status,
    /// Change the value of a key of the scenario.
    Set {
        /// The key, dotted.
        key: String,
        /// The value as text.
        value: String,
    },
    /// Stop the run, as an interrupt does.
    Stop,
}

#[derive(Debug)]
struct Client {
    stream: UnixStream,
    text: Vec<u8>,
    gone: bool,
}

/// The control socket and its clients.
#[derive(Debug)]
pub struct Control {
    listener: UnixListener,
    clients: Vec<Client>,
}

impl Control {
    /// Opens the socket in the working directory.
    pub fn open() -> Result<Self, SysError> {
        let wrong = |e: std::io::Error| SysError::io(NAME, &e);
        let listener = process::with_private_files(|| UnixListener::bind(NAME)).map_err(wrong)?;
        std::fs::set_permissions(NAME, PermissionsExt::from_mode(0o600)).map_err(wrong)?;
        listener.set_nonblocking(true).map_err(wrong)?;
        Ok(Self { listener, clients: Vec::new() })
    }

    /// The file descriptor to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Returns true if a client is connected.
    pub fn is_busy(&self) -> bool {
        !self.clients.is_empty()
    }

    /// Answers the requests that have arrived. Does not block.
    pub fn serve<E: std::error::Error>(&mut self, mut answer: impl FnMut(Asked) -> Result<Value, E>) {
        while let Ok((stream, _)) = self.listener.accept() {
            let own = net::peer(&stream).is_some_and(|peer| peer.user == process::ids().0);
            if own && self.clients.len() < MOST && stream.set_nonblocking(true).is_ok() {
                self.clients.push(Client { stream, text: Vec::new(), gone: false });
            }
        }
        for client in &mut self.clients {
            client.read();
            while let Some(end) = client.text.iter().position(|&b| b == b'\n') {
                let line: Vec<u8> = client.text.drain(..=end).collect();
                let asked = serde_json::from_slice(&line).map_err(|e| Malformed(e).to_string());
                let said = match asked.and_then(|asked| answer(asked).map_err(|why| why.to_string())) {
                    Ok(value) => serde_json::json!({ "ok": value }),
                    Err(why) => serde_json::json!({ "error": why }),
                };
                // A client that does not read its response must ask again.
                client.gone |= client.stream.write_all(format!("{said}\n").as_bytes()).is_err();
            }
            client.gone |= client.text.len() > LONGEST;
        }
        self.clients.retain(|client| !client.gone);
    }
}

impl Client {
    fn read(&mut self) {
        let mut some = [0; 4096];
        while self.text.len() <= LONGEST {
            match self.stream.read(&mut some) {
                Ok(0) => {
                    self.gone = true;
                    return;
                }
                Ok(n) => self.text.extend_from_slice(&some[..n]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    self.gone = e.kind() != ErrorKind::WouldBlock;
                    return;
                }
            }
        }
    }
}
