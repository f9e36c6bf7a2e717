//! This project's programs on the `PATH` inside hosts, and servers for measurement tools.

use crate::plan::Plan;
use crate::space::launcher::{Launcher, LauncherError, Order};
use crate::space::tool;

/// Names and texts of the programs, which are Python scripts.
pub const PROGRAMS: [(&str, &str); 3] =
    [("netperf", NETPERF), ("netserver", NETPERF), (PAGE, include_str!("../../programs/page.py"))];

/// Name of the program that loads and serves pages.
pub const PAGE: &str = "stillair-page";

const NETPERF: &str = include_str!("../../programs/netperf.py");
/// Number of the first server; tools of the scenario have smaller numbers.
const FIRST: u32 = 1 << 20;

/// Starts `netserver`, and the irtt and iperf3 servers if installed, in all hosts except `target`. Hosts
/// and ports in `taken` have other servers and are skipped. Returns the hosts, each with a port on which a
/// server will listen. Missing programs are added to `notes`.
pub fn serve(
    plan: &Plan,
    target: usize,
    launcher: &Launcher,
    taken: &[(usize, u16)],
    notes: &mut Vec<String>,
) -> Result<Vec<(usize, u16)>, LauncherError> {
    let (mut id, mut listeners) = (FIRST, Vec::new());
    for (server, port) in [("netserver -D", 12_865), ("irtt server -i 0", 2_112), ("iperf3 -s", 5_201)] {
        let command: Vec<String> = server.split(' ').map(str::to_owned).collect();
        let program = &command[0];
        let ours = PROGRAMS.iter().any(|(name, _)| name == program);
        if !ours && tool::find(program).is_none() {
            notes.push(format!(
                "--servers: {program} not found, so hosts lack its server; 'apt-get install {program}' installs it"
            ));
            continue;
        }
        for host in (0..plan.hosts.len()).filter(|host| *host != target) {
            if taken.contains(&(host, port)) {
                let name = &plan.hosts[host].name;
                notes.push(format!("--servers: a flow of the scenario has port {port} of {name}, so {program} does not listen there"));
                continue;
            }
            let output = Some(format!("server-{id}"));
            launcher.order(&Order::Start { id, host, command: command.clone(), output })?;
            id += 1;
            listeners.push((host, port));
        }
    }
    Ok(listeners)
}
