//! Tasks of a run other than packets: starting and ending tools, printing the table, answering requests,
//! and ending the run.

use std::io::{IsTerminal, Write};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use stillair_model::types::Duration;
use stillair_sim::run::Records;
use stillair_sim::scenario::{self, Scenario, ScenarioError};
use thiserror::Error;

use super::request::Request;
use crate::control::{Asked, Control};
use crate::engine::{ChangeError, Engine};
use crate::plan::Plan;
use crate::space::launcher::{Launcher, LauncherError};
use crate::sys::files::Signals;
use crate::sys::process;
use crate::table::Table;
use crate::tools::{COMMAND, Tools};

/// Errors of changing a key during a run.
#[derive(Debug, Error)]
enum SetError {
    /// The key cannot change during a run; the message is the simulator's.
    #[error("{0}")]
    Key(String),
    #[error(transparent)]
    Scenario(Box<ScenarioError>),
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// Time for tools to report their measurements after the end of the run.
const GRACE: Duration = Duration::from_secs(3);
/// Poll interval for connected clients, in ns.
const TICK: u64 = 20_000_000;
/// Interval between tables, in ns.
const SHOWN: u64 = 1_000_000_000;

/// Lengthens a scenario, since tools report their measurements after its end. The measured time does not
/// change.
pub fn lengthen(scenario: &mut Scenario) {
    scenario.duration += GRACE;
    scenario.cool_down += GRACE;
    scenario.steps.iter_mut().for_each(|step| lengthen(&mut step.to));
}

/// Engine indices of the files to wait for.
#[derive(Default)]
pub struct Places {
    pub signals: usize,
    pub launcher: usize,
    pub control: usize,
}

/// State of these tasks.
pub struct Driven<'a> {
    pub request: &'a Request,
    pub overrides: &'a [(String, String)],
    /// Keys changed since the start of the run, with their values.
    pub changed: Vec<(String, String)>,
    /// True if the scenario was lengthened.
    pub longer: bool,
    pub plan: &'a Plan,
    pub launcher: Launcher,
    pub signals: Signals,
    pub control: Control,
    pub tools: Tools,
    pub places: Places,
    pub status: Value,
    /// Exit status of the command, once it has ended.
    pub command: Option<i32>,
    /// End of the scenario in ns, if the scenario sets it.
    pub end: Option<u64>,
}

impl Driven<'_> {
    /// Runs to the end.
    pub fn drive<S: Records>(&mut self, engine: &mut Engine<'_, S>) -> Result<(), LauncherError> {
        let (mut table, mut shown) = (Table::default(), SHOWN);
        let mut stopped: Option<u64> = None;
        let shows = self.request.table && std::io::stderr().is_terminal();
        loop {
            let now = engine.now();
            let begins = if stopped.is_none() { self.tools.begin(now, &self.launcher)? } else { u64::MAX };
            let mut until = begins.min(now + SHOWN);
            if self.control.is_busy() || stopped.is_some() {
                until = until.min(now + TICK);
            }
            if self.request.table {
                until = until.min(shown);
            }
            if !engine.turn(until) {
                return Ok(());
            }
            let now = engine.now();
            let mut stops = engine.is_ready(self.places.signals) && self.signalled();
            if engine.is_ready(self.places.launcher)
                && let Some(ended) = self.launcher.ended()?
            {
                if ended.id == COMMAND {
                    self.command = Some(ended.status);
                    stops = true;
                } else {
                    self.tools.ended(ended);
                }
            }
            if engine.is_ready(self.places.control) || self.control.is_busy() {
                stops |= self.asked(engine);
            }
            if self.request.table && now >= shown {
                let (session, late) = engine.seen();
                let text = table.text(session, self.plan, late, now);
                let clear = if shows { "\x1b[2J\x1b[H" } else { "" };
                let _ = std::io::stderr().write_all(format!("{clear}{text}").as_bytes());
                shown = now + SHOWN;
            }
            let over = self.end.is_some_and(|end| now >= end);
            // A run with only tools ends when they end.
            let done = self.tools.are_some()
                && self.tools.are_done()
                && self.request.command.is_empty()
                && (over || self.end.is_none());
            if done {
                return Ok(());
            }
            if stops && stopped.is_none() {
                self.tools.stop(&self.launcher);
                stopped = Some(now);
            }
            if let Some(since) = stopped
                && (self.tools.are_done() || now > since + GRACE.nanos())
            {
                return Ok(());
            }
        }
    }

    /// Returns true if a signal requests the end. If there is a command, a keyboard interrupt is for the
    /// command.
    fn signalled(&mut self) -> bool {
        let mut stops = false;
        while let Some(signal) = self.signals.take_one() {
            stops |= matches!(signal, Signal::SIGTERM | Signal::SIGHUP)
                || (signal == Signal::SIGINT && self.request.command.is_empty());
            if signal == Signal::SIGCHLD {
                while process::ended().is_some() {}
            }
        }
        stops
    }

    /// Answers requests. Returns true if a client requested the end.
    fn asked<S: Records>(&mut self, engine: &mut Engine<'_, S>) -> bool {
        let mut stops = false;
        let Self { status, changed, .. } = self;
        let (request, overrides, longer, plan) = (self.request, self.overrides, self.longer, self.plan);
        self.control.serve::<SetError>(|asked| match asked {
            Asked::Status => {
                let mut now = status.clone();
                now["elapsed_s"] = json!(engine.now() as f64 / 1e9);
                now["external_io"] = json!(engine.counts());
                Ok(now)
            }
            Asked::Set { key, value } => {
                let key = whole_key(plan, &key);
                scenario::changeable(&key).map_err(|why| SetError::Key(why.to_string()))?;
                let all = overrides.iter().chain(changed.iter()).cloned();
                let all: Vec<(String, String)> = all.chain([(key.clone(), value.clone())]).collect();
                let mut to = scenario::parse(&request.text, &request.file, &all)
                    .map_err(|why| SetError::Scenario(Box::new(why)))?;
                if longer {
                    lengthen(&mut to);
                }
                engine.change(&to)?;
                changed.push((key, value));
                Ok(Value::Null)
            }
            Asked::Stop => {
                stops = true;
                Ok(Value::Null)
            }
        });
        stops
    }
}

/// Expands `HOST.key` of a live host to the full scenario key.
fn whole_key(plan: &Plan, key: &str) -> String {
    match key.split_once('.').and_then(|(host, rest)| Some((&plan.hosts[plan.find(host)?], rest))) {
        Some((host, "position")) => format!("node.{}.position", host.name),
        Some((host, rest)) => format!("node.{}.interface.{}.{rest}", host.name, host.device),
        None => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_keys_expand_to_interface_or_position_keys() {
        let text = "name = \"x\"\nlink.lan = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n\
                    node.a = { profile = \"linux-6.1\", host = \"live\", interface.eth0.link = \"lan\" }\n\
                    node.b = { profile = \"linux-6.1\", interface.eth0.link = \"lan\" }\n";
        let plan =
            Plan::new(&scenario::parse(text, "x.toml", &[]).expect("a good scenario")).expect("a live host");
        for (said, whole) in [
            ("a.rate", "node.a.interface.eth0.rate"),
            ("a.position", "node.a.position"),
            ("b.rate", "b.rate"),
            ("link.lan.rate", "link.lan.rate"),
        ] {
            assert_eq!(whole_key(&plan, said), whole);
        }
    }
}
