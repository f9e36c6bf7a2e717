//! IEEE 802.11 frames as bytes. All frames end with an FCS; their lengths are those of `wifi::phy::frame`.

use stillair_model::types::{Duration, PowerView};

use super::body::Body;
use super::ip::ETHERTYPE_IPV4;
use super::mac::Mac;

/// First byte of Frame Control: version 0, type and subtype.
// spec: ieee80211-2016 table 9-1.
mod kind {
    pub const BEACON: u8 = 0x80;
    pub const ACTION: u8 = 0xd0;
    pub const BLOCK_ACK_REQUEST: u8 = 0x84;
    pub const BLOCK_ACK: u8 = 0x94;
    pub const RTS: u8 = 0xb4;
    pub const CTS: u8 = 0xc4;
    pub const ACK: u8 = 0xd4;
    pub const QOS_DATA: u8 = 0x88;
    pub const NULL: u8 = 0x48;
    pub const QOS_NULL: u8 = 0xc8;
    pub const PS_POLL: u8 = 0xa4;
}

// spec: ieee80211-2016 9.2.4.1 - second byte of Frame Control.
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const RETRY: u8 = 0x08;
const PROTECTED: u8 = 0x40;
const POWER: u8 = 0x10;
const MORE: u8 = 0x20;
/// End of service period (EOSP) bit of QoS Control.
const EOSP: u8 = 0x10;

/// Returns Sequence Control without fragmentation.
fn sequence_control(seq: u16) -> [u8; 2] {
    (seq << 4).to_le_bytes()
}

/// Returns the Duration field: whole microseconds, rounded up.
// spec: ieee80211-2016 9.2.5.1.
fn duration(nav: Duration) -> [u8; 2] {
    (nav.nanos().div_ceil(1_000) as u16).to_le_bytes()
}

/// Header fields of a frame with three addresses.
#[derive(Clone, Copy, Debug)]
pub struct Dot11Header {
    /// Receiver address.
    pub to: Mac,
    /// Transmitter address.
    pub from: Mac,
    /// BSSID.
    pub bssid: Mac,
    /// Duration of the response after the frame, for the Duration field.
    pub nav: Duration,
    /// Sequence number.
    pub seq: u16,
    /// Retry bit.
    pub retry: bool,
}

/// Bytes of a header with three addresses.
const HEADER: usize = 24;
/// Bytes of the QoS Control field, LLC and SNAP.
const QOS_AND_LLC: usize = QOS + 8;
/// Bytes of the QoS Control field.
const QOS: usize = 2;
/// A-MSDU Present bit of QoS Control.
const AMSDU_PRESENT: u8 = 0x80;

/// Header of a QoS data frame, including LLC and SNAP.
#[derive(Clone, Copy, Debug)]
pub struct QosData(pub [u8; HEADER + QOS_AND_LLC]);

impl QosData {
    /// Sets the sequence number and the Retry bit, which differ between the frames of a PPDU.
    pub fn mark(&mut self, seq: u16, retry: bool) {
        self.0[1] = self.0[1] & !RETRY | if retry { RETRY } else { 0 };
        self.0[22..HEADER].copy_from_slice(&sequence_control(seq));
    }

    /// Sets the ack policy to No Ack.
    // spec: ieee80211-2016 9.2.4.5.4 - ack policy 1: No Ack.
    // deviation: mac80211 sends group-addressed frames without a QoS Control field, which saves 2 bytes.
    pub fn is_not_answered(&mut self) {
        self.0[HEADER] |= 0x20;
    }

    /// Sets the power save fields.
    // spec: ieee80211-2016 9.2.4.1.7, 9.2.4.1.8, 9.2.4.5.3 - Power Management and More Data; from an access
    // point, EOSP.
    pub fn saves(&mut self, power: PowerView) {
        self.0[1] |= power_bits(power);
        self.0[HEADER] |= if power.eosp { EOSP } else { 0 };
    }

    /// Sets the EtherType of the packet that follows.
    pub fn carries(&mut self, ethertype: u16) {
        self.0[HEADER + QOS_AND_LLC - 2..].copy_from_slice(&ethertype.to_be_bytes());
    }

    /// Sets whether an A-MSDU follows, in which each packet has its own subframe header.
    // spec: ieee80211-2016 9.2.4.5.9 - A-MSDU Present, bit 7 of QoS Control.
    pub fn holds_amsdu(&mut self, yes: bool) {
        self.0[HEADER] = self.0[HEADER] & !AMSDU_PRESENT | if yes { AMSDU_PRESENT } else { 0 };
    }

    /// Writes the start of the frame, up to the SNAP header, or up to the first subframe header of an A-MSDU.
    #[inline]
    pub fn write(&self, out: &mut Body<'_>) {
        out.part(&self.0, self.len());
    }

