//! The client of a run: finds the run, sends requests, and enters its hosts.
//!
//! Any process may use the engine's name and offer a socket at the same path. A run is therefore accepted
//! only if its process belongs to this user and is the one listening on the socket.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::fcntl::OFlag;
use nix::sched::CloneFlags;
use serde_json::{Value, json};
use thiserror::Error;

use crate::control::{Asked, NAME};
use crate::sys::process::{self, Forked};
use crate::sys::{SysError, files, net, reason};

/// Errors of requests to a run.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No run of this user has this process ID.
    #[error("--run: found {pid}, which is not a live run of yours; 'stillair live ps' lists them")]
    NoSuchRun {
        /// Process ID.
        pid: u32,
    },
    /// This user has no run.
    #[error("live: found no live run of yours; 'stillair live FILE' starts one")]
    NoRun,
    /// This user has several runs, and none was selected.
    #[error("live: found {count} live runs, expected one or --run PID; 'stillair live ps' lists them")]
    SeveralRuns {
        /// Number of runs.
        count: usize,
    },
    /// The process, or the one at its control socket, belongs to another user.
    #[error("the run of process {pid}: found a process of user {user}, expected one of {own}")]
    OtherUser {
        /// Process ID.
        pid: u32,
        /// User ID of the process.
        user: u32,
        /// User ID of this process.
        own: u32,
    },
    /// Another process listens at the control socket.
    #[error("the run of process {pid}: found process {found} at its control socket, expected {pid}")]
    OtherProcess {
        /// Process ID.
        pid: u32,
        /// Process ID of the listener; 0 if unknown.
        found: u32,
    },
    /// The control socket failed.
    #[error("the run of process {pid}: {}", reason(source))]
    Socket {
        /// Process ID.
        pid: u32,
        /// The failure.
        source: std::io::Error,
    },
    /// The response is not JSON.
    #[error("the run of process {pid}: {source}")]
    Response {
        /// Process ID.
        pid: u32,
        /// The failure.
        source: serde_json::Error,
    },
    /// The run refused the request, with this reason.
    #[error("{0}")]
    Refused(String),
    /// The request is not JSON of a request.
    #[error("live: the request: {0}")]
    Question(serde_json::Error),
    /// The request cannot be written as JSON.
    #[error(transparent)]
    Encode(serde_json::Error),
    /// The run has no such host.
    #[error("HOST: found \"{host}\", expected one of {}", hosts.join(", "))]
    NoHost {
        /// Name of the requested host.
        host: String,
        /// Names of the run's hosts.
        hosts: Vec<String>,
    },
    /// No command was given.
    #[error("COMMAND: found none, expected a program")]
    NoCommand,
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// A run of this user.
#[derive(Clone, Debug)]
pub struct Run {
    /// Process ID of the engine.
    pub pid: u32,
    /// Response to the status request.
    pub status: Value,
}

/// All runs of this user, in the order of their process IDs.
pub fn runs() -> Vec<Run> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let engine = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "stillair-live")
    };
    let mut all: Vec<Run> = numbers
        .filter(engine)
        .filter_map(|pid| Some(Run { pid, status: ask(pid, &Asked::Status).ok()? }))
        .collect();
    all.sort_by_key(|run| run.pid);
    all
}

/// The run of process `pid`; with `None`, the only run.
pub fn find(pid: Option<u32>) -> Result<Run, ClientError> {
    let all = runs();
    match (pid, &all[..]) {
        (Some(pid), all) => {
            let found = all.iter().find(|run| run.pid == pid).cloned();
            found.ok_or(ClientError::NoSuchRun { pid })
        }
        (None, [run]) => Ok(run.clone()),
        (None, []) => Err(ClientError::NoRun),
        (None, _) => Err(ClientError::SeveralRuns { count: all.len() }),
    }
}

/// Opens a run of this user: its `/proc` folder and its control socket. The open folder never refers to a
/// later process with the same process ID.
// linux: fs/proc/base.c task_dump_owner (6.12) - a process's folder belongs to its effective user, even if
// its contents cannot be read.
fn reach(pid: u32) -> Result<(OwnedFd, UnixStream), ClientError> {
    let own = process::ids().0;
    let refused = |user: u32| ClientError::OtherUser { pid, user, own };
    let folder = files::open(&format!("/proc/{pid}"), OFlag::O_PATH | OFlag::O_DIRECTORY)?;
    let owner = files::owner(&folder)?;
    if owner != own {
        return Err(refused(owner));
    }
    let stream = UnixStream::connect(within_folder(&folder, &format!("cwd/{NAME}")))
        .map_err(|source| ClientError::Socket { pid, source })?;
    // The path may be a symbolic link to another process's socket.
    match net::peer(&stream) {
        Some(peer) if peer.user != own => Err(refused(peer.user)),
        Some(peer) if peer.pid == pid => Ok((folder, stream)),
        peer => Err(ClientError::OtherProcess { pid, found: peer.map_or(0, |peer| peer.pid) }),
    }
}

