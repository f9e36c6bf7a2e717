//! Real Linux kernels as hosts of the modelled network, in virtual time.
//!
//! A guest is a kernel that runs as a program (User Mode Linux, `time-travel=ext`). Its clock and its network
//! card are sockets, connected to the simulated world. Only one guest runs at a time, in turns, and between
//! turns only the requested time passes in it. So every run gives the same result.
//!
//! ```text
//! guest: sockets, TCP, disciplines -> card (vhost-user) -> world: queues, wires, Wi-Fi -> card -> guest
//!        timers                    -> clock             -> the earlier of its request and the world's next event
//! ```
//!
//! Arrows go down:
//!
//! ```text
//! run       from a request to a result
//! flows     what makes the scenario's flows in guests, and what it measured
//! series    what those flows add to the series of a run
//! counted   what guests' kernels have counted: disciplines, protocols, paths
//! turn      whose turn it is: the world's or a guest's, until the end
//! external_io  packets between network cards and the world, and socket charges
//! plan      what of a scenario are guests
//! guest     one guest: its process, its folder, its turns and interrupts
//! kernel    kernels that have been built
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

/// A guest sent no message for this time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it has said nothing for {} s: it hangs, or a program in it does not come to an end", ms / 1000)]
pub struct Silent {
    /// Time without a message, in ms of real time.
    pub ms: i32,
}

/// Age of a guest, in ns, at which the scenario begins. In younger kernels programs get no random numbers
/// yet, and Debian's ping rejects an interval.
pub const BEFORE: u64 = 2_000_000_000;
