//! The USB bus between a host and its Wi-Fi device.

use stillair_model::wifi::config::UsbParams;

use super::super::contract::{Form, Key};
use super::super::error::Fault;
use super::super::reader::Section;

/// The most is what a USB 1.1 device would need.
const PACKET: Form = Form::Times { least: "0 us", most: Some("1 ms"), why: "at full speed it is 0.4 ms" };

const WAIT: Form =
    Form::Times { least: "0 us", most: Some("10 ms"), why: "the bus is asked eight times a millisecond" };

/// Keys of a scheme whose device is behind USB.
pub(super) const KEYS: &[Key] = &[
    Key::or(
        "usb",
        Form::Boolean,
        "true",
        "frames and their transmission reports cross a USB 2.0 bus; without it they take no time",
    ),
    Key::open(
        "usb_packet",
        PACKET,
        "9.615 us, a thirteenth of a microframe (USB 2.0)",
        "time of a packet of 512 bytes on the bus",
    ),
    Key::open(
        "usb_start",
        WAIT,
        "`62.5 us`; no source says more than that it is 0 to a microframe, 125 us",
        "time until a transfer begins",
    ),
    Key::open(
        "usb_interrupt",
        WAIT,
        "`62.5 us`; host controllers tell of transfers at most once in 40 us (xHCI) to a microframe, 125 us (EHCI): 0 to that",
        "time from the end of a transfer until the host's driver has it",
    ),
    Key::or(
        "usb_tx_frames",
        Form::Integer(1, 512),
        "20",
        "frames in a transfer to the device at most; one transfer at a time (hif_usb.c)",
    ),
    Key::or(
        "usb_rx_frames",
        Form::Integer(1, 512),
        "10",
        "frames in a transfer to the host at most (the firmware's app_start.c)",
    ),
    Key::open(
        "usb_rx_wait",
        WAIT,
        "170.666 us (the firmware's app_start.c: 160 times 32 cycles of 30 MHz)",
        "how long the first frame of a transfer to the host waits for others",
    ),
];

/// What the bus takes. Of a bus that is not there nothing may be said.
pub(super) fn read(section: &mut Section<'_>) -> Result<Option<UsbParams>, Fault> {
    let mut usb = UsbParams::default();
    if !section.or("usb", true)? {
        for key in
            ["usb_packet", "usb_start", "usb_interrupt", "usb_tx_frames", "usb_rx_frames", "usb_rx_wait"]
        {
            section.idle(key, "without usb", "no such key, or usb = true")?;
        }
        return Ok(None);
    }
    usb.packet = section.or("usb_packet", usb.packet)?;
    usb.start = section.or("usb_start", usb.start)?;
    usb.interrupt = section.or("usb_interrupt", usb.interrupt)?;
    usb.tx_frames = section.or("usb_tx_frames", usb.tx_frames)?;
    usb.rx_frames = section.or("usb_rx_frames", usb.rx_frames)?;
    usb.rx_wait = section.or("usb_rx_wait", usb.rx_wait)?;
    Ok(Some(usb))
}
