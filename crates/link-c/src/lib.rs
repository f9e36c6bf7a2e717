//! `stillair-link` for C. `include/stillair.h` is generated from this crate.
//!
//! A link may be used by one thread at a time. Pointers are checked for null; all other requirements are
//! stated for each function.

#![expect(unsafe_code, reason = "C hands over pointers")]
#![expect(non_camel_case_types, reason = "types have the names that they have in C")]

pub mod budget;

use core::ffi::{CStr, c_char};
use core::{ptr, slice};
use std::ffi::CString;
use std::time::Duration;

use ::stillair_link::{
    BackPressure, Endpoint, Enqueue, Link, LinkError, Mark, Packet, Path, Payload, Poll, SendError,
    TimeError, presets, to_json,
};

/// Result of a call. Negative values are errors.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum stillair_status {
    /// stillair_link_send: the datagram was queued. stillair_link_poll: nothing happened until the given
    /// time.
    STILLAIR_OK = 0,
    /// stillair_link_send: the queue dropped a datagram to make room, possibly this one (NET_XMIT_CN).
    STILLAIR_CONGESTED = 1,
    /// stillair_link_send: the first queue dropped the datagram (NET_XMIT_DROP).
    STILLAIR_DROPPED = 2,
    /// stillair_link_poll: a datagram has arrived.
    STILLAIR_PACKET = 3,
    /// stillair_link_poll: the endpoint packet->from, whose socket was full, may send again.
    STILLAIR_WRITABLE = 4,
    /// The endpoint's socket is full (EAGAIN).
    STILLAIR_FULL = -1,
    /// The datagram is longer than the path's MTU allows (EMSGSIZE).
    STILLAIR_TOO_LONG = -2,
    /// There is no such endpoint, or source and destination are the same.
    STILLAIR_NO_WAY = -3,
    /// ECN is not 0 to 3, or DSCP not 0 to 63.
    STILLAIR_NO_MARK = -4,
    /// The time is before the link's current time.
    STILLAIR_BACKWARDS = -5,
    /// The link has reached the end of its scenario.
    STILLAIR_ENDED = -6,
    /// A pointer is null, or an option is set after the link has been used.
    STILLAIR_INVALID = -7,
}
use stillair_status::*;

/// A path between endpoints, in virtual time.
pub struct stillair_link {
    link: Link,
}

/// An arrived datagram.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct stillair_packet {
    /// Time of arrival, in nanoseconds since the start of the link.
    pub at_ns: u64,
    /// Time of sending, in nanoseconds since the start of the link.
    pub sent_ns: u64,
    /// Payload. The memory belongs to the link and is valid until the next call.
    pub payload: *const u8,
    /// Length of the payload in bytes.
    pub len: usize,
    /// Endpoint of the sender.
    pub from: u32,
    /// Endpoint of the receiver.
    pub to: u32,
    /// Sequence number of the datagram at its sender, starting at 1.
    pub number: u32,
    /// Port of the sender.
    pub from_port: u16,
    /// Port of the receiver.
    pub to_port: u16,
    /// ECN field, 2 bits. A queue may have set it to 3.
    pub ecn: u8,
    /// DSCP, 6 bits.
    pub dscp: u8,
    /// True if it arrived together with the previous datagram, in one aggregate or with one interrupt.
    pub together: bool,
}

/// Writes a null-terminated message, truncated to `size` bytes.
unsafe fn tell(error: *mut c_char, size: usize, says: &str) {
    if error.is_null() || size == 0 {
        return;
    }
    let bytes = &says.as_bytes()[..says.len().min(size - 1)];
    // SAFETY: the caller guarantees that `error` is valid for `size` bytes.
    unsafe {
        ptr::copy_nonoverlapping(bytes.as_ptr(), error.cast(), bytes.len());
        *error.add(bytes.len()) = 0;
    }
}

/// Message for a string that is not UTF-8.
const NO_TEXT: &str = "found bytes that are not UTF-8, expected a text in UTF-8";

/// Returns true if all strings are UTF-8 or null. If not, writes a message.
unsafe fn are_texts<const N: usize>(texts: [*const c_char; N], error: *mut c_char, size: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let all = texts.iter().all(|&one| one.is_null() || text(one).is_some());
        if !all {
            tell(error, size, NO_TEXT);
        }
        all
    }
}

unsafe fn text<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees a null-terminated string.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

