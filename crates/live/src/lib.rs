//! Real hosts on the modelled network: the end hosts are Linux, the network between them is the model, and
//! time is real.
//!
//! ```text
//! host (network namespace) -> NFQUEUE, TUN or veth -> engine: World -> TUN or veth -> host
//! ```
//!
//! [`live::live`] runs a scenario with live hosts; [`client`] finds runs and enters their hosts. Linux only.
//!
//! A module uses only lower layers: `live` and `client` use all others, `engine` uses the ports, `space` the
//! system calls.

#![cfg(target_os = "linux")]

pub mod capture;
pub mod client;
pub mod control;
pub mod engine;
pub mod failure;
pub mod live;
pub mod netlink;
pub mod outcome;
pub mod plan;
pub mod port;
pub mod space;
pub mod sys;
pub mod table;
pub mod tools;