    /// Writes the start of an A-MSDU subframe: subframe header, LLC and SNAP. `packet` is the length of the
    /// packet in bytes.
    // spec: ieee80211-2016 9.3.2.2.2 - destination, source, and length of the rest.
    // deviation: source and destination are the stations at both ends of the link; the access point routes,
    // so its own address stands for all hosts behind it.
    pub fn write_msdu(&self, out: &mut Body<'_>, packet: u32) {
        out.extend(&self.0[4..16]);
        let llc = &self.0[HEADER + QOS..];
        out.push(&(packet as u16 + llc.len() as u16).to_be_bytes());
        out.extend(llc);
    }

    fn len(&self) -> usize {
        if self.0[HEADER] & AMSDU_PRESENT == 0 { self.0.len() } else { HEADER + QOS }
    }

    /// Writes the start of an encrypted frame, with the CCMP header after QoS Control.
    // spec: ieee80211-2016 9.2.4.1.9, 12.5.3.2 - Protected Frame bit; packet number, least significant bytes
    // first, around a reserved byte and the key ID byte (key 0, Ext IV bit set).
    // deviation: the payload is not encrypted and the MIC is zero, so that the packet is readable; the packet
    // number is the sequence number, which wraps after 4,096 frames.
    pub fn write_ccmp(&self, out: &mut Body<'_>) {
        let mut head = self.0;
        head[1] |= PROTECTED;
        let (before, llc) = head[..self.len()].split_at(HEADER + QOS);
        let number = u16::from_le_bytes([head[22], head[23]]) >> 4;
        let [low, high] = number.to_le_bytes();
        out.extend(before);
        out.push(&[low, high, 0, 0x20, 0, 0, 0, 0]);
        out.extend(llc);
    }
}

/// Returns the power save bits of Frame Control.
fn power_bits(power: PowerView) -> u8 {
    (if power.pm { POWER } else { 0 }) | if power.more { MORE } else { 0 }
}

impl Dot11Header {
    fn bytes(&self, kind: u8, direction: u8, third: Mac) -> [u8; HEADER] {
        let mut head = [0; HEADER];
        head[..2].copy_from_slice(&[kind, direction | if self.retry { RETRY } else { 0 }]);
        head[2..4].copy_from_slice(&duration(self.nav));
        head[4..10].copy_from_slice(&self.to.0);
        head[10..16].copy_from_slice(&self.from.0);
        head[16..22].copy_from_slice(&third.0);
        head[22..].copy_from_slice(&sequence_control(self.seq));
        head
    }

    fn write(&self, out: &mut Body<'_>, kind: u8, direction: u8, third: Mac) {
        out.push(&self.bytes(kind, direction, third));
    }

    /// Returns the header of a QoS data frame that carries an IPv4 packet.
    // spec: ieee80211-2016 table 9-26 - addresses by direction. The access point routes, so source and
    // destination behind it are its own address.
    // spec: ieee80211-2016 9.2.4.5.4 - ack policy 0: normal ACK, or implicit Block Ack request in an A-MPDU.
    pub fn qos_data(&self, tid: u8) -> QosData {
        let direction = if self.to == self.bssid { TO_DS } else { FROM_DS };
        let mut head = QosData([0; HEADER + QOS_AND_LLC]);
        let (three_addresses, rest) = head.0.split_at_mut(HEADER);
        three_addresses.copy_from_slice(&self.bytes(kind::QOS_DATA, direction, self.bssid));
        // spec: ieee80211-2016 annex P (rfc1042) - LLC with unnumbered information, SNAP with the EtherType.
        let [high, low] = ETHERTYPE_IPV4.to_be_bytes();
        rest.copy_from_slice(&[tid, 0, 0xaa, 0xaa, 0x03, 0, 0, 0, high, low]);
        head
    }

    /// Writes a Null frame.
    // spec: ieee80211-2016 table 9-26 - same addresses as in data frames.
    pub fn null(&self, out: &mut Body<'_>, power: PowerView) {
        let direction = if self.to == self.bssid { TO_DS } else { FROM_DS };
        self.write(out, kind::NULL, direction | power_bits(power), self.bssid);
    }

    /// Writes a QoS Null frame.
    pub fn qos_null(&self, out: &mut Body<'_>, tid: u8, power: PowerView) {
        let direction = if self.to == self.bssid { TO_DS } else { FROM_DS };
        self.write(out, kind::QOS_NULL, direction | power_bits(power), self.bssid);
        out.push(&[tid | if power.eosp { EOSP } else { 0 }, 0]);
    }