unsafe fn made(link: Result<Link, LinkError>, error: *mut c_char, size: usize) -> *mut stillair_link {
    match link {
        Ok(link) => Box::into_raw(Box::new(stillair_link { link })),
        Err(says) => {
            // SAFETY: guaranteed by the caller.
            unsafe { tell(error, size, &says.to_string()) };
            ptr::null_mut()
        }
    }
}

/// Returns the name of the preset with this index, starting at 0; null after the last.
#[unsafe(no_mangle)]
pub extern "C" fn stillair_preset_name(number: usize) -> *const c_char {
    static NAMES: std::sync::LazyLock<Vec<CString>> = std::sync::LazyLock::new(|| {
        presets().iter().map(|preset| CString::new(preset.name).unwrap_or_default()).collect()
    });
    NAMES.get(number).map_or(ptr::null(), |name| name.as_ptr())
}

/// Creates a link over a preset. On error, returns null and writes a message of at most error_size bytes to
/// error. Free the link with stillair_link_free.
///
/// # Safety
/// `name` must be a null-terminated string; `error` must be null or valid for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_preset(
    name: *const c_char,
    seed: u64,
    error: *mut c_char,
    error_size: usize,
) -> *mut stillair_link {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !are_texts([name], error, error_size) {
            return ptr::null_mut();
        }
        let name = text(name).unwrap_or_default();
        made(Link::preset(name, seed), error, error_size)
    }
}

/// Creates a link over a scenario in TOML; file is its name in messages. Errors are reported as by
/// stillair_link_preset.
///
/// # Safety
/// As for `stillair_link_preset`; `scenario` and `file` must be null-terminated strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_scenario(
    scenario: *const c_char,
    file: *const c_char,
    seed: u64,
    error: *mut c_char,
    error_size: usize,
) -> *mut stillair_link {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !are_texts([scenario, file], error, error_size) {
            return ptr::null_mut();
        }
        let (scenario, file) = (text(scenario).unwrap_or_default(), text(file).unwrap_or("scenario"));
        let link = Path::parse(scenario, file, &[]).and_then(|path| path.link(seed));
        made(link, error, error_size)
    }
}

/// Frees a link. Null is allowed.
///
/// # Safety
/// `link` must be null or a link from this library that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_free(link: *mut stillair_link) {
    if !link.is_null() {
        // SAFETY: created by `made`.
        drop(unsafe { Box::from_raw(link) });
    }
}

/// Returns the index of the endpoint with this name, or -1 if there is none.
///
/// # Safety
/// `link` must be null or a link; `name` must be null or a null-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_endpoint(link: *const stillair_link, name: *const c_char) -> i64 {
    // SAFETY: guaranteed by the caller.
    let found = unsafe { link.as_ref().zip(text(name)) };
    found.and_then(|(link, name)| link.link.endpoint(name).ok()).map_or(-1, |endpoint| endpoint.0.into())
}

/// Returns the maximum payload of a datagram, in bytes.
///
/// # Safety
/// `link` must be null or a link.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_max_payload(link: *const stillair_link) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { link.as_ref() }.map_or(0, |link| link.link.path().max_payload())
}

/// Limits the socket memory of an endpoint. With limit bytes of packets in lower layers, the socket is full
/// (STILLAIR_FULL); below resume bytes, it may send again (STILLAIR_WRITABLE). Call this before using the
/// link.
///
/// # Safety
/// `link` must be null or a link.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_limit(
    link: *mut stillair_link,
    endpoint: u32,
    limit: u32,
    resume: u32,
) -> stillair_status {
    // SAFETY: guaranteed by the caller.
    let Some(link) = (unsafe { link.as_mut() }) else { return STILLAIR_INVALID };
    match link.link.set_back_pressure(Endpoint(endpoint), BackPressure { limit, resume }) {
        true => STILLAIR_OK,
        false => STILLAIR_INVALID,
    }
}

