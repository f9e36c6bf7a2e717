//! The process in which a run takes place, with its own namespaces.
//!
//! ```text
//! caller --- middle (creates the namespaces) --- engine (process 1 in them)
//! ```
//!
//! If the caller is killed, the kernel kills the middle process, and with it the engine. With process 1,
//! the kernel kills all processes of its PID namespace, and removes network namespaces without a process.
//! Nothing remains, whichever process is killed.

use std::fs::File;
use std::io::{Read, Write};

use nix::sched::CloneFlags;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use thiserror::Error;

use super::uplink::{self, Asks, Outside};
use crate::sys::files::{self, Signals};
use crate::sys::poll::Watched;
use crate::sys::process::{self, Forked};
use crate::sys::{SysError, reason};

/// Errors of the processes and namespaces of a run.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The result cannot be read.
    #[error("the engine: {}", reason(.0))]
    Result(std::io::Error),
    /// The result is not UTF-8.
    #[error("the engine: its result is not UTF-8")]
    NotText,
    /// The user may not create user namespaces.
    #[error("live: namespaces of an ordinary user are not allowed here ({source}); {remedy}, or run as root")]
    UserNamespace {
        /// The failure.
        source: SysError,
        /// How to allow user namespaces on this machine.
        remedy: String,
    },
    /// The other namespaces were not created.
    #[error("live: {0}; run it as root")]
    Namespaces(SysError),
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// Input of the engine process.
#[derive(Debug)]
pub struct Inside {
    /// File for the result.
    pub result: File,
    /// Connection for uplink requests.
    pub asks: Asks,
    /// True if the namespaces were created without root privileges. The user inside is then the same.
    pub rootless: bool,
}

/// Runs `work` as process 1 of new namespaces. Returns the text that it wrote for the caller, and its exit
/// status.
pub fn run(work: impl FnOnce(Inside) -> i32) -> Result<(String, i32), SandboxError> {
    let (mut from_engine, result) = files::pipe()?;
    let (mut tells, told) = files::pipe()?;
    let (asks, mut outside) = uplink::ends()?;
    let mut signals = Signals::take(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])?;
    let caller = std::process::id();
    let middle = match process::fork()? {
        Forked::Parent(pid) => pid,
        Forked::Child => process::end_with(|| {
            drop((from_engine, tells));
            core::mem::forget(outside);
            process::die_with_parent();
            if std::os::unix::process::parent_id() == caller { middle(result, told, asks, work) } else { 1 }
        }),
    };
    drop((result, told, asks));
    let mut engine = [0; 4];
    // Reads nothing if there is no engine; the result then has the reason.
    let engine = tells.read_exact(&mut engine).is_ok().then(|| Pid::from_raw(i32::from_ne_bytes(engine)));
    let text = gather(&mut from_engine, &mut signals, engine, &mut outside);
    let code = process::wait(middle);
    // Before signals are unblocked.
    drop(outside);
    Ok((text?, code))
}

/// Reads everything that the engine writes. Meanwhile forwards signals to the engine and serves its
/// requests.
fn gather(
    from: &mut File,
    signals: &mut Signals,
    engine: Option<Pid>,
    outside: &mut Outside,
) -> Result<String, SandboxError> {
    let mut watched = Watched::default();
    let (at, signalled) = (watched.add(&*from), watched.add(signals.fd()));
    let asked = watched.add(outside.fd());
    let (mut all, mut some) = (Vec::new(), [0; 1 << 16]);
    loop {
        watched.wait(1_000_000_000);
        while watched.is_ready(signalled)
            && let Some(signal) = signals.take_one()
        {
            engine.into_iter().for_each(|engine| process::kill(engine, signal));
        }
        if watched.is_ready(asked) && !engine.is_some_and(|engine| outside.serve(engine)) {
            watched.ignore(asked);
        }
        if watched.is_ready(at) {
            match from.read(&mut some) {
                Ok(0) => break,
                Ok(n) => all.extend_from_slice(&some[..n]),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(SandboxError::Result(e)),
            }
        }
    }
    String::from_utf8(all).map_err(|_| SandboxError::NotText)
}

/// Creates the namespaces, and waits for the engine in them. Failures are written as the result.
fn middle(mut result: File, mut told: File, asks: Asks, work: impl FnOnce(Inside) -> i32) -> i32 {
    let made = namespaces().and_then(|rootless| Ok((rootless, files::pipe()?, process::fork()?)));
    match made {
        Err(why) => {
            let _ = result.write_all(crate::failure::failed(&why.to_string()).as_bytes());
            1
        }
        Ok((_, ends, Forked::Parent(engine))) => {
            drop((result, asks));
            let _ = told.write_all(&engine.as_raw().to_ne_bytes());
            drop(told);
            let code = process::wait(engine);
            drop(ends);
            code
        }
        Ok((rootless, (alive, other), Forked::Child)) => {
            drop((told, other));
            process::die_with_parent();
            // The middle process holds the other end. End of file means that it ended before the
            // parent-death signal was set.
            let mut watched = Watched::default();
            watched.add(&alive);
            if watched.wait(0) {
                return 1;
            }
            // A change of credentials makes the process inaccessible to its own user; undo that.
            process::may_be_seen();
            process::call(c"stillair-live");
            work(Inside { result, asks, rootless })
        }
    }
}

/// Moves this process into new namespaces. Returns true if they required a user namespace.
fn namespaces() -> Result<bool, SandboxError> {
    const ALL: CloneFlags = CloneFlags::CLONE_NEWNS
        .union(CloneFlags::CLONE_NEWNET)
        .union(CloneFlags::CLONE_NEWPID)
        .union(CloneFlags::CLONE_NEWIPC);
    let (user, group) = process::ids();
    if user == 0 && process::unshare(ALL).is_ok() {
        return Ok(false);
    }
    process::unshare(CloneFlags::CLONE_NEWUSER)
        .map_err(|source| SandboxError::UserNamespace { source, remedy: remedy() })?;
    files::set("/proc/self/setgroups", "deny")?;
    files::set("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    files::set("/proc/self/gid_map", &format!("{group} {group} 1"))?;
    process::unshare(ALL).map_err(SandboxError::Namespaces)?;
    Ok(true)
}

/// How to allow namespaces for ordinary users on this machine, depending on what forbids them.
fn remedy() -> String {
    let is = |name: &str, value: &str| {
        std::fs::read_to_string(format!("/proc/sys/{name}")).is_ok_and(|text| text.trim() == value)
    };
    let command = |setting: &str| format!("'sudo sysctl -w {setting}' allows them");
    if is("user/max_user_namespaces", "0") {
        command("user.max_user_namespaces=10000")
    } else if is("kernel/unprivileged_userns_clone", "0") {
        command("kernel.unprivileged_userns_clone=1")
    } else if is("kernel/apparmor_restrict_unprivileged_userns", "1") {
        command("kernel.apparmor_restrict_unprivileged_userns=0")
    } else {
        "the kernel needs CONFIG_USER_NS, and a container the permission to create them".to_owned()
    }
}
