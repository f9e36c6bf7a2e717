//! Processes and their namespaces.

use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sched::CloneFlags;
use nix::sys::prctl;
use nix::sys::signal::{self, Signal};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{self, ForkResult, Pid};

use super::SysError;

/// Exit status of a process that panicked, as for Rust programs.
const PANICKED: i32 = 101;

/// The result of a fork.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forked {
    /// This is the child process.
    Child,
    /// This is the parent process, with the child's process ID.
    Parent(Pid),
}

/// Forks this process, which must have one thread: the child inherits locks that other threads hold, such as
/// those of the allocator, the standard streams and the environment.
pub fn fork() -> Result<Forked, SysError> {
    // SAFETY: the callers have one thread. The processes of a run are forked before they start threads, and
    // `client::exec` requires it of its caller. So no lock is held in the child, which may allocate and call
    // functions of the standard library.
    match unsafe { unistd::fork() }.map_err(SysError::call("fork"))? {
        ForkResult::Child => Ok(Forked::Child),
        ForkResult::Parent { child } => Ok(Forked::Parent(child)),
    }
}

/// Runs `work` in a forked process, and ends the process with the returned exit status. Panics also end
/// here, because the stack above is a copy of the caller's.
pub fn end_with(work: impl FnOnce() -> i32) -> ! {
    exit(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(PANICKED))
}

/// Ends this process immediately, without running exit handlers, which belong to the parent process.
pub fn exit(code: i32) -> ! {
    // SAFETY: the call does not return, and accesses no memory of this process.
    unsafe { libc::_exit(code) }
}

/// Moves this process into new namespaces.
pub fn unshare(namespaces: CloneFlags) -> Result<(), SysError> {
    nix::sched::unshare(namespaces).map_err(SysError::call("unshare"))
}

/// Enters a namespace.
pub fn enter(namespace: impl AsFd, kind: CloneFlags) -> Result<(), SysError> {
    nix::sched::setns(namespace, kind).map_err(SysError::call("setns"))
}

/// Has the kernel kill this process when its parent ends.
pub fn die_with_parent() {
    let _ = prctl::set_pdeathsig(Signal::SIGKILL);
}

/// Lets processes of the same user inspect this process, although its credentials have changed (dumpable).
pub fn may_be_seen() {
    let _ = prctl::set_dumpable(true);
}

/// Sets the timer slack of this thread to its minimum of 1 ns.
pub fn exact_timers() {
    let _ = prctl::set_timerslack(1);
}

/// Sets the process name that `ps` shows.
pub fn call(name: &core::ffi::CStr) {
    let _ = prctl::set_name(name);
}

/// Effective user and group ID.
pub fn ids() -> (u32, u32) {
    (unistd::geteuid().as_raw(), unistd::getegid().as_raw())
}

/// Sets or removes real-time priority of this thread. Children do not inherit the priority. Returns true if
/// the kernel allowed the change.
pub fn real_time(priority: Option<i32>) -> bool {
    let param = libc::sched_param { sched_priority: priority.unwrap_or(0) };
    let policy =
        if priority.is_some() { libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK } else { libc::SCHED_OTHER };
    // SAFETY: the pointer is to an initialised sched_param, which outlives the call and which the kernel only
    // reads; 0 is this thread.
    unsafe { libc::sched_setscheduler(0, policy, &raw const param) == 0 }
}

/// Sends a signal to a process.
pub fn kill(pid: Pid, signal: Signal) {
    let _ = signal::kill(pid, signal);
}

/// Waits for a process to end. Returns its exit status, as in shells.
pub fn wait(pid: Pid) -> i32 {
    loop {
        match wait_for(pid.as_raw(), 0) {
            Ok((_, status)) => return status,
            Err(Errno::EINTR) => {}
            Err(_) => return 1,
        }
    }
}

/// Reaps a child that has ended, if any. Returns its process ID, and its exit status as in shells.
pub fn ended() -> Option<(Pid, i32)> {
    wait_for(-1, libc::WNOHANG).ok().filter(|(pid, _)| pid.as_raw() > 0)
}

/// Calls `waitpid` directly, because nix loses a child that was killed by a real-time signal.
fn wait_for(pid: i32, flags: i32) -> Result<(Pid, i32), Errno> {
    let mut status = 0;
    // SAFETY: the pointer is to a live `i32` that nothing else borrows.
    let pid = Errno::result(unsafe { libc::waitpid(pid, &raw mut status, flags) })?;
    let ended = libc::WIFEXITED(status);
    let code = if ended { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) };
    Ok((Pid::from_raw(pid), code))
}

/// Redirects standard output and error to a file, and standard input from `/dev/null`.
pub fn redirect(to: impl AsFd) {
    let Ok(nothing) = super::files::open("/dev/null", OFlag::O_RDONLY) else { return };
    let _ = unistd::dup2_stdin(nothing);
    let _ = unistd::dup2_stdout(&to);
    let _ = unistd::dup2_stderr(&to);
}

/// Keeps network administration capabilities across `exec`.
// linux: security/commoncap.c cap_bprm_creds_from_file (6.12) - preserves ambient capabilities across exec
// for non-root users.
pub fn keep_network_rights() {
    const VERSION_3: u32 = 0x2008_0522;
    const NET_ADMIN: u32 = 12;
    const NET_RAW: u32 = 13;
    let header: [u32; 2] = [VERSION_3, 0];
    let mut data = [0_u32; 6];
    // SAFETY: `header` and `data` have the sizes that version 3 has: two words, and twice three words. Both
    // outlive the calls, and the kernel writes `data` only. The arguments of prctl are numbers.
    unsafe {
        if libc::syscall(libc::SYS_capget, header.as_ptr(), data.as_mut_ptr()) != 0 {
            return;
        }
        data[2] |= (1 << NET_ADMIN | 1 << NET_RAW) & data[1];
        if libc::syscall(libc::SYS_capset, header.as_ptr(), data.as_ptr()) != 0 {
            return;
        }
        for right in [NET_ADMIN, NET_RAW] {
            libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, right, 0, 0);
        }
    }
}

/// Executes another program, found in the `PATH`, with these variables added to its environment. Returns
/// only on failure, with the reason.
pub fn become_program(command: &[String], environment: &[(&str, &str)]) -> SysError {
    let [program, arguments @ ..] = command else { return SysError::NoCommand };
    let error = Command::new(program).args(arguments).envs(environment.iter().copied()).exec();
    SysError::io(program, &error)
}

/// The `PATH` with a folder appended.
pub fn path_with(folder: &str) -> String {
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    format!("{path}:{folder}")
}

/// Changes the working directory to an open folder.
pub fn work_in(folder: impl AsFd) -> Result<(), SysError> {
    unistd::fchdir(folder).map_err(SysError::call("the current folder"))
}

/// Runs `make` with a umask that restricts new files to this user.
pub fn with_private_files<T>(make: impl FnOnce() -> T) -> T {
    let before = umask(Mode::from_bits_truncate(0o177));
    let made = make();
    umask(before);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_only_the_forked_process() {
        for (panics, status) in [(false, 7), (true, PANICKED)] {
            // As a caller would after a panic reached it.
            let child = std::panic::catch_unwind(|| match fork().expect("a process") {
                Forked::Child => end_with(|| if panics { panic!("as is tried here") } else { 7 }),
                Forked::Parent(child) => child,
            });
            match child {
                Ok(child) => assert_eq!(wait(child), status),
                Err(_) => exit(1),
            }
        }
    }

    #[test]
    fn no_command_is_an_error() {
        assert_eq!(become_program(&[], &[]).to_string(), "found no command, expected a program");
    }
}
