//! Debian's ngtcp2 over a link: a C program, `ngtcp2.c`, linked with libstillair and Debian's libraries.

use std::error::Error;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use stillair_adapter::{LENGTH, Row};
// The C compiler links it, not this crate: the dependency makes cargo build the archive.
use stillair as _;

/// ngtcp2's own congestion controllers.
pub const CONTROLLERS: [&str; 4] = ["reno", "cubic", "bbr", "bbr2"];

/// pkg-config names of its libraries.
const LIBRARIES: [&str; 3] = ["libngtcp2", "libngtcp2_crypto_gnutls", "gnutls"];

fn output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let mut tries = 0;
    let Output { status, stdout, stderr } = loop {
        match command.output() {
            // On a busy machine, a freshly linked executable may still be open for writing.
            Err(e) if e.kind() == ErrorKind::ExecutableFileBusy && tries < 50 => {
                tries += 1;
                sleep(Duration::from_millis(100));
            }
            other => break other.map_err(|e| format!("{command:?}: {e}"))?,
        }
    };
    match status.success() {
        true => Ok(String::from_utf8(stdout)?),
        false => Err(String::from_utf8_lossy(&stderr).trim().to_owned().into()),
    }
}

/// The program, freshly linked with the libstillair next to this executable.
#[derive(Clone, Debug)]
pub struct Program {
    place: PathBuf,
    version: String,
}

impl Program {
    /// Compiles the program under a separate name, so that tests can run in parallel.
    ///
    /// # Errors
    /// No C compiler, or Debian's libngtcp2-dev or libngtcp2-crypto-gnutls-dev is missing.
    pub fn compiled(name: &str) -> Result<Self, Box<dyn Error>> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let own = std::env::current_exe()?;
        let folder = own.parent().ok_or("no folder")?;
        // Cargo puts archives next to tests, and one folder below programs.
        let deps = if folder.ends_with("deps") { folder.to_path_buf() } else { folder.join("deps") };
        let place = deps.join(format!("ngtcp2-{name}"));
        let version = output(Command::new("pkg-config").args(["--modversion", LIBRARIES[0]]))?;
        let libraries = output(Command::new("pkg-config").args(["--cflags", "--libs"]).args(LIBRARIES))?;
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut command = Command::new(compiler);
        command.args(["-std=c11", "-D_DEFAULT_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror"]);
        command.arg(here.join("ngtcp2.c")).arg("-I").arg(here.join("../../crates/link-c/include"));
        command.arg("-o").arg(&place).arg(deps.join("libstillair.a"));
        command.args(libraries.split_whitespace()).args(["-lm", "-lpthread", "-ldl"]);
        output(&mut command)?;
        Ok(Self { place, version: version.trim().to_owned() })
    }

    /// Runs a download of ten seconds over a preset. The server writes its qlog to a folder.
    ///
    /// # Errors
    /// The controller or the preset does not exist.
    pub fn row(
        &self,
        controller: &str,
        path: &str,
        seed: u64,
        qlog: Option<&Path>,
    ) -> Result<Row, Box<dyn Error>> {
        let mut command = Command::new(&self.place);
        command.args([controller, path, &seed.to_string()]);
        if let Some(folder) = qlog {
            command.arg(folder.join(format!("ngtcp2-{controller}-{path}.sqlog")));
        }
        let said = output(&mut command)?;
        let (counts, seen) = said.split_once('\n').ok_or("two lines")?;
        let (read, lost) = counts.split_once(' ').ok_or("two counts")?;
        let (read, lost): (f64, u64) = (read.parse()?, lost.parse()?);
        let seen: Value = serde_json::from_str(seen)?;
        let to = &seen["hosts"]["client"]["to"];
        let drops = seen["drops"].as_array().into_iter().flatten();
        let most = drops.max_by_key(|drop| drop["packets"].as_u64());
        let word = |drop: &Value, key: &str| drop[key].as_str().unwrap_or_default().to_owned();
        Ok(Row {
            stack: format!("ngtcp2 {}", self.version),
            controller: controller.to_owned(),
            path: path.to_owned(),
            goodput_mbps: read * 8.0 / LENGTH.as_secs_f64() / 1e6,
            delay_ms: ["delay_p50_ms", "delay_p99_ms"].map(|key| to[key].as_f64().unwrap_or(f64::NAN)),
            dropped: to["lost"].as_u64().ok_or("no hosts in what the link saw")?,
            lost,
            place: most
                .map_or(String::new(), |drop| format!("{}: {}", word(drop, "place"), word(drop, "reason"))),
        })
    }
}
