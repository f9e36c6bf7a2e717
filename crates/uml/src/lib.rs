//! Real Linux kernels as hosts of the modelled network, in virtual time.
//!
//! A guest is a kernel that runs as a program (User Mode Linux, `time-travel=ext`). Its clock and network
//! card are sockets connected to the simulated world. Guests run one at a time, in turns, and between turns
//! only the requested time passes. Every run therefore gives the same result.
//!
//! ```text
//! guest: sockets, TCP, qdiscs -> card (vhost-user) -> world: queues, wires, Wi-Fi -> card -> guest
//!        timers                    -> clock             -> the earlier of its request and the world's next event
//! ```
//!
//! A module uses only modules below it:
//!
//! ```text
//! run       one run, from request to result
//! flows     program that generates the scenario's flows in guests, and its measurements
//! series    the flows' part of a run's series
//! counted   counters of guest kernels: qdiscs, protocols, subflows
//! turn      scheduling of turns between the world and the guests
//! external_io  packets between network cards and the world, and socket charges
//! plan      guests of a scenario
//! guest     one guest: process, folder, turns and interrupts
//! kernel    kernels built by `stillair kernel build`
//! card/     the network card
//! clock/    the clock
//! sys/      system calls, the only `unsafe`
//! ```

#![cfg(target_os = "linux")]

pub mod card;
pub mod clock;
mod counted;
pub mod external_io;
pub mod flows;
pub mod folder;
pub mod guest;
pub mod kernel;
pub mod plan;
pub mod run;
mod series;
pub mod sys;
pub mod turn;

/// Default for the longest wait for a message from a guest, in s of real time.
pub const PATIENCE: u32 = 60;

/// A guest sent no message within this time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no message for {} s: the guest hangs, or a program in it does not end", ms / 1000)]
pub struct Silent {
    /// Time without a message, in ms of real time.
    pub ms: i32,
}

/// Age of a guest at the start of the scenario, in ns. Earlier, programs get no random numbers, and
/// Debian's ping rejects an interval.
pub const BEFORE: u64 = 2_000_000_000;
