//! Lengths of frames in bytes, as a PSDU carries them: the frame check sequence is always counted.

use super::Band;

/// Frame check sequence.
pub const FCS: u32 = 4;

/// Header of a QoS data frame between a station and its access point.
// spec: ieee80211-2016 9.3.2.1 - frame control 2, duration 2, three addresses 18, sequence control 2, QoS
// control 2.
pub const QOS_HEADER: u32 = 26;

/// LLC and SNAP headers, which name the protocol of a data frame's payload.
// spec: ieee80211-2016 annex P (rfc1042) - 3 of LLC, 5 of SNAP.
pub const LLC_SNAP: u32 = 8;

/// Delimiter before each MPDU of an aggregate.
// spec: ieee80211-2016 9.7.1 - length, its checksum, signature.
pub const DELIMITER: u32 = 4;

/// ACK frame.
// spec: ieee80211-2016 9.3.1.4 - frame control 2, duration 2, one address 6, FCS 4.
pub const ACK: u32 = 14;

/// RTS frame.
// spec: ieee80211-2016 9.3.1.2 - frame control 2, duration 2, two addresses 12, FCS 4.
pub const RTS: u32 = 20;

/// CTS frame, including CTS-to-self.
// spec: ieee80211-2016 9.3.1.3 - frame control 2, duration 2, one address 6, FCS 4.
pub const CTS: u32 = 14;

/// Block Ack request, compressed variant.
// spec: ieee80211-2016 9.3.1.8 - frame control 2, duration 2, two addresses 12, BAR control 2, starting
// sequence 2, FCS 4.
pub const BLOCK_ACK_REQUEST: u32 = 24;

/// Block Ack, compressed variant with a bitmap of 64 frames.
// spec: ieee80211-2016 9.3.1.9 - as the request, and a bitmap of 8.
pub const BLOCK_ACK: u32 = BLOCK_ACK_REQUEST + 8;

/// Compressed Block Ack with a bitmap of 256 frames, used in sessions with windows of more than 64.
// spec: ieee80211ax-2021 9.3.1.8.2 - the Fragment Number subfield tells the bitmap's length: 8 or 32 bytes.
// linux: drivers/net/wireless/realtek/rtw89/fw.c rtw89_fw_h2c_ba_cam (6.12) - sets the bitmap of 256 frames
// for sessions with a buffer of more than 64 frames, and that of 64 for all others.
// deviation: all radios follow that rule - other drivers leave the choice to firmware or hardware.
pub const BLOCK_ACK_256: u32 = BLOCK_ACK_REQUEST + 32;

/// Length of a Block Ack, with the bitmap of 256 frames (`wide`) or of 64.
#[inline]
pub const fn block_ack(wide: bool) -> u32 {
    if wide { BLOCK_ACK_256 } else { BLOCK_ACK }
}

/// Null frame.
// spec: ieee80211-2016 9.3.2.1 - frame control 2, duration 2, three addresses 18, sequence control 2, FCS 4.
pub const NULL: u32 = 28;

/// QoS null frame.
// spec: ieee80211-2016 9.3.2.1 - with QoS control 2.
pub const QOS_NULL: u32 = QOS_HEADER + FCS;

/// PS-Poll.
// spec: ieee80211-2016 9.3.1.5 - frame control 2, association identifier 2, two addresses 12, FCS 4.
pub const PS_POLL: u32 = 20;

/// Header of a management frame.
// spec: ieee80211-2016 9.3.3.2 - frame control 2, duration 2, three addresses 18, sequence control 2.
pub const MANAGEMENT_HEADER: u32 = 24;

/// ADDBA request.
// spec: ieee80211-2016 9.6.5.2 - category 1, action 1, dialogue token 1, parameters 2, timeout 2, starting
// sequence 2.
pub const ADDBA_REQUEST: u32 = MANAGEMENT_HEADER + 9 + FCS;

/// ADDBA response.
// spec: ieee80211-2016 9.6.5.3 - category 1, action 1, dialogue token 1, status 2, parameters 2, timeout 2.
pub const ADDBA_RESPONSE: u32 = MANAGEMENT_HEADER + 9 + FCS;

/// Body of a beacon of an open 802.11n network at 5 GHz, in order: names and lengths in bytes. Each element's
/// length includes its two-byte header.
// spec: ieee80211-2016 9.3.3.3 table 9-27 - order and kinds; lengths from 9.4.1 and 9.4.2.
// deviation: the set of elements is a choice, the least that hostapd sends for such a network, with a name of
// eight letters. Country, RSN, load and vendors' elements would make it longer; no element of 2.4 GHz is
// counted.
pub const BEACON_BODY: [(&str, u32); 11] = [
    ("timestamp", 8),
    ("beacon interval", 2),
    ("capabilities", 2),
    ("SSID of 8 letters", 10),
    ("supported rates, 8 of them", 10),
    ("DSSS parameter set", 3),
    ("TIM without stations asleep", 6),
    ("HT capabilities", 28),
    ("HT operation", 24),
    ("extended capabilities", 10),
    ("WMM parameters", 26),
];

