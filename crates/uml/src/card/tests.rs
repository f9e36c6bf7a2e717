//! A test driver that talks to a card over a socket pair, like a guest's driver.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use super::ring::tests::{AVAILABLE, DESCRIPTORS, SIZE, USED, describe, offer};
use super::*;
use crate::sys::memory_file;

const NEED_REPLY: u32 = 8;
const REPLY: u32 = 4;
/// Offsets of the driver's rings, relative to the addresses used by the ring's own tests.
const FAR: [u64; 2] = [0x4000, 0];

struct Driver {
    socket: Socket,
    requests: Socket,
    memory: GuestMemory,
    card: Card,
}

/// Sends a request and returns the reply: request, flags and payload.
fn ask(
    card: &mut Card,
    socket: &Socket,
    what: u32,
    payload: &[u8],
    files: &[&OwnedFd],
) -> (Result<Heard, CardError>, Vec<u8>) {
    let mut bytes = Vec::new();
    for word in [what, 1 | NEED_REPLY, payload.len() as u32] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.extend_from_slice(payload);
    let sent = if files.is_empty() { socket.send(&bytes) } else { socket.send_with(&bytes, files) };
    assert_eq!(sent, Ok(true));
    let heard = card.hear();
    if heard != Ok(Heard::Setup) {
        return (heard, Vec::new());
    }
    let mut header = [0; 12];
    assert_eq!(socket.receive(&mut header, &mut Vec::new()), Ok(true));
    assert_eq!(header[..8], [what.to_le_bytes(), (1 | REPLY).to_le_bytes()].concat());
    let mut answer = vec![0; usize::from(header[8])];
    assert_eq!(socket.receive(&mut answer, &mut Vec::new()), Ok(true));
    (heard, answer)
}

