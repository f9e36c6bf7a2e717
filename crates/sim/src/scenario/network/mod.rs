//! The elements of a scenario's network: channels, nodes with their interfaces, Wi-Fi devices, links.

mod channel;
mod link;
mod node;
mod wifi;

pub use channel::Channel;
pub use link::{ETHERNET, Link, Nic};
pub use node::{Attachment, Interface, InterfaceRef, Node, QdiscSpec};
pub use wifi::{EdcaOverride, Role, Wifi};
