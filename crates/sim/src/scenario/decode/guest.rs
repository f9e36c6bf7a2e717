//! Hosts that are real Linux kernels in virtual time.

use super::super::description::{Key, TableSchema, ValueType};
use super::super::error::Diagnostic;
use super::super::guest::{Guest, GuestQueue, Offload, Program, RxBuffers};
use super::super::reader::Field;

/// Default memory of a guest in MiB.
const MEMORY: u32 = 64;

/// Table form of `host`.
pub(super) static SCHEMA: TableSchema = TableSchema {
    title: "Guest",
    about: "A real Linux kernel as a user-mode program: its clock is the simulation's, its network card the modelled interface. \
            `stillair kernel build` makes kernels.",
    groups: &[&[
        Key::need("kind", ValueType::Tag("uml"), "a kernel in virtual time"),
        Key::need(
            "kernel",
            ValueType::Text,
            "a kernel of `stillair kernel list`: its name there, its version, or the name of its folder",
        ),
        Key::or(
            "offload",
            ValueType::Choice(&["none", "gso", "tso"]),
            "none",
            "offloads of its card. `none`: none, like ath9k. `gso`: checksums and scatter-gather; the kernel splits packets above the card. `tso`: the card splits them",
        ),
        Key::or(
            "rx_buffers",
            ValueType::Choice(&["small", "mergeable"]),
            "small",
            "what a packet that comes in takes in memory, which limits the receiver's window. `small`: a buffer for a whole packet each. \
             `mergeable`: pieces of pages, which fit",
        ),
        Key::or(
            "queue",
            ValueType::Choice(&["model", "guest"]),
            "model",
            "where its packets wait. `model`: in the modelled discipline and driver; the guest's interface is `noqueue` in effect. `guest`: in the \
             guest's own discipline above a card that takes some 13 packets",
        ),
        Key::or("memory", ValueType::Integer(32, 4096), "64", "MiB of memory"),
        Key::open(
            "congestion_control",
            ValueType::Text,
            "that of the flow",
            "congestion control of its flows: any that its kernel has, such as one from a patch",
        ),
        Key::or(
            "mptcp",
            ValueType::Boolean,
            "false",
            "its TCP flows use Multipath TCP, over all its interfaces, where the host at the other end says so too",
        ),
        Key::open(
            "run",
            ValueType::List(&ValueType::Table(&PROGRAM)),
            "no program",
            "programs that run in it",
        ),
    ]],
};

static PROGRAM: TableSchema = TableSchema {
    title: "Program of a guest",
    about: "A command for the guest's shell; its working folder and output are collected.",
    groups: &[&[
        Key::or("at", ValueType::Time, "0 s", "when it begins"),
        Key::need("command", ValueType::Text, "the command, as `sh -c` takes it"),
    ]],
};

pub(super) fn read(field: &Field<'_>) -> Result<Guest, Diagnostic> {
    let (_, mut section) =
        field.kind_table("\"model\", \"external\", \"live\", or a table with kind = \"uml\"")?;
    section.get("kind");
    let kernel =
        section.need("kernel", "a kernel such as \"6.12\"")?.label("a kernel such as \"6.12\"")?.to_owned();
    let offload = section.or_by("offload", Offload::None, |field| {
        field.choice(&[("none", Offload::None), ("gso", Offload::Gso), ("tso", Offload::Tso)])
    })?;
    let rx_buffers = section.or_by("rx_buffers", RxBuffers::Small, |field| {
        field.choice(&[("small", RxBuffers::Small), ("mergeable", RxBuffers::Mergeable)])
    })?;
    let queue = section.or_by("queue", GuestQueue::Model, |field| {
        field.choice(&[("model", GuestQueue::Model), ("guest", GuestQueue::Guest)])
    })?;
    let memory = section.or("memory", MEMORY)?;
    let named = section
        .get("congestion_control")
        .map(|field| field.label("a congestion control of its kernel").map(str::to_owned));
    let congestion_control = named.transpose()?;
    let mptcp = section.or("mptcp", false)?;
    let programs = section.get("run");
    let mut run = Vec::new();
    for entry in programs.iter().flat_map(Field::list) {
        let mut one = entry.section("a table with at and command")?;
        let at = one.or("at", stillair_model::types::Duration::ZERO)?;
        let command = one.need("command", "a command")?;
        let text = command.label("a command")?;
        if text.contains('\n') {
            return Err(
                command.found("a command of several lines", "one line; a script of its own can have more")
            );
        }
        one.finish()?;
        run.push(Program { at, command: text.to_owned() });
    }
    section.finish()?;
    Ok(Guest { kernel, offload, rx_buffers, queue, memory, congestion_control, mptcp, tsq_bytes: None, run })
}