/// Sends a UDP datagram at now_ns. If payload is null, the payload is len zero bytes.
///
/// # Safety
/// `link` must be null or a link; `payload` must be null or valid for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_send(
    link: *mut stillair_link,
    now_ns: u64,
    from: u32,
    from_port: u16,
    to: u32,
    to_port: u16,
    payload: *const u8,
    len: usize,
    ecn: u8,
    dscp: u8,
) -> stillair_status {
    // SAFETY: guaranteed by the caller.
    let Some(link) = (unsafe { link.as_mut() }) else { return STILLAIR_INVALID };
    let payload = match payload.is_null() {
        true => Payload::Length(len),
        // Checked first, because a slice must not be longer than half the address space.
        false if len > link.link.path().max_payload() => return STILLAIR_TOO_LONG,
        // SAFETY: guaranteed by the caller.
        false => Payload::Bytes(unsafe { slice::from_raw_parts(payload, len) }),
    };
    let way = Endpoint(from).to(Endpoint(to)).ports(from_port, to_port);
    match link.link.send(Duration::from_nanos(now_ns), way, payload, Mark { ecn, dscp }) {
        Ok(sent) => match sent.queue {
            Enqueue::Queued => STILLAIR_OK,
            Enqueue::Congested => STILLAIR_CONGESTED,
            Enqueue::Dropped => STILLAIR_DROPPED,
        },
        Err(SendError::Full) => STILLAIR_FULL,
        Err(SendError::TooLong { .. }) => STILLAIR_TOO_LONG,
        Err(SendError::Way(..)) => STILLAIR_NO_WAY,
        Err(SendError::Mark(..)) => STILLAIR_NO_MARK,
        Err(SendError::Time(TimeError::Backwards(..))) => STILLAIR_BACKWARDS,
        Err(SendError::Time(TimeError::Ended(_))) => STILLAIR_ENDED,
    }
}

/// Advances to until_ns, or to an earlier arrival of a datagram. On arrival, returns STILLAIR_PACKET and
/// fills *packet; the time is then packet->at_ns. With STILLAIR_OK, the time is until_ns or the end of the
/// link.
///
/// # Safety
/// `link` must be null or a link; `packet` must be null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_poll(
    link: *mut stillair_link,
    until_ns: u64,
    packet: *mut stillair_packet,
) -> stillair_status {
    // SAFETY: guaranteed by the caller.
    let (Some(link), false) = (unsafe { link.as_mut() }, packet.is_null()) else { return STILLAIR_INVALID };
    let (found, told) = match link.link.poll(Duration::from_nanos(until_ns)) {
        Err(_) => return STILLAIR_BACKWARDS,
        Ok(Poll::Wait(_)) => return STILLAIR_OK,
        Ok(Poll::Packet(found)) => (shown(&found, link.link.payload()), STILLAIR_PACKET),
        Ok(Poll::Writable(endpoint)) => {
            let now = nanos(link.link.now());
            (nothing(now, endpoint), STILLAIR_WRITABLE)
        }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { packet.write(found) };
    told
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn nothing(now: u64, from: Endpoint) -> stillair_packet {
    stillair_packet {
        at_ns: now,
        sent_ns: now,
        payload: ptr::null(),
        len: 0,
        from: from.0,
        to: from.0,
        number: 0,
        from_port: 0,
        to_port: 0,
        ecn: 0,
        dscp: 0,
        together: false,
    }
}

fn shown(found: &Packet, payload: &[u8]) -> stillair_packet {
    stillair_packet {
        at_ns: nanos(found.at),
        sent_ns: nanos(found.sent),
        payload: payload.as_ptr(),
        len: payload.len(),
        from: found.from.0,
        to: found.to.0,
        number: found.number,
        from_port: found.ports[0],
        to_port: found.ports[1],
        ecn: found.ecn,
        dscp: found.dscp,
        together: found.together,
    }
}

/// Returns the link's current time, in nanoseconds since its start.
///
/// # Safety
/// `link` must be null or a link.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_now(link: *const stillair_link) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe { link.as_ref() }.map_or(0, |link| nanos(link.link.now()))
}

/// Ends a link, frees it, and returns its statistics as JSON, to be freed with stillair_text_free. If the
/// accounts do not balance, returns null and writes a message.
///
/// # Safety
/// As for `stillair_link_free`; `error` as for `stillair_link_preset`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_finish(
    link: *mut stillair_link,
    error: *mut c_char,
    error_size: usize,
) -> *mut c_char {
    if link.is_null() {
        // SAFETY: guaranteed by the caller.
        unsafe { tell(error, error_size, "no link") };
        return ptr::null_mut();
    }
    // SAFETY: created by `made`.
    let link = unsafe { Box::from_raw(link) };
    let json = link.link.finish().and_then(|seen| to_json(&seen)).map_err(|says| says.to_string());
    match json.map(CString::new) {
        Ok(Ok(json)) => json.into_raw(),
        failed => {
            let says = failed.err().unwrap_or_else(|| "a name with a zero in it".to_owned());
            // SAFETY: guaranteed by the caller.
            unsafe { tell(error, error_size, &says) };
            ptr::null_mut()
        }
    }
}

/// Frees a text from stillair_link_finish. Null is allowed.
///
/// # Safety
/// `text` must be null or a text from this library that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: created by `CString::into_raw`.
        drop(unsafe { CString::from_raw(text) });
    }
}
