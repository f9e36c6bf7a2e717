//! Properties of any bytes, whether or not they are a packet.

use stillair_ip::gro::{Checksum, Gro};
use stillair_ip::icmp::{self, Problem, Unreachable};
use stillair_ip::parse::{ICMPV6, PacketView, TCP};
use stillair_ip::{checksum, gso, parse, patch};

type Held = Result<(), String>;

fn hold(what: bool, said: impl FnOnce() -> String) -> Held {
    if what { Ok(()) } else { Err(said()) }
}

/// Properties of any bytes on their own.
pub fn bytes(packet: &[u8]) -> Held {
    let Ok(view) = parse(packet) else {
        return refused(packet);
    };
    let within = view.header <= view.length && view.length <= packet.len();
    hold(within && view.header >= 20, || format!("no place in the packet: {view:?}"))?;
    // Bytes after the end of the packet are ignored.
    hold(parse(&packet[..view.length]) == Ok(view), || "padding is looked at".to_owned())?;
    patched(packet, &view)?;
    answered(packet, &view)?;
    let mut each = Vec::new();
    if gso::split(packet, 536, false, &mut [0; 1280], |segment| each.push(segment.to_vec())).is_ok() {
        for segment in &each {
            hold(parse(segment).is_ok(), || format!("segments are no packets: {segment:02x?}"))?;
        }
    }
    Ok(())
}

fn refused(packet: &[u8]) -> Held {
    let why = parse(packet).expect_err("refused").to_string();
    hold(!why.chars().any(char::is_control), || format!("more than one line: {why:?}"))?;
    let own = "10.0.0.1".parse().expect("an address");
    let mut out = [0; 2048];
    let any = icmp::echo_reply(packet, own, &mut out).is_ok()
        || icmp::error(Problem::TimeExceeded, packet, own, &mut out).is_ok()
        || gso::split(packet, 1, false, &mut out, |_| {}).is_ok();
    hold(!any, || "something is made of no packet".to_owned())
}

/// A written field reads back, nothing else changes, and the checksum is as correct as before.
fn patched(packet: &[u8], view: &PacketView) -> Held {
    for tos in [0, 0xff, view.tos ^ 3] {
        let mut other = packet.to_vec();
        patch::tos(&mut other, tos).map_err(|e| e.to_string())?;
        patch::ttl(&mut other, view.ttl.wrapping_sub(1)).map_err(|e| e.to_string())?;
        let expected = PacketView { tos, ttl: view.ttl.wrapping_sub(1), ..*view };
        hold(parse(&other) == Ok(expected), || format!("patched: {:?} for {expected:?}", parse(&other)))?;
        hold(other[view.header..] == packet[view.header..], || "patched beyond the header".to_owned())?;
        if packet[0] >> 4 == 4 {
            let right = [packet, &other].map(|p| checksum::ipv4_header_holds(&p[..view.header]));
            hold(right[0] == right[1], || format!("checksum before and after: {right:?}"))?;
        }
    }
    Ok(())
}

/// Replies are packets with correct checksums, addressed to the sender.
fn answered(packet: &[u8], view: &PacketView) -> Held {
    let own = if view.source.is_ipv4() { "10.9.9.9" } else { "2001:db8::9" }.parse().expect("an address");
    let mut out = vec![0; packet.len().max(icmp::LONGEST_ERROR) + 48];
    let mut lengths = vec![icmp::echo_reply(packet, own, &mut out).map_err(|e| e.to_string())?];
    let mut replies = vec![out.clone()];
    for problem in
        [Problem::TimeExceeded, Problem::Unreachable(Unreachable::Host), Problem::TooBig { mtu: 1400 }]
    {
        let said = icmp::error(problem, packet, own, &mut out[..icmp::LONGEST_ERROR]);
        lengths.push(said.map_err(|e| e.to_string())?);
        replies.push(out.clone());
    }
    for (reply, length) in replies.iter().zip(lengths) {
        let Some(length) = length else { continue };
        let reply = &reply[..length];
        let back = parse(reply).map_err(|e| e.to_string())?;
        hold(back.destination == view.source && back.length == length, || format!("not back: {back:?}"))?;
        let body = &reply[back.header..];
        let sum = checksum::sum(body);
        let right = if back.protocol == ICMPV6 {
            checksum::holds(sum + checksum::pseudo(back.source, back.destination, ICMPV6, body.len()))
        } else {
            checksum::ipv4_header_holds(&reply[..20]) && checksum::holds(sum)
        };
        hold(right, || format!("checksum of an answer: {reply:02x?}"))?;
        // No error is sent about a reply that is an error itself.
        let again = icmp::error(Problem::TimeExceeded, reply, own, &mut [0; icmp::LONGEST_ERROR]);
        hold(matches!(body[0], 0 | 129) || again == Ok(None), || "an error about an error".to_owned())?;
    }
    Ok(())
}

