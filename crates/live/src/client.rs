//! The client of a run: finds the run, sends requests, and enters its hosts.
//!
//! Any process may have the engine's name and a socket at the same place. So a run is accepted only if its
//! process belongs to this user and listens at the socket.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::control::{Asked, NAME};
use crate::sys::process::{self, Forked};
use crate::sys::{files, net, reason};

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
pub fn find(pid: Option<u32>) -> Result<Run, String> {
    let all = runs();
    match (pid, &all[..]) {
        (Some(pid), all) => {
            let found = all.iter().find(|run| run.pid == pid).cloned();
            found.ok_or_else(|| {
                format!(
                    "--run: found {pid}, and no live run of yours is that process; 'stillair live ps' lists them"
                )
            })
        }
        (None, [run]) => Ok(run.clone()),
        (None, []) => Err("live: found no live run of yours; 'stillair live FILE' begins one".to_owned()),
        (None, _) => Err(format!(
            "live: found {} live runs, expected one or --run PID; 'stillair live ps' lists them",
            all.len()
        )),
    }
}

/// A run of this user: the folder of its process in `/proc`, which is never that of a later process with its
/// number, and its control socket.
// linux: fs/proc/base.c task_dump_owner (6.12) - the folder of a process belongs to its user in effect,
// whether it may be looked into or not.
fn reach(pid: u32) -> Result<(OwnedFd, UnixStream), String> {
    let own = process::ids().0;
    let refused = |user: u32| {
        format!("the run of process {pid}: found a process of user {user}, expected one of {own}")
    };
    let folder = files::open(&format!("/proc/{pid}"), libc::O_PATH | libc::O_DIRECTORY)?;
    let owner = files::owner(folder.as_raw_fd())?;
    if owner != own {
        return Err(refused(owner));
    }
    let stream = UnixStream::connect(within_folder(&folder, &format!("cwd/{NAME}")))
        .map_err(|e| format!("the run of process {pid}: {}", reason(&e)))?;
    // The socket may be a link to that of another process.
    match net::peer(stream.as_raw_fd()) {
        Some(peer) if peer.user != own => Err(refused(peer.user)),
        Some(peer) if peer.pid == pid => Ok((folder, stream)),
        peer => {
            let found = peer.map_or(0, |peer| peer.pid);
            Err(format!(
                "the run of process {pid}: found process {found} at its control socket, expected {pid}"
            ))
        }
    }
}

/// The path of a file in an open folder.
fn within_folder(folder: &OwnedFd, name: &str) -> String {
    format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())
}

/// Sends a request to a run.
pub fn ask(pid: u32, asked: &Asked) -> Result<Value, String> {
    let wrong = |e: std::io::Error| format!("the run of process {pid}: {}", reason(&e));
    let (_, mut stream) = reach(pid)?;
    let limit = Some(std::time::Duration::from_secs(5));
    stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit)).map_err(wrong)?;
    let text = serde_json::to_string(asked).map_err(|e| e.to_string())?;
    stream.write_all(format!("{text}\n").as_bytes()).map_err(wrong)?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).map_err(wrong)?;
    let mut answer: Value =
        serde_json::from_str(&line).map_err(|e| format!("the run of process {pid}: {e}"))?;
    match answer["error"].as_str() {
        Some(why) => Err(why.to_owned()),
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
pub fn ask_json(pid: Option<u32>, asked: &str) -> Result<String, String> {
    let asked = serde_json::from_str(asked).map_err(|e| format!("live: the question: {e}"))?;
    Ok(ask(find(pid)?.pid, &asked)?.to_string())
}

/// Runs a command in a host of a run and returns its exit status. The calling process must have one thread.
pub fn exec(run: &Run, host: &str, command: &[String]) -> Result<i32, String> {
    let hosts = run.status["hosts"].as_object().cloned().unwrap_or_default();
    let names: Vec<&str> = hosts.keys().map(String::as_str).collect();
    let fd = hosts.get(host).and_then(|of| of["namespace"].as_i64());
    let fd = fd.ok_or_else(|| format!("HOST: found \"{host}\", expected one of {}", names.join(", ")))?;
    if command.is_empty() {
        return Err("COMMAND: found none, expected a program".to_owned());
    }
    let also = run.status["programs"].as_str();
    let (folder, _) = reach(run.pid)?;
    let at = files::open(".", libc::O_PATH | libc::O_DIRECTORY)?;
    let caller = std::process::id();
    match process::fork()? {
        Forked::Parent(child) => Ok(process::wait(child)),
        Forked::Child => process::end_with(|| match go_in(&folder, fd) {
            Ok(()) => {
                // It ends with who asked for it. A change of rights, such as the one before, would make the
                // kernel forget that.
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

/// Goes into the namespaces of an engine, by the folder of its process, and into that of a host.
fn go_in(engine: &OwnedFd, network: i64) -> Result<(), String> {
    let namespace = |name: &str| files::open(&within_folder(engine, &format!("ns/{name}")), libc::O_RDONLY);
    let differs =
        fs::read_link(within_folder(engine, "ns/user")).ok() != fs::read_link("/proc/self/ns/user").ok();
    let user: Option<OwnedFd> = if differs { Some(namespace("user")?) } else { None };
    let (mounts, processes, messages) = (namespace("mnt")?, namespace("pid")?, namespace("ipc")?);
    let network = files::open(&within_folder(engine, &format!("fd/{network}")), libc::O_RDONLY)?;
    if let Some(user) = user {
        process::enter(&user, libc::CLONE_NEWUSER)?;
    }
    process::enter(&network, libc::CLONE_NEWNET)?;
    process::enter(&messages, libc::CLONE_NEWIPC)?;
    process::enter(&processes, libc::CLONE_NEWPID)?;
    process::enter(&mounts, libc::CLONE_NEWNS)
}

/// Runs a command as a process of the namespaces that this one has gone into, and waits for it.
fn within(at: &OwnedFd, also: Option<&str>, command: &[String]) -> i32 {
    match process::fork() {
        Ok(Forked::Parent(child)) => process::wait(child),
        Ok(Forked::Child) => process::end_with(|| {
            process::die_with_parent();
            let why = process::work_in(at).err().unwrap_or_else(|| {
                files::signals_as_at_first();
                also.into_iter().for_each(process::find_also_in);
                process::become_program(command)
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
