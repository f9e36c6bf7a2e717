//! The USB bus between a host and its Wi-Fi device.

use stillair_model::types::Duration;
use stillair_model::wifi::config::UsbParams;
use stillair_scenario_derive::Section;

use super::super::description::ValueType;
use super::super::error::Diagnostics;
use super::super::units;
use super::domain::{Flag, Int, quantity};
use super::{Assign as _, Key};

/// Time per packet on the bus. The maximum is that of a USB 1.1 device.
pub struct Packet;

/// Delay at one end of the bus.
pub struct Wait;

quantity! {
    Packet: Duration
        = ValueType::Times { least: "0 us", most: Some("1 ms"), why: "at full speed it is 0.4 ms" },
        "_ns", units::duration_text;
    Wait: Duration
        = ValueType::Times { least: "0 us", most: Some("10 ms"), why: "the bus is asked eight times a millisecond" },
        "_ns", units::duration_text;
}

/// Keys of a scheme whose device is attached by USB.
#[derive(Section, Clone, Debug, Default)]
#[section(params = UsbParams, base = UsbParams::default())]
pub struct Usb {
    /// frames and their transmission reports cross a USB 2.0 bus; without it they take no time
    #[key(default = "true")]
    pub usb: Key<Flag>,
    /// time of a packet of 512 bytes on the bus
    #[key(to = packet, or = "9.615 us, a thirteenth of a microframe (USB 2.0)")]
    pub usb_packet: Key<Packet>,
    /// time until a transfer begins
    #[key(to = start, or = "`62.5 us`; no source says more than that it is 0 to a microframe, 125 us")]
    pub usb_start: Key<Wait>,
    /// time from the end of a transfer until the host's driver has it
    #[key(to = interrupt, or = "`62.5 us`; host controllers tell of transfers at most once in 40 us (xHCI) to a microframe, 125 us (EHCI): 0 to \
        that")]
    pub usb_interrupt: Key<Wait>,
    /// frames in a transfer to the device at most; one transfer at a time (hif_usb.c)
    #[key(to = tx_frames)]
    pub usb_tx_frames: Key<Int<1, 512>>,
    /// frames in a transfer to the host at most (the firmware's app_start.c)
    #[key(to = rx_frames)]
    pub usb_rx_frames: Key<Int<1, 512>>,
    /// how long the first frame of a transfer to the host waits for others
    #[key(to = rx_wait, or = "170.666 us (the firmware's app_start.c: 160 times 32 cycles of 30 MHz)")]
    pub usb_rx_wait: Key<Wait>,
}

impl Usb {
    /// Returns the engine's parameters; `None` without the bus.
    pub(in super::super) fn params(&self, faults: &mut Diagnostics) -> Option<UsbParams> {
        if self.usb.or(true) {
            let mut params = Self::base();
            self.assign(&mut params);
            return Some(params);
        }
        let keys = [
            self.usb_packet.place(),
            self.usb_start.place(),
            self.usb_interrupt.place(),
            self.usb_tx_frames.place(),
            self.usb_rx_frames.place(),
            self.usb_rx_wait.place(),
        ];
        super::idle(keys, "without usb", "no such key, or usb = true", faults);
        None
    }

    /// Returns the resolved scenario's table.
    pub(in super::super) fn resolved(params: &UsbParams) -> super::Object {
        super::without("usb_", super::resolved::<Self, _>(params))
    }
}