/// Result of merging.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Packets passed up, with their number of segments.
    pub packets: Vec<(Vec<u8>, u16)>,
    /// The packets after splitting them again.
    pub segments: Vec<Vec<u8>>,
}

/// Merges packets that arrive together, and splits the results.
pub fn merge_and_split(packets: &[Vec<u8>], flows: usize) -> Result<Outcome, String> {
    let mut gro = Gro::new(flows, Checksum::Whole);
    let (mut out, mut error) = (Outcome::default(), None);
    let mut up = |packet: stillair_ip::gro::IpPacket<'_>| {
        out.packets.push((packet.bytes.to_vec(), packet.segments));
        let Some(merged) = packet.merged else {
            out.segments.push(packet.bytes.to_vec());
            return;
        };
        let mut buffer = [0; 65_536];
        let split = gso::split(packet.bytes, merged.gso_size, merged.fixed_id, &mut buffer, |segment| {
            out.segments.push(segment.to_vec());
        });
        if split != Ok(packet.segments) {
            error = Some(format!("{} segments, split: {split:?}", packet.segments));
        }
        let view = parse(packet.bytes).expect("a merged packet");
        let body = &packet.bytes[view.header..];
        let pseudo = checksum::pseudo(view.source, view.destination, TCP, body.len());
        if packet.bytes.len() != view.length
            || view.length > 65_535
            || (view.header, body.len() > usize::from(merged.gso_size)) != (merged.transport, true)
            || packet.bytes[0] >> 4 == 4 && !checksum::ipv4_header_holds(&packet.bytes[..view.header])
            || !checksum::holds(pseudo + checksum::sum(body))
        {
            error = Some(format!("headers of a merged packet: {view:?} {merged:?}"));
        }
    };
    for packet in packets {
        gro.take(packet, &mut up);
    }
    gro.flush(&mut up);
    let mut rest = 0;
    gro.flush(|_| rest += 1);
    hold(rest == 0, || "something goes up twice".to_owned())?;
    error.map_or(Ok(out), Err)
}

/// Normalizes the parts of a packet that merging and splitting may change: a checksum of zero has two forms,
/// and an urgent pointer without its flag is replaced by the first segment's, as in Linux.
pub fn normal(packet: &[u8]) -> Vec<u8> {
    let mut out = packet.to_vec();
    let Ok(view) = parse(packet) else { return out };
    let body = &packet[view.header..view.length];
    let pseudo = checksum::pseudo(view.source, view.destination, TCP, body.len());
    let tcp = view.protocol == TCP && view.fragment.is_none() && body.len() >= 20;
    if tcp && checksum::holds(pseudo + checksum::sum(body)) {
        if body[13] & 0x20 == 0 {
            out[view.header + 18..][..2].fill(0);
        }
        let right = checksum::transport(pseudo, &out[view.header..view.length], checksum::TCP_FIELD);
        out[view.header + checksum::TCP_FIELD..][..2].copy_from_slice(&right.to_be_bytes());
    }
    if packet[0] >> 4 == 4 && checksum::ipv4_header_holds(&packet[..view.header]) {
        let right = checksum::ipv4_header(&out[..view.header]);
        out[10..12].copy_from_slice(&right.to_be_bytes());
    }
    out
}

/// Properties of packets, or of other bytes, that arrive together: each is passed up once, unchanged except
/// where Linux changes it too.
pub fn batch(packets: &[Vec<u8>]) -> Held {
    for flows in [0, 1, 8] {
        let outcome = merge_and_split(packets, flows)?;
        let sorted = |all: &[Vec<u8>]| {
            let mut all: Vec<Vec<u8>> = all.iter().map(|p| normal(p)).collect();
            all.sort();
            all
        };
        hold(sorted(&outcome.segments) == sorted(packets), || {
            format!("with {flows} flows: {:02x?}", outcome.segments)
        })?;
    }
    Ok(())
}
