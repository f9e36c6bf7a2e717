//! `stillair-link` for C. `include/stillair.h` is generated from this crate.
//!
//! A link may be used by one thread at a time. Pointers are checked for null; otherwise they must be valid as
//! each function states.

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

/// The result of a call. Negative values are errors.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum stillair_status {
    /// stillair_link_send: the datagram is queued. stillair_link_poll: nothing happened until the given time.
    STILLAIR_OK = 0,
    /// stillair_link_send: the queue dropped a datagram because of it, perhaps this one (NET_XMIT_CN).
    STILLAIR_CONGESTED = 1,
    /// stillair_link_send: the first queue refused the datagram (NET_XMIT_DROP); it is lost.
    STILLAIR_DROPPED = 2,
    /// stillair_link_poll: a datagram has arrived.
    STILLAIR_PACKET = 3,
    /// stillair_link_poll: an endpoint whose socket was full may send again: packet->from.
    STILLAIR_WRITABLE = 4,
    /// The endpoint's socket is full (EAGAIN).
    STILLAIR_FULL = -1,
    /// The datagram is longer than the path's MTU allows (EMSGSIZE).
    STILLAIR_TOO_LONG = -2,
    /// There is no such endpoint, or source and destination are the same.
    STILLAIR_NO_WAY = -3,
    /// ECN is not 0 to 3, or DSCP not 0 to 63.
    STILLAIR_NO_MARK = -4,
    /// The time is before the link's.
    STILLAIR_BACKWARDS = -5,
    /// The link has ended with its scenario.
    STILLAIR_ENDED = -6,
    /// A pointer is null, or an option is set after the link has been used.
    STILLAIR_INVALID = -7,
}
use stillair_status::*;

/// A path between endpoints, in virtual time.
pub struct stillair_link {
    link: Link,
}

/// A datagram that has arrived.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct stillair_packet {
    /// When it arrived, in nanoseconds since the link began.
    pub at_ns: u64,
    /// When it was sent, in nanoseconds since the link began.
    pub sent_ns: u64,
    /// Its payload. The memory belongs to the link and is valid until the next call.
    pub payload: *const u8,
    /// Bytes of payload.
    pub len: usize,
    /// Endpoint of the sender.
    pub from: u32,
    /// Endpoint at which it arrived.
    pub to: u32,
    /// Sequence number of the datagram at its host: the first is 1.
    pub number: u32,
    /// Port of the sender.
    pub from_port: u16,
    /// Port of the receiver.
    pub to_port: u16,
    /// ECN, 2 bits; a queue may have set it to 3.
    pub ecn: u8,
    /// DSCP, 6 bits.
    pub dscp: u8,
    /// It arrived together with the previous datagram, in one aggregate or with one interrupt.
    pub together: bool,
}

/// Writes a message, cut to its place, with a zero at the end.
unsafe fn tell(error: *mut c_char, size: usize, says: &str) {
    if error.is_null() || size == 0 {
        return;
    }
    let bytes = &says.as_bytes()[..says.len().min(size - 1)];
    // SAFETY: the caller gives `size` bytes at `error`.
    unsafe {
        ptr::copy_nonoverlapping(bytes.as_ptr(), error.cast(), bytes.len());
        *error.add(bytes.len()) = 0;
    }
}

/// What is said where a text is none.
const NO_TEXT: &str = "found bytes that are not UTF-8, expected a text in UTF-8";

/// Whether these are texts, or null. Otherwise says that one is not.
unsafe fn are_texts<const N: usize>(texts: [*const c_char; N], error: *mut c_char, size: usize) -> bool {
    // SAFETY: as of the caller.
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
    // SAFETY: the caller gives a string that ends with a zero.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

unsafe fn made(link: Result<Link, LinkError>, error: *mut c_char, size: usize) -> *mut stillair_link {
    match link {
        Ok(link) => Box::into_raw(Box::new(stillair_link { link })),
        Err(says) => {
            // SAFETY: as of the caller.
            unsafe { tell(error, size, &says.to_string()) };
            ptr::null_mut()
        }
    }
}

/// Name of the preset with this index, counted from 0; null after the last.
#[unsafe(no_mangle)]
pub extern "C" fn stillair_preset_name(number: usize) -> *const c_char {
    static NAMES: std::sync::LazyLock<Vec<CString>> = std::sync::LazyLock::new(|| {
        presets().iter().map(|preset| CString::new(preset.name).unwrap_or_default()).collect()
    });
    NAMES.get(number).map_or(ptr::null(), |name| name.as_ptr())
}

/// A link over a preset. On error null, with a message of at most error_size bytes in error. Free it with
/// stillair_link_free.
///
/// # Safety
/// `name` is a string; `error` is null or has room for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_preset(
    name: *const c_char,
    seed: u64,
    error: *mut c_char,
    error_size: usize,
) -> *mut stillair_link {
    // SAFETY: as of the caller.
    unsafe {
        if !are_texts([name], error, error_size) {
            return ptr::null_mut();
        }
        let name = text(name).unwrap_or_default();
        made(Link::preset(name, seed), error, error_size)
    }
}

