//! Links: paths for use in tests.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use stillair_link::{BackPressure, Enqueue, LinkError, Mark, Path, Poll, SendError, presets};
use stillair_sim::api::ApiError;

use crate::errors;

fn raised(error: LinkError) -> PyErr {
    errors::to_python(match error {
        LinkError::Scenario(error) => ApiError::Scenario(error),
        LinkError::Run(says) => ApiError::Run(says),
        other => ApiError::Input(other.to_string()),
    })
}

/// Returns name, text, description, sources and limitations of each preset.
#[pyfunction]
pub fn link_presets() -> Vec<(&'static str, &'static str, String, String, String)> {
    let one = |p: &stillair_link::Preset| (p.name, p.text, p.about(), p.sources(), p.not_for());
    presets().iter().map(one).collect()
}

/// An arrived datagram: at, sent, from, to, ports, number, ECN, DSCP, together, payload.
type Arrived = (u64, u64, u32, u32, (u16, u16), u32, u8, u8, bool, Vec<u8>);
/// Result of `poll`: a datagram, an endpoint that may send again, or the time of the next event.
type Found = (Option<Arrived>, Option<u32>, Option<u64>);

/// A link. Times are in nanoseconds, endpoints are numbers.
#[pyclass]
#[derive(Debug)]
pub struct Link {
    /// Python may share an object between threads, but parts of a world are not shareable, hence the lock. It
    /// is never contended.
    link: Mutex<Option<stillair_link::Link>>,
    endpoints: Vec<String>,
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Link {
    /// Wraps a link or its error.
    pub(crate) fn of(made: Result<stillair_link::Link, LinkError>) -> PyResult<Self> {
        let link = made.map_err(raised)?;
        Ok(Self {
            endpoints: link.path().endpoints().map(str::to_owned).collect(),
            link: Mutex::new(Some(link)),
        })
    }

    fn open(&mut self) -> PyResult<&mut stillair_link::Link> {
        let link = self.link.get_mut().unwrap_or_else(PoisonError::into_inner);
        link.as_mut().ok_or_else(|| PyValueError::new_err("the link has been finished"))
    }
}

#[pymethods]
impl Link {
    /// Creates a link over the scenario `text`, or over the preset named `file` if `text` is `None`.
    #[new]
    #[pyo3(signature = (text, file, overrides, seed))]
    fn new(text: Option<&str>, file: &str, overrides: Vec<(String, String)>, seed: u64) -> PyResult<Self> {
        let sets: Vec<(&str, &str)> = overrides.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let path = match text {
            Some(text) => Path::parse(text, file, &sets),
            None => Path::preset_with(file, &sets),
        };
        Self::of(path.and_then(|path| path.link(seed)))
    }

    /// Names of the endpoints.
    #[getter]
    fn endpoints(&self) -> Vec<String> {
        self.endpoints.clone()
    }

    /// Maximum payload in bytes.
    #[getter]
    fn max_payload(&mut self) -> PyResult<usize> {
        Ok(self.open()?.path().max_payload())
    }

    /// Current time of the link.
    #[getter]
    fn now(&mut self) -> PyResult<u64> {
        Ok(nanos(self.open()?.now()))
    }

    /// Limits an endpoint. Returns false if the link has been used.
    fn limit(&mut self, endpoint: u32, limit: u32, resume: u32) -> PyResult<bool> {
        Ok(self.open()?.set_back_pressure(stillair_link::Endpoint(endpoint), BackPressure { limit, resume }))
    }

    /// Sends a datagram. Returns its number and the result of the first queue, or `None` if the socket is
    /// full.
    fn send(
        &mut self,
        now: u64,
        ends: (u32, u32),
        ports: (u16, u16),
        payload: &[u8],
        marks: (u8, u8),
    ) -> PyResult<Option<(u32, &'static str)>> {
        let way = stillair_link::Endpoint(ends.0).to(stillair_link::Endpoint(ends.1)).ports(ports.0, ports.1);
        let mark = Mark { ecn: marks.0, dscp: marks.1 };
        match self.open()?.send(Duration::from_nanos(now), way, payload, mark) {
            Ok(sent) => Ok(Some((
                sent.number,
                match sent.queue {
                    Enqueue::Queued => "queued",
                    Enqueue::Congested => "congested",
                    Enqueue::Dropped => "dropped",
                },
            ))),
            Err(SendError::Full) => Ok(None),
            Err(error) => Err(PyValueError::new_err(error.to_string())),
        }
    }

    /// Advances to a time or to an earlier event.
    fn poll(&mut self, until: u64) -> PyResult<Found> {
        let link = self.open()?;
        let found = link
            .poll(Duration::from_nanos(until))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(match found {
            Poll::Packet(p) => {
                let ports = (p.ports[0], p.ports[1]);
                let (at, sent) = (nanos(p.at), nanos(p.sent));
                let payload = link.payload().to_vec();
                let came = (at, sent, p.from.0, p.to.0, ports, p.number, p.ecn, p.dscp, p.together, payload);
                (Some(came), None, None)
            }
            Poll::Writable(endpoint) => (None, Some(endpoint.0), None),
            Poll::Wait(next) => (None, None, next.map(nanos)),
        })
    }

    /// Ends the link. Returns its statistics as JSON.
    fn finish(&mut self) -> PyResult<String> {
        let link = self.link.get_mut().unwrap_or_else(PoisonError::into_inner);
        let link = link.take().ok_or_else(|| PyValueError::new_err("the link has been finished"))?;
        let seen = link.finish().map_err(raised)?;
        stillair_link::to_json(&seen).map_err(raised)
    }
}
