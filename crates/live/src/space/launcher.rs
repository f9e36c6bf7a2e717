//! Starts programs in hosts from a separate process, so that the engine does not stall.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::fcntl::OFlag;
use nix::sched::CloneFlags;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::sys::files::{self, Signals};
use crate::sys::poll::Watched;
use crate::sys::process::{self, Forked};
use crate::sys::{SysError, net};

/// Errors of the launcher.
#[derive(Debug, Error)]
pub enum LauncherError {
    /// An order was not sent.
    #[error("cannot start a program: {}", crate::sys::description(*errno))]
    Send {
        /// Error number (`errno`).
        errno: i32,
    },
    /// The launcher has ended.
    #[error("live: the process that starts programs in hosts ended unexpectedly")]
    Ended,
    /// The launcher's report is not JSON.
    #[error("live: a program's end: {0}")]
    Report(serde_json::Error),
    /// An order cannot be written as JSON.
    #[error(transparent)]
    Encode(serde_json::Error),
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// An order to the launcher.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Start a program.
    Start {
        /// Program number, used when its end is reported.
        id: u32,
        /// Index of the host.
        host: usize,
        /// The program and its arguments.
        command: Vec<String>,
        /// File for the program's output; `None` to inherit the engine's input and output.
        output: Option<String>,
    },
    /// Send a signal to a program.
    Signal {
        /// Number of the program.
        id: u32,
        /// Number of the signal.
        signal: i32,
    },
}

/// Report that a program has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// Number of the program.
    pub id: u32,
    /// Exit status, as in shells.
    pub status: i32,
}

/// The engine's connection to the launcher.
#[derive(Debug)]
pub struct Launcher(OwnedFd);

impl Launcher {
    /// Starts the launcher. Programs run in the open directory `at`, with `also` appended to their search
    /// path.
    pub fn start(
        namespaces: &[BorrowedFd<'_>],
        at: &OwnedFd,
        also: Option<&str>,
    ) -> Result<Self, LauncherError> {
        let (own, other) = files::pair()?;
        if process::fork()? == Forked::Child {
            process::end_with(|| {
                drop(own);
                process::die_with_parent();
                process::call(c"stillair-start");
                serve(&other, namespaces, at, also.map(process::path_with).as_deref())
            });
        }
        Ok(Self(own))
    }

    /// The file descriptor to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Sends an order.
    pub fn order(&self, order: &Order) -> Result<(), LauncherError> {
        let text = serde_json::to_vec(order).map_err(LauncherError::Encode)?;
        net::send(&self.0, &text).map_err(|errno| LauncherError::Send { errno })
    }

    /// Reads the report on the next program that has ended. Call this when the file descriptor can be read.
    /// An error means that the launcher has ended.
    pub fn ended(&self) -> Result<Option<Ended>, LauncherError> {
        let mut text = [0; 256];
        match net::receive(&self.0, &mut text) {
            Some(0) => Err(LauncherError::Ended),
            Some(n) => serde_json::from_slice(&text[..n]).map(Some).map_err(LauncherError::Report),
            None => Ok(None),
        }
    }
}

fn serve(orders: &OwnedFd, namespaces: &[BorrowedFd<'_>], at: &OwnedFd, path: Option<&str>) -> i32 {
    let Ok(mut signals) = Signals::take(&[Signal::SIGCHLD]) else { return 1 };
    let mut running: Vec<(Pid, u32)> = Vec::new();
    let mut watched = Watched::default();
    let (order, signalled) = (watched.add(orders), watched.add(signals.fd()));
    let mut text = vec![0; 1 << 18];
    loop {
        watched.wait(u64::MAX >> 1);
        if watched.is_ready(signalled) {
            while signals.take_one().is_some() {}
            while let Some((pid, status)) = process::ended() {
                if let Some(n) = running.iter().position(|(of, _)| *of == pid) {
                    let (_, id) = running.swap_remove(n);
                    let _ = serde_json::to_vec(&Ended { id, status }).map(|t| net::send(orders, &t));
                }
            }
        }
        if watched.is_ready(order) {
            match net::receive(orders, &mut text).map(|n| serde_json::from_slice(&text[..n])) {
                Some(Ok(Order::Start { id, host, command, output })) => match process::fork() {
                    Ok(Forked::Child) => {
                        process::end_with(|| program(namespaces[host], &command, output.as_deref(), at, path))
                    }
                    Ok(Forked::Parent(pid)) => running.push((pid, id)),
                    Err(_) => return 1,
                },
                Some(Ok(Order::Signal { id, signal })) => {
                    let of = running.iter().filter(|(_, n)| *n == id);
                    let signal = Signal::try_from(signal);
                    of.for_each(|(pid, _)| signal.iter().for_each(|signal| process::kill(*pid, *signal)));
                }
                Some(Err(_)) | None => return 0,
            }
        }
    }
}

fn program(
    namespace: BorrowedFd<'_>,
    command: &[String],
    output: Option<&str>,
    at: &OwnedFd,
    path: Option<&str>,
) -> i32 {
    let begin = || {
        process::enter(namespace, CloneFlags::CLONE_NEWNET)?;
        if let Some(output) = output {
            let file = files::open(output, OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_TRUNC)?;
            process::redirect(file);
        }
        process::work_in(at)
    };
    let why = match begin() {
        Ok(()) => {
            files::signals_as_at_first();
            process::become_program(command, path.map(|path| ("PATH", path)).as_slice())
        }
        Err(why) => why,
    };
    eprintln!("stillair: {why}");
    127
}
