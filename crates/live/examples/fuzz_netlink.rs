//! Fuzzes the netlink parsers. `fuzz_netlink netlink SEED CASES` generates NFQUEUE and rtnetlink messages,
//! corrupts them, and parses them.
//!
//! Case n uses the seed SEED + n. A failure prints its seed; replay it with `fuzz_netlink netlink SEED 1`.

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use std::process::ExitCode;

    let words: Vec<String> = std::env::args().skip(1).collect();
    let numbers = words.iter().skip(1).map(|word| word.parse::<u64>());
    let (Some("netlink"), Ok([seed, cases])) = (
        words.first().map(String::as_str),
        numbers.collect::<Result<Vec<_>, _>>().map(|all| [0, 1].map(|n| all.get(n).copied().unwrap_or(1))),
    ) else {
        eprintln!("fuzz_netlink: expected netlink SEED CASES");
        return ExitCode::FAILURE;
    };
    for seed in seed..seed.saturating_add(cases) {
        let found = std::panic::catch_unwind(|| linux::case(seed));
        if let Err(why) = found.unwrap_or_else(|_| Err("panic".to_owned())) {
            eprintln!("fuzz netlink: seed {seed}: {why}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
mod linux {
    use stillair_live::netlink::{outcome, queue};

    // linux: include/uapi/linux/netfilter/nfnetlink_queue.h (6.12) - values of these constants.
    const PACKET: u16 = 3 << 8;
    const ERROR: u16 = 2;
    const HEADER: u16 = 1;
    const PAYLOAD: u16 = 10;
    const CAPTURED_LENGTH: u16 = 13;

    /// Pseudorandom numbers, determined by the seed.
    struct Draws(u64);

    impl Draws {
        // spec: splitmix64 (Steele, Lea, Flood 2014).
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        fn below(&mut self, n: usize) -> usize {
            (self.next() % n.max(1) as u64) as usize
        }

        fn bytes(&mut self, most: usize) -> Vec<u8> {
            (0..self.below(most)).map(|_| self.next() as u8).collect()
        }
    }

    /// A generated packet.
    #[derive(PartialEq, Debug)]
    struct Sent {
        id: u32,
        bytes: Vec<u8>,
        cut: bool,
    }

    /// Messages in kernel format.
    #[derive(Default)]
    struct Messages {
        bytes: Vec<u8>,
        begin: usize,
    }

    impl Messages {
        fn begin(&mut self, kind: u16, fixed: &[u8]) -> &mut Self {
            self.begin = self.bytes.len();
            self.bytes.extend([0; 4]);
            self.bytes.extend(kind.to_ne_bytes());
            self.bytes.extend([0; 10]);
            self.bytes.extend(fixed);
            self.close()
        }

        fn with(&mut self, kind: u16, value: &[u8]) -> &mut Self {
            self.bytes.extend((value.len() as u16 + 4).to_ne_bytes());
            self.bytes.extend(kind.to_ne_bytes());
            self.bytes.extend(value);
            self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
            self.close()
        }

        fn close(&mut self) -> &mut Self {
            let len = (self.bytes.len() - self.begin) as u32;
            self.bytes[self.begin..][..4].copy_from_slice(&len.to_ne_bytes());
            self
        }
    }

    pub fn case(seed: u64) -> Result<(), String> {
        let mut draws = Draws(seed);
        let (mut out, mut sent) = (Messages::default(), Vec::new());
        for _ in 0..1 + draws.below(5) {
            let general = [2, 0, 0, 1];
            if draws.below(4) == 0 {
                // Another message type: an error, a link, or an unknown type.
                let kind = [ERROR, 16, draws.next() as u16 | 1][draws.below(3)];
                // Messages are aligned to four bytes.
                let mut fixed = draws.bytes(24);
                fixed.resize(fixed.len().next_multiple_of(4), 0);
                out.begin(kind, &fixed);
                (0..draws.below(4)).for_each(|_| {
                    let value = draws.bytes(40);
                    out.with(draws.next() as u16, &value);
                });
                continue;
            }
            let one = Sent { id: draws.next() as u32, bytes: draws.bytes(1600), cut: draws.below(3) == 0 };
            let [a, b, c, d] = one.id.to_be_bytes();
            out.begin(PACKET, &general).with(HEADER, &[a, b, c, d, 8, 0, 3]);
            // Unread attributes in between.
            let other = draws.bytes(20);
            out.with(20 + draws.below(30) as u16, &other);
            if one.cut {
                out.with(CAPTURED_LENGTH, &3_000_u32.to_be_bytes());
            }
            out.with(PAYLOAD, &one.bytes);
            sent.push(one);
        }
        let whole = out.bytes;
        let found: Vec<Sent> =
            queue::packets(&whole).map(|p| Sent { id: p.id, bytes: p.bytes.to_vec(), cut: p.cut }).collect();
        if found != sent {
            return Err(format!("found {} packets of {} that were written", found.len(), sent.len()));
        }
        let mut bytes = whole;
        for _ in 0..1 + draws.below(8) {
            if bytes.is_empty() {
                break;
            }
            let at = draws.below(bytes.len());
            match draws.below(6) {
                0 => bytes.truncate(at),
                1 => bytes[at] = draws.next() as u8,
                2 => bytes[at] ^= 1 << draws.below(8),
                3 => drop(bytes.drain(at..(at + draws.below(40)).min(bytes.len()))),
                4 => {
                    let more = draws.bytes(40);
                    bytes.splice(at..at, more);
                }
                // Zero, less than a header, the whole message, or more.
                _ => {
                    let at = at & !3;
                    let value =
                        [0, 1, 3, 4, 15, 16, 17, 0xffff, u32::MAX, bytes.len() as u32][draws.below(10)];
                    for (place, byte) in bytes[at..].iter_mut().zip(value.to_ne_bytes()) {
                        *place = byte;
                    }
                }
            }
        }
        read(&bytes)
    }

    /// Parses arbitrary bytes. Every packet found must lie within `bytes`, and parsing must terminate.
    fn read(bytes: &[u8]) -> Result<(), String> {
        let within = bytes.as_ptr_range();
        let inside = |part: &[u8]| {
            part.is_empty() || within.start <= part.as_ptr() && part.as_ptr_range().end <= within.end
        };
        let packets = queue::packets(bytes).inspect(|packet| {
            // The engine parses the packet next.
            let _ = stillair_ip::parse(packet.bytes);
        });
        let (mut count, mut total) = (0, 0);
        for packet in packets {
            count += 1;
            total += packet.bytes.len();
            if !inside(packet.bytes) {
                return Err("a packet reaches beyond what came".to_owned());
            }
        }
        // Each packet takes at least a message header, a queue header, and a packet header.
        if count * 28 + total > bytes.len() {
            return Err(format!("{count} packets of {total} bytes in {}", bytes.len()));
        }
        let _ = outcome(bytes);
        Ok(())
    }
}