    /// Writes a PS-Poll frame, which has the AID instead of a duration.
    // spec: ieee80211-2016 9.3.1.5, 9.2.5.1 - the two most significant bits are set.
    pub fn ps_poll(&self, out: &mut Body<'_>, aid: u16) {
        out.push(&[kind::PS_POLL, POWER | if self.retry { RETRY } else { 0 }]);
        out.push(&(aid | 0xc000).to_le_bytes());
        out.push(&self.to.0);
        out.push(&self.from.0);
    }

    /// Writes the header of a beacon. The body follows.
    pub fn beacon(&self, out: &mut Body<'_>) {
        self.write(out, kind::BEACON, 0, self.bssid);
    }

    /// Writes an ADDBA Request for a session of `tid`, with a window of `frames` frames starting at `start`.
    // spec: ieee80211-2016 9.6.5.2 - Block Ack category, request, dialog token, parameters, timeout, starting
    // sequence control.
    pub fn addba_request(&self, out: &mut Body<'_>, token: u8, tid: u8, frames: u16, start: u16) {
        self.write(out, kind::ACTION, 0, self.bssid);
        out.push(&[3, 0, token]);
        out.push(&addba_parameters(tid, frames));
        out.push(&[0, 0]);
        out.push(&sequence_control(start));
    }

    /// Writes an ADDBA Response that accepts a session with a window of `frames` frames.
    // spec: ieee80211-2016 9.6.5.3 - Block Ack category, response, dialog token, status, parameters, timeout.
    pub fn addba_response(&self, out: &mut Body<'_>, token: u8, tid: u8, frames: u16) {
        self.write(out, kind::ACTION, 0, self.bssid);
        out.push(&[3, 1, token, 0, 0]);
        out.push(&addba_parameters(tid, frames));
        out.push(&[0, 0]);
    }
}

// spec: ieee80211-2016 9.4.1.14 - no A-MSDU, immediate Block Ack, TID, 10-bit buffer size.
fn addba_parameters(tid: u8, frames: u16) -> [u8; 2] {
    (0x0002 | u16::from(tid) << 2 | frames << 6).to_le_bytes()
}

/// Returns the control field of a BlockAck and a BlockAckReq frame.
// spec: ieee80211-2016 9.3.1.8.1 and 9.3.1.9.1 - compressed bitmap, TID in the upper four bits.
fn block_ack_control(tid: u8) -> [u8; 2] {
    (0x0004 | u16::from(tid) << 12).to_le_bytes()
}

/// Writes a CTS frame, or an RTS frame if `from` is given.
pub fn guard(out: &mut Body<'_>, nav: Duration, to: Mac, from: Option<Mac>) {
    out.push(&[if from.is_some() { kind::RTS } else { kind::CTS }, 0]);
    out.push(&duration(nav));
    out.push(&to.0);
    if let Some(from) = from {
        out.push(&from.0);
    }
}

/// Writes an ACK frame.
pub fn ack(out: &mut Body<'_>, to: Mac) {
    out.push(&[kind::ACK, 0, 0, 0]);
    out.push(&to.0);
}

/// Writes a BlockAckReq frame.
pub fn block_ack_request(out: &mut Body<'_>, [from, to]: [Mac; 2], nav: Duration, tid: u8, start: u16) {
    out.push(&[kind::BLOCK_ACK_REQUEST, 0]);
    out.push(&duration(nav));
    out.push(&to.0);
    out.push(&from.0);
    out.push(&block_ack_control(tid));
    out.push(&sequence_control(start));
}

/// Fragment number of a Block Ack with a bitmap of 32 bytes; that of one with 8 is zero.
// spec: ieee80211ax-2021 9.3.1.8.2 - bits 1 and 2 of the Fragment Number subfield state the bitmap's length,
// 2 for 32 bytes. ns-3: src/wifi/model/ctrl-headers.cc CtrlBAckResponseHeader::GetStartingSequenceControl.
// linux: drivers/net/wireless/realtek/rtw89/fw.c rtw89_fw_h2c_ba_cam (6.12) - 4 for a bitmap of 256 frames.
const BITMAP_OF_32_BYTES: u8 = 2 << 1;

/// Writes a BlockAck frame whose bitmap, of one or four words, starts at `start`.
pub fn block_ack(out: &mut Body<'_>, [from, to]: [Mac; 2], tid: u8, start: u16, bitmap: &[u64]) {
    out.push(&[kind::BLOCK_ACK, 0, 0, 0]);
    out.push(&to.0);
    out.push(&from.0);
    out.push(&block_ack_control(tid));
    let [low, high] = sequence_control(start);
    out.push(&[low | if bitmap.len() > 1 { BITMAP_OF_32_BYTES } else { 0 }, high]);
    bitmap.iter().for_each(|word| out.push(&word.to_le_bytes()));
}
