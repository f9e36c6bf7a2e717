//! One live run, from its scenario to its result.

mod driven;
mod inside;
mod request;

use std::io::Write;

use nix::fcntl::OFlag;
use stillair_sim::api::ApiError;

use crate::capture::{self, CaptureError};
use crate::failure;
use crate::plan::Plan;
use crate::space::{attach, sandbox};
use crate::sys::files;

pub use inside::INVALID;
pub use request::Request;

/// Runs a scenario with live hosts. Returns the result as JSON and the exit status: 0, the command's, or
/// [`INVALID`].
pub fn live(request: &Request) -> Result<(String, i32), ApiError> {
    let request::Read { scenario, overrides, mut notes } = request.read()?;
    let mut plan = Plan::new(&scenario).map_err(|why| ApiError::Input(format!("{}: {why}", request.file)))?;
    let find = |name: &str, option: &str| {
        plan.find(name).ok_or_else(|| {
            let names: Vec<&str> = plan.hosts.iter().map(|host| host.name.as_str()).collect();
            ApiError::Input(format!("{option}: found \"{name}\", expected a live host: {}", names.join(", ")))
        })
    };
    let target = match &request.host {
        None => plan.first(),
        Some(name) => find(name, "--host")?,
    };
    let places: Vec<(usize, &str)> = request
        .attach
        .iter()
        .map(|(name, place)| Ok((find(name, "--attach")?, place.as_str())))
        .collect::<Result<_, ApiError>>()?;
    let attached = attach::all(&places, plan.hosts.len()).map_err(input)?;
    for (host, _) in &places {
        notes.extend(plan.hosts[*host].attach(request.uplink).map_err(input)?);
    }
    let capture = match &request.capture {
        None => None,
        Some(path) => {
            capture::check(&scenario, &request.points, request.snaplen).map_err(input)?;
            let file = std::fs::File::create(path)
                .map_err(|source| input(CaptureError::Create { path: path.clone(), source }))?;
            Some(file)
        }
    };
    let at = files::open(".", OFlag::O_PATH | OFlag::O_DIRECTORY).map_err(failed)?;
    let (text, code) = sandbox::run(|inside| {
        let mut inside = inside;
        let mut given = inside::Given {
            request,
            overrides: &overrides,
            plan: &plan,
            target,
            at: &at,
            attached: &attached,
            rootless: inside.rootless,
            capture,
        };
        let made = inside::run(&mut given, scenario, &mut inside.asks, &mut notes);
        let (text, code) = made.unwrap_or_else(|why| (failure::failed(&why.to_string()), 1));
        let _ = inside.result.write_all(text.as_bytes());
        code
    })
    .map_err(failed)?;
    match failure::error(&text) {
        Some(why) => Err(ApiError::Run(why)),
        None if text.is_empty() => Err(ApiError::Run(format!("live: the engine was killed (status {code})"))),
        None => Ok((text, code)),
    }
}

fn input(why: impl std::error::Error) -> ApiError {
    ApiError::Input(why.to_string())
}

fn failed(why: impl std::error::Error) -> ApiError {
    ApiError::Run(why.to_string())
}
