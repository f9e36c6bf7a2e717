//! Processes and their namespaces.

use std::ffi::CString;
use std::os::fd::{AsRawFd, RawFd};

use super::{SysError, c, check};

/// Exit status of a process that panicked, as of a Rust program.
const PANICKED: i32 = 101;

/// The result of a fork.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forked {
    /// This is the child process.
    Child,
    /// This is the parent process; the number is the child's process ID.
    Parent(i32),
}

/// Forks this process.
pub fn fork() -> Result<Forked, SysError> {
    // SAFETY: the child calls nothing that other threads' locks could stop: it has been a copy of a process
    // whose other threads, if any, hold none of ours, and glibc's allocator is whole after a fork.
    Ok(match check(unsafe { libc::fork() }, "fork")? {
        0 => Forked::Child,
        pid => Forked::Parent(pid),
    })
}

/// Runs `work` in a forked process, and ends the process with the returned exit status. Panics also end here,
/// since the stack above is a copy of the caller's.
pub fn end_with(work: impl FnOnce() -> i32) -> ! {
    exit(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(PANICKED))
}

/// Ends this process at once.
pub fn exit(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}

/// Moves this process into new namespaces, given as `CLONE_` flags.
pub fn unshare(flags: i32) -> Result<(), SysError> {
    // SAFETY: changes this process alone.
    check(unsafe { libc::unshare(flags) }, "unshare").map(|_| ())
}

/// Enters a namespace.
pub fn enter(namespace: &impl AsRawFd, kind: i32) -> Result<(), SysError> {
    // SAFETY: changes this thread alone.
    check(unsafe { libc::setns(namespace.as_raw_fd(), kind) }, "setns").map(|_| ())
}

/// Has the kernel kill this process when its parent ends.
pub fn die_with_parent() {
    // SAFETY: a property of this process.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Lets processes of the same user inspect this process, although its credentials have changed (dumpable).
pub fn may_be_seen() {
    // SAFETY: a property of this process.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1) };
}

/// Sets the timer slack of this thread to its minimum of 1 ns.
pub fn exact_timers() {
    // SAFETY: a property of this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Sets the name of this process, as `ps` shows it.
pub fn call(name: &str) {
    let name = c(name);
    // SAFETY: a text that ends with a zero.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// Effective user and group ID.
pub fn ids() -> (u32, u32) {
    // SAFETY: reads two numbers.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// Sets or removes real-time priority of this thread, which children do not inherit. Returns whether the
/// kernel allowed it.
pub fn real_time(priority: Option<i32>) -> bool {
    let param = libc::sched_param { sched_priority: priority.unwrap_or(0) };
    let policy =
        if priority.is_some() { libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK } else { libc::SCHED_OTHER };
    // SAFETY: the address is that of a sched_param.
    unsafe { libc::sched_setscheduler(0, policy, &raw const param) == 0 }
}

/// Sends a signal.
pub fn kill(pid: i32, signal: i32) {
    // SAFETY: two numbers.
    unsafe { libc::kill(pid, signal) };
}

/// Waits for a process to end. Returns its exit status, as in shells.
pub fn wait(pid: i32) -> i32 {
    let mut status = 0;
    loop {
        // SAFETY: the address is that of a number.
        let got = unsafe { libc::waitpid(pid, &raw mut status, 0) };
        if got == pid {
            return code(status);
        }
        if super::errno() != libc::EINTR {
            return 1;
        }
    }
}

/// A child that has ended, if there is one: its process ID, and its exit status as in shells.
pub fn ended() -> Option<(i32, i32)> {
    let mut status = 0;
    // SAFETY: the address is that of a number.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
    (pid > 0).then(|| (pid, code(status)))
}

fn code(status: i32) -> i32 {
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
}

/// Redirects standard output and error to a file, and standard input from nothing.
pub fn redirect(to: RawFd) {
    let Ok(nothing) = super::files::open("/dev/null", libc::O_RDONLY) else { return };
    // SAFETY: numbers of open files.
    unsafe {
        libc::dup2(nothing.as_raw_fd(), 0);
        libc::dup2(to, 1);
        libc::dup2(to, 2);
    }
}

/// Keeps network administration rights when this process executes other programs.
// linux: security/commoncap.c cap_bprm_creds_from_file (6.12) - ambient rights outlive an exec by who is not
// root.
pub fn keep_network_rights() {
    const VERSION_3: u32 = 0x2008_0522;
    const NET_ADMIN: u32 = 12;
    const NET_RAW: u32 = 13;
    let header: [u32; 2] = [VERSION_3, 0];
    let mut data = [0_u32; 6];
    // SAFETY: header and data are of the sizes that version 3 has.
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

/// Executes another program, found in the `PATH`. Returns only on failure, with the reason.
pub fn become_program(command: &[String]) -> SysError {
    let Some(program) = command.first() else { return SysError::NoCommand };
    let texts: Vec<CString> = command.iter().map(|text| c(text)).collect();
    let mut list: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
    list.push(core::ptr::null());
    // SAFETY: a list of texts, each with a zero at its end, and a null at the end of the list.
    unsafe { libc::execvp(list[0], list.as_ptr()) };
    SysError::last(program)
}

/// Sets environment variables for the program to be executed.
pub fn set_environment(all: &[(&str, &str)]) {
    for (name, value) in all {
        let (name, value) = (c(name), c(value));
        // SAFETY: texts that end with a zero, in a process of one thread.
        unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) };
    }
}

/// Appends a folder to the `PATH`.
pub fn find_also_in(folder: &str) {
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    set_environment(&[("PATH", &format!("{path}:{folder}"))]);
}

/// Changes the working directory to an open folder.
pub fn work_in(folder: &impl AsRawFd) -> Result<(), SysError> {
    // SAFETY: an open file.
    check(unsafe { libc::fchdir(folder.as_raw_fd()) }, "the current folder").map(|_| ())
}

/// Runs `make` with a umask such that new files are accessible to this user only.
pub fn with_private_files<T>(make: impl FnOnce() -> T) -> T {
    // SAFETY: a property of this process, which has one thread.
    let before = unsafe { libc::umask(0o177) };
    let made = make();
    // SAFETY: see above.
    unsafe { libc::umask(before) };
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_a_forked_process_and_goes_no_further() {
        for (panics, status) in [(false, 7), (true, PANICKED)] {
            // What a caller would do after a panic that came back to it.
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
        assert_eq!(become_program(&[]).to_string(), "found no command, expected a program");
    }
}
