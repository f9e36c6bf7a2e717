//! When the processes of a host run after a wakeup.

use crate::types::Duration;

/// Delay of a process after a socket woke it.
// linux: net/ipv4/tcp_input.c tcp_data_ready, net/core/sock.c sock_def_readable (6.12) - a segment wakes its
// reader from the softirq. On the CPU that runs the softirq the reader has its turn when that is over, and
// finds all frames of an aggregate; on another CPU it runs at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wake {
    /// At the end of the softirq that woke it.
    #[default]
    Softirq,
    /// This long after the wakeup.
    After(Duration),
}