/// A link over a scenario in TOML; file is its name in messages. Otherwise as stillair_link_preset.
///
/// # Safety
/// As of `stillair_link_preset`; `scenario` and `file` are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_scenario(
    scenario: *const c_char,
    file: *const c_char,
    seed: u64,
    error: *mut c_char,
    error_size: usize,
) -> *mut stillair_link {
    // SAFETY: as of the caller.
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
/// `link` is of this library and has not been ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_free(link: *mut stillair_link) {
    if !link.is_null() {
        // SAFETY: it was made by `made`.
        drop(unsafe { Box::from_raw(link) });
    }
}

/// The index of the endpoint with this name; -1 if there is none.
///
/// # Safety
/// `link` is null or a link; `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_endpoint(link: *const stillair_link, name: *const c_char) -> i64 {
    // SAFETY: as of the caller.
    let found = unsafe { link.as_ref().zip(text(name)) };
    found.and_then(|(link, name)| link.link.endpoint(name).ok()).map_or(-1, |endpoint| endpoint.0.into())
}

/// The largest payload of a datagram, in bytes.
///
/// # Safety
/// `link` is null or a link.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_max_payload(link: *const stillair_link) -> usize {
    // SAFETY: as of the caller.
    unsafe { link.as_ref() }.map_or(0, |link| link.link.path().max_payload())
}

/// Gives an endpoint one socket with limited memory. With limit bytes of packets below it, it refuses
/// datagrams (STILLAIR_FULL); below resume bytes it may send again (STILLAIR_WRITABLE). Call it before the
/// link is used.
///
/// # Safety
/// `link` is null or a link.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_limit(
    link: *mut stillair_link,
    endpoint: u32,
    limit: u32,
    resume: u32,
) -> stillair_status {
    // SAFETY: as of the caller.
    let Some(link) = (unsafe { link.as_mut() }) else { return STILLAIR_INVALID };
    match link.link.set_back_pressure(Endpoint(endpoint), BackPressure { limit, resume }) {
        true => STILLAIR_OK,
        false => STILLAIR_INVALID,
    }
}

/// Sends a UDP datagram at now_ns. If payload is null, len zero bytes are sent.
///
/// # Safety
/// `link` is null or a link; `payload` is null or has `len` bytes.
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
    // SAFETY: as of the caller.
    let Some(link) = (unsafe { link.as_mut() }) else { return STILLAIR_INVALID };
    let payload = match payload.is_null() {
        true => Payload::Length(len),
        // Longer ones are refused; and no slice may be longer than half the address space.
        false if len > link.link.path().max_payload() => return STILLAIR_TOO_LONG,
        // SAFETY: as of the caller.
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

/// Advances to until_ns, or to the arrival of a datagram if that is earlier: then it returns STILLAIR_PACKET
/// and fills *packet, and the time is packet->at_ns. With STILLAIR_OK the time is until_ns, or the end of the
/// link.
///
/// # Safety
/// `link` is null or a link; `packet` is null or a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_poll(
    link: *mut stillair_link,
    until_ns: u64,
    packet: *mut stillair_packet,
) -> stillair_status {
    // SAFETY: as of the caller.
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
    // SAFETY: as of the caller.
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

/// The link's time, in nanoseconds since it began.
///
/// # Safety
/// `link` is null or a link.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_now(link: *const stillair_link) -> u64 {
    // SAFETY: as of the caller.
    unsafe { link.as_ref() }.map_or(0, |link| nanos(link.link.now()))
}

/// Ends a link and returns its statistics as JSON, to be freed with stillair_text_free. Null and a message if
/// accounts do not close.
///
/// # Safety
/// As of `stillair_link_free`, and of `error` as of `stillair_link_preset`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_link_finish(
    link: *mut stillair_link,
    error: *mut c_char,
    error_size: usize,
) -> *mut c_char {
    if link.is_null() {
        // SAFETY: as of the caller.
        unsafe { tell(error, error_size, "no link") };
        return ptr::null_mut();
    }
    // SAFETY: it was made by `made`.
    let link = unsafe { Box::from_raw(link) };
    let json = link.link.finish().and_then(|seen| to_json(&seen)).map_err(|says| says.to_string());
    match json.map(CString::new) {
        Ok(Ok(json)) => json.into_raw(),
        failed => {
            let says = failed.err().unwrap_or_else(|| "a name with a zero in it".to_owned());
            // SAFETY: as of the caller.
            unsafe { tell(error, error_size, &says) };
            ptr::null_mut()
        }
    }
}

/// Frees a text from stillair_link_finish. Null is allowed.
///
/// # Safety
/// `text` is of this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it was made by `CString::into_raw`.
        drop(unsafe { CString::from_raw(text) });
    }
}
