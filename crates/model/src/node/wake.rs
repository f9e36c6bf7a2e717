//! Scheduling delay of a host's processes.

use crate::types::Duration;

/// Delay of a process after a socket wakes it.
// linux: net/ipv4/tcp_input.c tcp_data_ready, net/core/sock.c sock_def_readable (6.12) - wake the reader from
// the softirq. On the same CPU the reader runs after the softirq and finds all frames of an aggregate; on
// another CPU it runs concurrently.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wake {
    /// At the end of the softirq that woke it.
    #[default]
    Softirq,
    /// This long after the wakeup.
    After(Duration),
}
