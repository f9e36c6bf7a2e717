//! Frame lengths in bytes, as carried in a PSDU. The FCS is always included.

use super::Band;

/// Frame check sequence.
pub const FCS: u32 = 4;

/// Header of a QoS data frame between station and access point.
// spec: ieee80211-2016 9.3.2.1 - frame control 2, duration 2, three addresses 18, sequence control 2, QoS
// control 2.
pub const QOS_HEADER: u32 = 26;

/// LLC and SNAP headers of a data frame's payload.
// spec: ieee80211-2016 annex P (rfc1042) - LLC 3, SNAP 5.
pub const LLC_SNAP: u32 = 8;

/// Delimiter before each MPDU of an A-MPDU.
// spec: ieee80211-2016 9.7.1 - length, CRC and signature.
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
// sequence control 2, FCS 4.
pub const BLOCK_ACK_REQUEST: u32 = 24;

/// Block Ack, compressed variant with a bitmap of 64 frames.
// spec: ieee80211-2016 9.3.1.9 - the fields of the request plus a bitmap of 8 bytes.
pub const BLOCK_ACK: u32 = BLOCK_ACK_REQUEST + 8;

/// Compressed Block Ack with a bitmap of 256 frames, used in sessions with windows of more than 64.
// spec: ieee80211ax-2021 9.3.1.8.2 - the Fragment Number subfield tells the bitmap's length: 8 or 32 bytes.
// linux: drivers/net/wireless/realtek/rtw89/fw.c rtw89_fw_h2c_ba_cam (6.12) - sets the bitmap of 256 frames
// for sessions with a buffer of more than 64 frames, and that of 64 for all others.
// deviation: all radios follow that rule - other drivers leave the choice to firmware or hardware.
pub const BLOCK_ACK_256: u32 = BLOCK_ACK_REQUEST + 32;

/// Returns the length of a Block Ack with a bitmap of 256 frames (`wide`) or 64 frames.
#[inline]
pub const fn block_ack(wide: bool) -> u32 {
    if wide { BLOCK_ACK_256 } else { BLOCK_ACK }
}

/// Null frame.
// spec: ieee80211-2016 9.3.2.1 - frame control 2, duration 2, three addresses 18, sequence control 2, FCS 4.
pub const NULL: u32 = 28;

/// QoS null frame.
// spec: ieee80211-2016 9.3.2.1 - a Null frame plus QoS control 2.
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

/// Beacon body of an open 802.11n network at 5 GHz, in order: element names and lengths in bytes. Lengths
/// include the two-byte element header.
// spec: ieee80211-2016 9.3.3.3 table 9-27 - order and kinds; lengths from 9.4.1 and 9.4.2.
// deviation: contains only the elements that hostapd sends for such a network with an 8-letter SSID. Omits
// Country, RSN, BSS Load and vendor-specific elements, and 2.4 GHz elements.
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

/// Beacon body of a network at 6 GHz. It has no HT elements: the HE Operation element gives the channel.
// spec: ieee80211ax-2021 9.3.3.2, 9.4.2.248, 9.4.2.249 and 9.4.2.263 - each HE element has a header of 3
// bytes. HE capabilities: 6, 11 and, for up to 160 MHz, 8 bytes. HE operation: 3, 1, 2 and 5 bytes of channel
// information. HE 6 GHz band capabilities: 2 bytes.
// deviation: omits the security, country and power elements that access points at 6 GHz must send.
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

/// Returns the beacon length in a band.
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

/// Returns the length of an unencrypted QoS data frame that carries an IP packet of `packet` bytes.
#[inline]
pub const fn data_mpdu(packet: u32) -> u32 {
    QOS_HEADER + LLC_SNAP + packet + FCS
}

/// A-MSDU subframe header: destination, source and length. LLC and SNAP follow.
// spec: ieee80211-2016 9.3.2.2.2 - destination 6, source 6, length 2.
pub const AMSDU_HEADER: u32 = 14;

/// Returns the length of a QoS data frame of `mpdu` bytes after another packet of `packet` bytes joins its
/// A-MSDU. `sealed` is the number of bytes that encryption adds to `mpdu`. `alone` is true if the frame held
/// only one packet.
// spec: ieee80211-2016 9.3.2.2.2 - pads each subframe but the last to a multiple of four.
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
    // spec: ieee80211-2016 12.5.3.2 - packet number 6, key ID 1, reserved 1.
    pub const HEADER: u32 = 8;
    /// CCMP message integrity code (MIC), between the payload and the FCS.
    // spec: ieee80211-2016 12.5.3.2 - MIC of CCMP-128.
    pub const MIC: u32 = 8;

    /// Returns the number of bytes that encryption adds to a data frame.
    #[inline]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Ccmp => Self::HEADER + Self::MIC,
        }
    }
}

/// Returns the number of bytes that pad `len` to a multiple of four.
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
        // paper: ending-the-anomaly sec. 2.2.1 - 1500 bytes with delimiter, 34-byte header, FCS and padding
        // are 1544.
        let subframe = DELIMITER + data_mpdu(1500);
        assert_eq!((data_mpdu(1500), subframe + padding(subframe)), (1538, 1544));
        assert_eq!([ACK, BLOCK_ACK_REQUEST, block_ack(false), block_ack(true)], [14, 24, 32, 56]);
        assert_eq!([ADDBA_REQUEST, ADDBA_RESPONSE], [37, 37]);
        assert_eq!([Band::Ghz2, Band::Ghz5, Band::Ghz6].map(beacon), [157, 157, 149]);
        assert_eq!([NULL, QOS_NULL, PS_POLL], [28, 30, 20]);
    }

    #[test]
    fn amsdu_lengths() {
        // 26 + 1,522 + 2 + 1,522 + 4; a third packet needs 2 more bytes of padding.
        let two = joined_mpdu(data_mpdu(1500), 0, true, 1500);
        assert_eq!((two, joined_mpdu(two, 0, false, 1500)), (3_076, 4_600));
        // A 52-byte TCP ACK makes a subframe of 74 bytes and 2 of padding. Encryption does not affect the
        // padding.
        assert_eq!(joined_mpdu(data_mpdu(52), 0, true, 52), 26 + 76 + 74 + 4);
        assert_eq!(joined_mpdu(data_mpdu(52) + 16, 16, true, 52), 26 + 76 + 74 + 4 + 16);
        // 54 bytes need no padding.
        assert_eq!(joined_mpdu(data_mpdu(54), 0, true, 54), 26 + 76 + 76 + 4);
    }

    proptest! {
        #[test]
        fn padding_is_minimal(len in 0_u32..100_000) {
            prop_assert!(padding(len) < 4);
            prop_assert_eq!((len + padding(len)) % 4, 0);
        }
    }
}