/// The same for a network at 6 GHz, which has no HT: an HE Operation element gives the channel.
// spec: ieee80211ax-2021 9.3.3.2, 9.4.2.248, 9.4.2.249 and 9.4.2.263 - of HE capabilities 6, 11 and for up to
// 160 MHz 8 bytes, of HE operation 3, 1, 2 and 5 about the channel, of the band's capabilities 2; each after
// a head of three.
// deviation: without the elements for security, country and power that an access point at 6 GHz must send.
pub const BEACON_BODY_6GHZ: [(&str, u32); 11] = [
    ("timestamp", 8),
    ("beacon interval", 2),
    ("capabilities", 2),
    ("SSID of 8 letters", 10),
    ("supported rates, 8 of them", 10),
    ("TIM without stations asleep", 6),
    ("extended capabilities", 10),
    ("HE capabilities", 28),
    ("HE operation", 14),
    ("HE 6 GHz band capabilities", 5),
    ("WMM parameters", 26),
];

/// Beacon with the elements of [`BEACON_BODY`].
pub const BEACON: u32 = with_body(&BEACON_BODY);

/// Length of a beacon in a band.
pub const fn beacon(band: Band) -> u32 {
    match band {
        Band::Ghz2 | Band::Ghz5 => BEACON,
        Band::Ghz6 => with_body(&BEACON_BODY_6GHZ),
    }
}

const fn with_body(body: &[(&str, u32)]) -> u32 {
    let mut bytes = MANAGEMENT_HEADER + FCS;
    let mut i = 0;
    while i < body.len() {
        bytes += body[i].1;
        i += 1;
    }
    bytes
}

/// QoS data frame that carries an IP packet of `packet` bytes, without encryption.
#[inline]
pub const fn data_mpdu(packet: u32) -> u32 {
    QOS_HEADER + LLC_SNAP + packet + FCS
}

/// A-MSDU subframe header: destination, source and length. LLC and SNAP follow.
// spec: ieee80211-2016 9.3.2.2.2 - 6 and 6 and 2.
pub const AMSDU_HEADER: u32 = 14;

/// Length of a QoS data frame of `mpdu` bytes after another packet of `packet` bytes joins its A-MSDU.
/// `sealed` is the part of `mpdu` that encryption adds. `alone` says that the frame held one packet only.
// spec: ieee80211-2016 9.3.2.2.2 - each subframe but the last is padded to a multiple of four.
#[inline]
pub const fn joined_mpdu(mpdu: u32, sealed: u32, alone: bool, packet: u32) -> u32 {
    let before = mpdu + if alone { AMSDU_HEADER } else { 0 };
    before + padding(before - QOS_HEADER - FCS - sealed) + AMSDU_HEADER + LLC_SNAP + packet
}

/// Encryption of data frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cipher {
    /// No encryption.
    #[default]
    None,
    /// CCMP with a 128-bit key, as in WPA2.
    Ccmp,
}

impl Cipher {
    /// CCMP header, between the QoS Control field and the payload.
    // spec: ieee80211-2016 12.5.3.2 - packet number 6, key TID 1, reserved 1.
    pub const HEADER: u32 = 8;
    /// CCMP message integrity code (MIC), between the payload and the FCS.
    // spec: ieee80211-2016 12.5.3.2 - MIC of CCMP-128.
    pub const MIC: u32 = 8;

    /// Number of bytes by which encryption lengthens a data frame.
    #[inline]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Ccmp => Self::HEADER + Self::MIC,
        }
    }
}

/// Number of bytes that pad `len` to a multiple of four.
#[inline]
pub const fn padding(len: u32) -> u32 {
    len.wrapping_neg() & 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths() {
        // paper: ending-the-anomaly sec. 2.2.1 - 1500 bytes with delimiter, header 34, FCS and padding are
        // 1544.
        let subframe = DELIMITER + data_mpdu(1500);
        assert_eq!((data_mpdu(1500), subframe + padding(subframe)), (1538, 1544));
        assert_eq!([ACK, BLOCK_ACK_REQUEST, block_ack(false), block_ack(true)], [14, 24, 32, 56]);
        assert_eq!([ADDBA_REQUEST, ADDBA_RESPONSE], [37, 37]);
        assert_eq!([Band::Ghz2, Band::Ghz5, Band::Ghz6].map(beacon), [157, 157, 149]);
        assert_eq!([NULL, QOS_NULL, PS_POLL], [28, 30, 20]);
    }

    #[test]
    fn packets_join() {
        // 26 + 1,522 + 2 + 1,522 + 4; a third one: 2 more of padding.
        let two = joined_mpdu(data_mpdu(1500), 0, true, 1500);
        assert_eq!((two, joined_mpdu(two, 0, false, 1500)), (3_076, 4_600));
        // An acknowledgement of 52 bytes is 74 and 2 of padding; encryption is no part of what is padded.
        assert_eq!(joined_mpdu(data_mpdu(52), 0, true, 52), 26 + 76 + 74 + 4);
        assert_eq!(joined_mpdu(data_mpdu(52) + 16, 16, true, 52), 26 + 76 + 74 + 4 + 16);
        // 54 bytes need none.
        assert_eq!(joined_mpdu(data_mpdu(54), 0, true, 54), 26 + 76 + 76 + 4);
    }

    proptest! {
        #[test]
        fn padding_is_least(len in 0_u32..100_000) {
            prop_assert!(padding(len) < 4);
            prop_assert_eq!((len + padding(len)) % 4, 0);
        }
    }
}
