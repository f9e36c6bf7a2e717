//! Generic segmentation offload (GSO) on bytes: splits a large TCP packet into segments.

use crate::checksum::{TCP_FIELD, pseudo, transport};
use crate::error::Error;
use crate::parse::{IPV6_HEADER, TCP, parse};
use crate::patch;
use crate::tcp::{CWR, FIN, OptionLayout, PSH};

/// Splits a packet into segments of `gso_size` bytes of payload, passes them on in order and returns their
/// number. Each segment is built in `buffer`, which needs room for the headers and one payload. A packet that
/// needs no splitting is passed on unchanged.
///
/// `fixed_id` is [`gro::Merged::fixed_id`](crate::gro::Merged::fixed_id), or false for a packet that was not
/// merged.
///
/// # Errors
/// The packet is malformed or not a complete TCP packet, the size is zero, or the buffer is too small.
/// Nothing is passed on then.
// linux: net/ipv4/tcp_offload.c tcp_gso_segment (6.12) - copies the headers, and sets each sequence number
// and checksum; FIN and PSH stay on the last segment, CWR on the first. linux: net/ipv4/af_inet.c
// inet_gso_segment (6.12) - increments identifications, unless they are fixed. linux: net/ipv6/ip6_offload.c
// ipv6_gso_segment (6.12).
// deviation: a packet with a single segment is not an error.
pub fn split(
    packet: &[u8],
    gso_size: u16,
    fixed_id: bool,
    buffer: &mut [u8],
    mut each: impl FnMut(&[u8]),
) -> Result<u16, Error> {
    let view = parse(packet)?;
    let layout = OptionLayout::of(packet, &view).ok_or(Error::NotTcp)?;
    let size = usize::from(gso_size);
    if size == 0 {
        return Err(Error::NoSize);
    }
    let (headers, data) = packet[..view.length].split_at(layout.payload);
    if data.len() <= size {
        each(packet);
        return Ok(1);
    }
    let needed = headers.len() + size;
    if buffer.len() < needed {
        return Err(Error::Room { needed });
    }
    let (flags, seq) = (packet[layout.flags()], layout.seq(packet));
    let v4 = packet[0] >> 4 == 4;
    let id = u16::from_be_bytes([packet[4], packet[5]]);
    let last = data.len().div_ceil(size) - 1;
    for (n, part) in data.chunks(size).enumerate() {
        let segment = &mut buffer[..headers.len() + part.len()];
        let length = segment.len();
        segment[..headers.len()].copy_from_slice(headers);
        segment[headers.len()..].copy_from_slice(part);
        if v4 {
            patch::word(segment, 2, (length as u16).to_be_bytes());
            let own = if fixed_id { id } else { id.wrapping_add(n as u16) };
            patch::word(segment, 4, own.to_be_bytes());
        } else {
            segment[4..6].copy_from_slice(&((length - IPV6_HEADER) as u16).to_be_bytes());
        }
        let own = seq.wrapping_add((n * size) as u32);
        segment[layout.transport + 4..][..4].copy_from_slice(&own.to_be_bytes());
        let kept = if n == last { 0xff } else { !(FIN | PSH) } & if n == 0 { 0xff } else { !CWR };
        segment[layout.flags()] = flags & kept;
        let pseudo = pseudo(view.source, view.destination, TCP, length - layout.transport);
        let right = transport(pseudo, &segment[layout.transport..], TCP_FIELD);
        segment[layout.transport + TCP_FIELD..][..2].copy_from_slice(&right.to_be_bytes());
        each(segment);
    }
    Ok(last as u16 + 1)
}
