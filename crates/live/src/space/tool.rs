//! System programs that set up a host.

use std::io::Read;
use std::path::PathBuf;

use crate::sys::files;
use crate::sys::process::{self, Forked};

/// Finds a program in the `PATH`, and then in the system's `sbin` and `bin` folders.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    let beside = ["/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin", "/bin"];
    let all = path.split(':').chain(beside).filter(|folder| !folder.is_empty());
    all.map(|folder| PathBuf::from(folder).join(name)).find(|file| file.is_file())
}

/// Runs a program in this thread's namespaces with network administration rights. The error contains its
/// output.
pub fn run(command: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    let program = find(command[0]).ok_or_else(|| format!("{}: there is no such program", command[0]))?;
    let mut words = vec![program.display().to_string()];
    words.extend(command[1..].iter().map(|&word| word.to_owned()));
    let (mut said, says) = files::pipe()?;
    let pid = match process::fork()? {
        Forked::Parent(pid) => pid,
        Forked::Child => process::end_with(|| {
            process::redirect(std::os::fd::AsRawFd::as_raw_fd(&says));
            process::keep_network_rights();
            files::signals_as_at_first();
            process::set_environment(environment);
            eprintln!("{}", process::become_program(&words));
            127
        }),
    };
    drop(says);
    let mut text = String::new();
    let _ = said.read_to_string(&mut text);
    match process::wait(pid) {
        0 => Ok(()),
        _ => Err(format!("{}: {}", command.join(" "), text.trim().replace('\n', "; "))),
    }
}
