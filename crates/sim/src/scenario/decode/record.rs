//! `[record]`: limits on samples, and notes on recordings without effect.

use stillair_model::types::Duration;

use super::super::description::TableSchema;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::Field;
use super::super::spec::domain::Period;
use super::super::spec::record::Options;
use super::super::spec::{Assign as _, Key, Section as _};
use super::super::{Flow, FlowKind, Record};

pub(super) static SCHEMA: TableSchema =
    TableSchema { title: "Record", about: "What is recorded beyond the summary.", groups: &[Options::KEYS] };

/// Maximum number of socket samples in a run, each of one sender at one time. They stay in memory until the
/// end, and take some 150 bytes each plus as much as text.
const SOCKETS: u64 = 4_000_000;

/// Maximum number of queue samples in a run, each of all layers of one interface at one time, some 100 bytes.
const QUEUES: u64 = 10_000_000;

/// Maximum number of counter samples of guests in a run, which a guest writes as text.
const GUESTS: u64 = 200_000;

/// Reads the table for a run of length `end` with these flows and this number of interfaces and guests.
pub(super) fn read(
    field: &Field<'_>,
    flows: &[Flow],
    interfaces: usize,
    guests: usize,
    end: Duration,
) -> Result<Record, Diagnostic> {
    let mut section = field.section("a table")?;
    let mut faults = Diagnostics::default();
    let own = Options::read(&mut section, &mut faults);
    faults.unless(section.finish());
    let senders = flows.iter().filter(|flow| matches!(flow.kind, FlowKind::Tcp { .. }));
    let senders: usize = senders.map(|flow| flow.to.len()).sum();
    let mut limit = |key: &Key<Period>, of: usize, names, most| {
        let Some((interval, at)) = key.given() else { return };
        let samples = (end.nanos() / interval.nanos()).saturating_mul(of as u64);
        if samples > most {
            faults.add(at.found(format!("{samples} samples of {names}"), format!("at most {most} in a run")));
        }
    };
    limit(&own.ss, senders, "TCP senders", SOCKETS);
    limit(&own.queues, interfaces, "interfaces", QUEUES);
    limit(&own.tc, guests, "guests", GUESTS);
    limit(&own.nstat, guests, "guests", GUESTS);
    if guests == 0 {
        let right = "a node with host = { kind = \"uml\", kernel = \"6.12\" }; the model has queues instead";
        own.tc.idle("without a guest", right, &mut faults);
        own.nstat.idle("without a guest", right, &mut faults);
    }
    if own.quic.or(false) && !flows.iter().any(|flow| matches!(flow.kind, FlowKind::Quic(_))) {
        own.quic.idle("without a flow of kind quic", "no quic, or such a flow", &mut faults);
    }
    if let Some((_, at)) = own.air.given().filter(|(air, _)| air.from >= end) {
        faults.add(at.wrong("a stretch that begins before the end of the run"));
    }
    let mut record = Record::default();
    own.assign(&mut record);
    faults.or(record)
}