/// The path of a file in an open folder.
fn within_folder(folder: &OwnedFd, name: &str) -> String {
    format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())
}

/// Sends a request to a run.
pub fn ask(pid: u32, asked: &Asked) -> Result<Value, ClientError> {
    let wrong = |source: std::io::Error| ClientError::Socket { pid, source };
    let (_, mut stream) = reach(pid)?;
    let limit = Some(std::time::Duration::from_secs(5));
    stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit)).map_err(wrong)?;
    let text = serde_json::to_string(asked).map_err(ClientError::Encode)?;
    stream.write_all(format!("{text}\n").as_bytes()).map_err(wrong)?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).map_err(wrong)?;
    let mut answer: Value =
        serde_json::from_str(&line).map_err(|source| ClientError::Response { pid, source })?;
    match answer["error"].as_str() {
        Some(why) => Err(ClientError::Refused(why.to_owned())),
        None => Ok(answer["ok"].take()),
    }
}

/// All runs as a JSON list, each with its process ID and status.
pub fn runs_json() -> String {
    let all: Vec<Value> =
        runs().into_iter().map(|run| json!({ "pid": run.pid, "status": run.status })).collect();
    Value::Array(all).to_string()
}

/// Sends a request to the run of process `pid`, or to the only run. Request and response are JSON.
pub fn ask_json(pid: Option<u32>, asked: &str) -> Result<String, ClientError> {
    let asked = serde_json::from_str(asked).map_err(ClientError::Question)?;
    Ok(ask(find(pid)?.pid, &asked)?.to_string())
}

/// Runs a command in a host of a run and returns its exit status. The calling process must have one thread.
pub fn exec(run: &Run, host: &str, command: &[String]) -> Result<i32, ClientError> {
    let hosts = run.status["hosts"].as_object().cloned().unwrap_or_default();
    let fd = hosts.get(host).and_then(|of| of["namespace"].as_i64());
    let fd = fd.ok_or_else(|| ClientError::NoHost {
        host: host.to_owned(),
        hosts: hosts.keys().cloned().collect(),
    })?;
    if command.is_empty() {
        return Err(ClientError::NoCommand);
    }
    let also = run.status["programs"].as_str();
    let (folder, _) = reach(run.pid)?;
    let at = files::open(".", OFlag::O_PATH | OFlag::O_DIRECTORY)?;
    let caller = std::process::id();
    match process::fork()? {
        Forked::Parent(child) => Ok(process::wait(child)),
        Forked::Child => process::end_with(|| match go_in(&folder, fd) {
            Ok(()) => {
                // Ends together with the client. Done here because a change of credentials, as above,
                // resets the parent-death signal.
                process::die_with_parent();
                if std::os::unix::process::parent_id() == caller { within(&at, also, command) } else { 1 }
            }
            Err(why) => {
                eprintln!("stillair: {why}");
                1
            }
        }),
    }
}

/// Enters an engine's namespaces through its `/proc` folder, and then the network namespace of a host.
fn go_in(engine: &OwnedFd, network: i64) -> Result<(), SysError> {
    let namespace = |name: &str| files::open(&within_folder(engine, &format!("ns/{name}")), OFlag::O_RDONLY);
    let differs =
        fs::read_link(within_folder(engine, "ns/user")).ok() != fs::read_link("/proc/self/ns/user").ok();
    let user: Option<OwnedFd> = if differs { Some(namespace("user")?) } else { None };
    let (mounts, processes, messages) = (namespace("mnt")?, namespace("pid")?, namespace("ipc")?);
    let network = files::open(&within_folder(engine, &format!("fd/{network}")), OFlag::O_RDONLY)?;
    if let Some(user) = user {
        process::enter(&user, CloneFlags::CLONE_NEWUSER)?;
    }
    process::enter(&network, CloneFlags::CLONE_NEWNET)?;
    process::enter(&messages, CloneFlags::CLONE_NEWIPC)?;
    process::enter(&processes, CloneFlags::CLONE_NEWPID)?;
    process::enter(&mounts, CloneFlags::CLONE_NEWNS)
}

/// Runs a command as a process in the namespaces just entered, and waits for it.
fn within(at: &OwnedFd, also: Option<&str>, command: &[String]) -> i32 {
    match process::fork() {
        Ok(Forked::Parent(child)) => process::wait(child),
        Ok(Forked::Child) => process::end_with(|| {
            process::die_with_parent();
            let why = process::work_in(at).err().unwrap_or_else(|| {
                files::signals_as_at_first();
                let path = also.map(process::path_with);
                process::become_program(command, path.as_deref().map(|path| ("PATH", path)).as_slice())
            });
            eprintln!("stillair: {why}");
            127
        }),
        Err(why) => {
            eprintln!("stillair: {why}");
            1
        }
    }
}