fn words(all: &[u64]) -> Vec<u8> {
    all.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn pair() -> [Socket; 2] {
    let (a, b) = UnixStream::pair().expect("a pair");
    [a, b].map(|end| Socket::from(OwnedFd::from(end)))
}

impl Driver {
    fn new(offload: Offload) -> Self {
        let [socket, other] = pair();
        let mut card = Card::new(other, features(offload, RxBuffers::Small), [2, 0, 0, 0, 0, 9]);
        let mut good = |what: u32, payload: &[u8], files: &[&OwnedFd]| {
            let (heard, answer) = ask(&mut card, &socket, what, payload, files);
            assert_eq!(heard, Ok(Heard::Setup), "{what}");
            answer
        };
        let offered = good(request::GET_FEATURES, &[], &[]);
        assert_eq!(offered, features(offload, RxBuffers::Small).to_le_bytes());
        assert_eq!(good(request::GET_PROTOCOL_FEATURES, &[], &[]), PROTOCOL.to_le_bytes());
        good(request::SET_PROTOCOL_FEATURES, &PROTOCOL.to_le_bytes(), &[]);
        let [requests, given] = pair();
        let given = given.into_fd();
        good(request::SET_SLAVE_REQ_FD, &[], &[&given]);
        good(request::SET_FEATURES, &offered, &[]);
        // Offset, size, flags, and space for the address.
        let config =
            good(request::GET_CONFIG, &[words(&[6 << 32, 0])[..12].to_vec(), vec![0; 6]].concat(), &[]);
        assert_eq!(config[12..], [2, 0, 0, 0, 0, 9]);
        let file = memory_file("guest", 0x1_0000).expect("a file");
        let region = Region { address: 0x1000, size: 0x1_0000, offset: 0 };
        good(request::SET_MEM_TABLE, &words(&[1, 0x1000, 0x1_0000, 0x1000, 0]), &[&file]);
        for ring in [RX, TX] {
            let (n, far) = (ring as u64, FAR[ring]);
            good(request::SET_VRING_NUM, &words(&[n | u64::from(SIZE) << 32]), &[]);
            good(request::SET_VRING_BASE, &words(&[n]), &[]);
            let places = [n, DESCRIPTORS + far, USED + far, AVAILABLE + far, u64::MAX];
            good(request::SET_VRING_ADDR, &words(&places), &[]);
            good(request::SET_VRING_ENABLE, &words(&[n | 1 << 32]), &[]);
        }
        let memory = GuestMemory::new(&[region], &[file]).expect("memory");
        // The card asks for kicks on the transmit ring; for receive buffers only once it waits for one.
        assert_eq!([RX, TX].map(|ring| memory.u16(USED + FAR[ring])), [Ok(1), Ok(0)]);
        Self { socket, requests, memory, card }
    }
}

#[test]
fn a_driver_sends_a_packet_and_gets_its_buffer_back() {
    let mut driver = Driver::new(Offload::None);
    let frame: Vec<u8> = (0..60).collect();
    driver.memory.write(0x8000, &[0; HEADER]).expect("in bounds");
    driver.memory.write(0x9000, &frame).expect("in bounds");
    describe(&driver.memory, 2, 0x8000, HEADER as u32, 1, 3);
    describe(&driver.memory, 3, 0x9000, 60, 0, 0);
    offer(&driver.memory, &[2], 1);
    let (heard, _) = ask(&mut driver.card, &driver.socket, request::VRING_KICK, &words(&[TX as u64]), &[]);
    assert_eq!(heard, Ok(Heard::Kick(TX)));
    let (head, header, got) = driver.card.take().expect("no mistake").expect("a packet");
    assert_eq!((head, header.gso_size, got), (2, None, &frame[..]));
    assert!(driver.card.take().expect("no mistake").is_none());
    driver.card.answer().expect("it is there");
    assert_eq!(driver.memory.u16(USED + 2), Ok(0));
    driver.card.sent(2).expect("in bounds");
    assert_eq!(driver.card.publish(TX), Ok(true));
    assert_eq!((driver.memory.u16(USED + 2), driver.memory.u16(USED + 4)), (Ok(1), Ok(2)));
    // The interrupt: a request from the card with the ring's number, which the driver acknowledges.
    driver.card.call(TX).expect("it is there");
    let mut bytes = [0; 20];
    assert_eq!(driver.requests.receive(&mut bytes, &mut Vec::new()), Ok(true));
    assert_eq!(bytes[..12], [4_u32, 1 | NEED_REPLY, 8].map(u32::to_le_bytes).concat());
    assert_eq!(bytes[12..16], [TX as u8, 0, 0, 0]);
    let answer = |code: u64| [[4_u32, 1 | REPLY, 8].map(u32::to_le_bytes).concat(), words(&[code])].concat();
    assert_eq!(driver.requests.send(&answer(0)), Ok(true));
    assert_eq!(driver.card.answered(), Ok(true));
    assert_eq!(driver.requests.send(&answer(1)), Ok(true));
    assert!(driver.card.answered().is_err());
}

#[test]
fn a_frame_needs_a_receive_buffer() {
    let mut driver = Driver::new(Offload::Gso);
    let frame = [7; 100];
    assert_eq!(driver.card.receive(&frame), Ok(false));
    driver.card.wait_for_room(true).expect("in bounds");
    let far = FAR[RX];
    assert_eq!(driver.memory.u16(USED + far), Ok(0));
    let mut descriptor = words(&[0xa000, 0]);
    descriptor[8..12].copy_from_slice(&2048_u32.to_le_bytes());
    descriptor[12] = 2;
    driver.memory.write(DESCRIPTORS + far, &descriptor).expect("in bounds");
    driver.memory.write(AVAILABLE + far + 2, &[1, 0]).expect("in bounds");
    assert_eq!(driver.card.receive(&frame), Ok(true));
    assert_eq!((driver.card.publish(RX), driver.memory.u16(USED + far + 8)), (Ok(true), Ok(112)));
    let mut got = [0; 112];
    driver.memory.read(0xa000, &mut got).expect("in bounds");
    // The checksum is valid, and the packet uses one buffer.
    assert_eq!((got[0], got[10], &got[12..]), (2, 1, &frame[..]));
    // A buffer that is too short is a driver error.
    descriptor[8..12].copy_from_slice(&64_u32.to_le_bytes());
    driver.memory.write(DESCRIPTORS + far, &descriptor).expect("in bounds");
    driver.memory.write(AVAILABLE + far + 2, &[2, 0]).expect("in bounds");
    assert!(driver.card.receive(&frame).is_err_and(|why| why == CardError::Buffer { len: 100 }));
}

#[test]
fn invalid_driver_requests_are_rejected() {
    for (what, payload, why) in [
        (request::SET_FEATURES, words(&[u64::MAX]), "expected a subset of"),
        (request::SET_PROTOCOL_FEATURES, words(&[8]), "does not support a card in virtual time"),
        (request::SET_VRING_NUM, words(&[2 | 256 << 32]), "ring 2"),
        (request::SET_VRING_NUM, words(&[100 << 32]), "a ring of 100"),
        (request::SET_MEM_TABLE, words(&[1, 0, 4096, 0, 0]), "1 regions of memory with 0 files"),
        (request::SET_MEM_TABLE, words(&[1]), "with 8 bytes"),
        (request::SET_VRING_CALL, words(&[0]), "expected in-band notifications"),
        (99, Vec::new(), "request 99"),
    ] {
        let [socket, other] = pair();
        let mut card = Card::new(other, features(Offload::Tso, RxBuffers::Mergeable), [0; 6]);
        let (heard, _) = ask(&mut card, &socket, what, &payload, &[]);
        assert!(heard.as_ref().is_err_and(|found| found.to_string().contains(why)), "{heard:?}");
    }
    let [socket, other] = pair();
    let mut card = Card::new(other, 0, [0; 6]);
    drop(socket);
    assert_eq!(card.hear(), Ok(Heard::Gone));
}
