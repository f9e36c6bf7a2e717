//! The processes of guests.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::sys::personality::{self, Persona};
use nix::sys::prctl;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::SysError;

/// A process in its own process group. It is killed when this value is dropped, or when the thread that
/// started it ends.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    /// Readable once the process has ended.
    watch: OwnedFd,
}

/// Starts a program in a folder, with only the given environment. Address space randomisation is off for
/// the program and its children.
// linux: fs/exec.c, arch/x86/mm/mmap.c (6.12) - children inherit ADDR_NO_RANDOMIZE, and memory layouts are
// the same each time.
pub fn start(
    words: &[String],
    folder: &Path,
    environment: &[(&str, String)],
    output: File,
) -> Result<Child, SysError> {
    let [program, words @ ..] = words else { return Err(SysError::NoProgram) };
    let errors = output.try_clone().map_err(|e| SysError::io("dup", &e))?;
    let mut command = Command::new(program);
    command.args(words).current_dir(folder).env_clear().process_group(0);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    // SAFETY: between fork and exec the closure makes two system calls. It allocates nothing and takes no
    // lock that another thread of the parent may have held.
    unsafe {
        command.pre_exec(|| {
            let _ = prctl::set_pdeathsig(Signal::SIGKILL);
            // A container may forbid this; a guest's memory layout then differs from run to run.
            let _ = personality::set(Persona::ADDR_NO_RANDOMIZE);
            Ok(())
        });
    }
    let process = command.spawn().map_err(|e| SysError::io(program, &e))?;
    // SAFETY: the call has two numbers as arguments, so the kernel accesses no memory of this process. The
    // new file descriptor has no other owner.
    let watch = unsafe {
        let fd = Errno::result(libc::syscall(libc::SYS_pidfd_open, process.id(), 0))
            .map_err(SysError::call("pidfd_open"))?;
        OwnedFd::from_raw_fd(fd as i32)
    };
    Ok(Child { process, watch })
}

impl AsFd for Child {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watch.as_fd()
    }
}

impl Child {
    /// How the process ended, as text; `None` while it runs.
    pub fn ended(&mut self) -> Option<String> {
        self.process.try_wait().ok().flatten().map(|status| status.to_string())
    }

    /// Process ID.
    pub fn id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.ended().is_none() {
            // The process ID is still the child's, which has not been reaped.
            let _ = killpg(Pid::from_raw(self.process.id() as i32), Signal::SIGKILL);
            let _ = self.process.wait();
        }
    }
}

/// Pins this thread, and processes started by it, to one processor until dropped. Only one of them runs at
/// a time, and waking an idle processor takes longer than the work itself.
#[derive(Debug)]
pub struct OneProcessor(Option<CpuSet>);

impl OneProcessor {
    /// Pins to the current processor. If that is not permitted, nothing changes, and the run takes longer.
    pub fn keep() -> Self {
        let pin = || {
            let mut one = CpuSet::new();
            one.set(sched_getcpu()?)?;
            let before = sched_getaffinity(Pid::from_raw(0))?;
            sched_setaffinity(Pid::from_raw(0), &one)?;
            Ok::<_, Errno>(before)
        };
        Self(pin().ok())
    }
}

impl Drop for OneProcessor {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = sched_setaffinity(Pid::from_raw(0), before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::id;

    fn run(command: &str) -> Child {
        let words = ["/bin/sh", "-c", command].map(str::to_owned);
        let output = File::options().write(true).open("/dev/null").expect("a file");
        start(&words, Path::new("/"), &[("A", "b".to_owned())], output).expect("a process")
    }

    #[test]
    fn a_child_has_the_given_environment_and_fixed_addresses_and_ends_on_drop() {
        let mut good =
            run("[ \"$A-$HOME\" = b- ] && grep -qi 00040000 /proc/self/personality && [ $(pwd) = / ]");
        assert_eq!(super::super::ready([good.as_fd()], 10_000), Ok(super::super::Ready::At(0)));
        assert_eq!(good.ended().as_deref(), Some("exit status: 0"));
        let long = run("sleep 1000 & wait");
        let of_group = |group: u32| {
            let all = std::fs::read_dir("/proc").expect("processes").flatten();
            let stat = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("stat")).ok();
            let in_group = |text: &String| {
                let rest = text.rsplit(')').next().unwrap_or_default();
                let words: Vec<&str> = rest.split(' ').collect();
                words.get(3).is_some_and(|word| *word == group.to_string()) && words[1] != "Z"
            };
            all.filter_map(stat).filter(in_group).count()
        };
        let group = long.id();
        assert!(group != id() && of_group(group) >= 1);
        drop(long);
        // A killed process remains until the kernel has scheduled its exit.
        let ended = (0..200).any(|_| {
            assert_eq!(super::super::ready([], 10), Ok(super::super::Ready::Nothing));
            of_group(group) == 0
        });
        assert!(ended, "processes are left");
    }
}
