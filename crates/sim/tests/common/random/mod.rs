//! Small random networks.

mod cell;
mod devices;
mod foreign;
mod power;
mod qdiscs;
mod steps;

use std::fmt::Write;

use proptest::prelude::*;

use super::stacks::{KERNELS, TSO, UPPER, control};
use devices::{INTERRUPTS, SCHEMES, WIRES};
use foreign::FOREIGN;
use power::POWERS;
use qdiscs::{QDISCS, quoted};

const MARKS: [&str; 5] = ["CS0", "CS1", "CS5", "EF", "CS6"];

/// Index of ath9k_htc among the schemes.
const HTC: usize = 5;

/// Returns true if firmware builds the aggregates of a scheme.
fn is_firmware(scheme: usize) -> bool {
    scheme > 6
}

/// Returns true if a scheme has flow queues in the MAC.
fn has_flows(scheme: usize) -> bool {
    scheme > 1 && scheme != HTC
}

const PRESETS: [&str; 4] = ["chromium39", "bquic39", "chromium-now", "rfc9002"];

const WINDOWS: [u32; 4] = [256, 64, 256, 100];

#[derive(Clone, Debug)]
struct Cell {
    scheme: usize,
    /// Small queue limits; 0 for the scheme's default.
    limit: u32,
    root_qdisc: bool,
    hardware: (u32, u32),
    bursts: bool,
    retry_limit: u8,
}

#[derive(Clone, Debug)]
struct Sta {
    ap: usize,
    rate: usize,
    fallback: usize,
    tries: u8,
    /// Streams for Minstrel-HT; 0 for fixed rates.
    minstrel: u8,
    /// Error rate in %.
    errors: u32,
    ack_errors: u32,
    /// SNR in dB, which determines the errors, and its value from 50 ms on.
    snr: Option<(i32, i32)>,
    scheme: usize,
    txqueuelen: u32,
    /// Kernel, segmentation, and qdisc if the scheme has one.
    stack: (usize, usize, usize),
    /// A second interface on its radio.
    second: Option<Second>,
    /// Power save and scans: index in [`POWERS`].
    power: usize,
}

/// A device that shares another's radio, with its own path and queues.
#[derive(Clone, Debug)]
struct Second {
    ap: usize,
    rate: usize,
    errors: u32,
    scheme: usize,
    limit: u32,
}

#[derive(Clone, Debug)]
struct Traffic {
    kind: usize,
    station: usize,
    /// True to use the second interface, if the station has one.
    second: bool,
    mark: usize,
    kbps: u32,
    burst: u32,
    payload: u32,
    gap: usize,
}

/// A network, from which the scenario is generated.
#[derive(Clone, Debug)]
pub struct Case {
    low_band: bool,
    wide: bool,
    beacons: bool,
    /// RTS threshold in bytes; 0 for none.
    rts: u32,
    /// 0 if all stations hear each other; 1 if they are hidden, 2 if they only sense each other.
    hearing: usize,
    /// Other users of the channel.
    foreign: usize,
    wire: usize,
    qdisc: usize,
    cells: Vec<Cell>,
    stations: Vec<Sta>,
    traffic: Vec<Traffic>,
}

fn cell() -> impl Strategy<Value = Cell> {
    let limit = prop_oneof![Just(0), 1_u32..40];
    (0..SCHEMES.len(), limit, any::<bool>(), (1_u32..4, 1_u32..9), any::<bool>(), 0_u8..31).prop_map(
        |(scheme, limit, root_qdisc, hardware, bursts, retry_limit)| Cell {
            scheme,
            limit,
            root_qdisc,
            hardware,
            bursts,
            retry_limit,
        },
    )
}

fn sta() -> impl Strategy<Value = Sta> {
    // Some paths are perfect, one in ten is dead.
    let errors = prop_oneof![3 => Just(0_u32), 6 => 1_u32..61, 1 => Just(100_u32)];
    let ack_errors = prop_oneof![Just(0_u32), 1_u32..41];
    let snr = prop::option::weighted(0.3, (-5_i32..45, -5_i32..45));
    let control = prop_oneof![2 => Just(0_u8), 1 => 1_u8..5];
    let path = (0_usize..2, 0_usize..7, 0_usize..8, 1_u8..6, control, errors, ack_errors);
    let stack = (0..KERNELS.len(), 0..TSO.len(), 0..UPPER.len());
    let second = prop::option::weighted(0.4, second());
    (path, snr, 0..SCHEMES.len(), 1_u32..200, stack, second, 0..POWERS.len()).prop_map(
        |(
            (ap, rate, fallback, tries, minstrel, errors, ack_errors),
            snr,
            scheme,
            txqueuelen,
            stack,
            second,
            power,
        )| Sta {
            ap,
            rate,
            fallback,
            tries,
            minstrel,
            errors,
            ack_errors,
            snr,
            scheme,
            txqueuelen,
            stack,
            second,
            power,
        },
    )
}

fn second() -> impl Strategy<Value = Second> {
    let errors = prop_oneof![3 => Just(0_u32), 6 => 1_u32..61, 1 => Just(100_u32)];
    let limit = prop_oneof![Just(0), 1_u32..40];
    (0_usize..2, 0_usize..7, errors, 0..SCHEMES.len(), limit)
        .prop_map(|(ap, rate, errors, scheme, limit)| Second { ap, rate, errors, scheme, limit })
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let size = (100_u32..60_000, prop_oneof![1_u32..5, 5_u32..300], 1_u32..1473);
    (0_usize..11, 0_usize..8, any::<bool>(), 0..MARKS.len(), size, 0_usize..3).prop_map(
        |(kind, station, second, mark, size, gap)| {
            let (kbps, burst, payload) = size;
            Traffic { kind, station, second, mark, kbps, burst, payload, gap }
        },
    )
}

/// Generates small networks: one or two cells, up to eight stations and as many flows.
pub fn case() -> impl Strategy<Value = Case> {
    let rts = prop_oneof![2 => Just(0_u32), 1 => 1_u32..3_000];
    let hearing = prop_oneof![2 => Just(0_usize), 1 => Just(1), 1 => Just(2)];
    let foreign = prop_oneof![2 => Just(0_usize), 1 => 1..FOREIGN.len()];
    let flags =
        (any::<bool>(), any::<bool>(), any::<bool>(), rts, hearing, foreign, 0..WIRES.len(), 0..QDISCS.len());
    let parts = (
        prop::collection::vec(cell(), 1..=2),
        prop::collection::vec(sta(), 1..=8),
        prop::collection::vec(traffic(), 1..=8),
    );
    (flags, parts).prop_map(
        |((low_band, wide, beacons, rts, hearing, foreign, wire, qdisc), (cells, stations, traffic))| Case {
            low_band,
            wide,
            beacons,
            rts,
            hearing,
            foreign,
            wire,
            qdisc,
            cells,
            stations,
            traffic,
        },
    )
}

impl Case {
    /// Returns true if the order of each flow must be kept. With few MAC queues, packets of a flow go to the
    /// overflow queue of their TID while another flow occupies their queue, and overtake each other. netem
    /// may reorder and duplicate packets. A single frame returned by the hardware before Linux 4.9 is
    /// requeued behind others.
    // paper: ending-the-anomaly alg1 - line 5.
    pub fn keeps_order(&self) -> bool {
        let few = |scheme: usize, limit: u32| scheme > 1 && limit > 0;
        QDISCS[self.qdisc].1
            && !self.cells.iter().any(|c| few(c.scheme, c.limit) || c.filter() == Some("linux-4.4"))
            && !self.stations.iter().flat_map(|s| &s.second).any(|s| few(s.scheme, s.limit))
    }

    /// Returns true if any station may sleep or scan.
    pub fn may_sleep(&self) -> bool {
        self.stations.iter().any(|s| !self.power(s).is_empty())
    }

    /// Power save settings of a station, if allowed.
    fn power(&self, s: &Sta) -> &'static str {
        // A station that hears no beacon gets no frames, and firmware keeps them forever.
        let hears = s.snr.is_none() && s.errors < 100;
        let own_radio = s.second.is_none();
        let ap = self.cells[s.ap % self.cells.len()].scheme;
        if self.beacons && hears && own_radio && ap != HTC { POWERS[s.power] } else { "" }
    }

    /// Multicast datagrams to all stations of an access point with a single interface, or unicast datagrams
    /// to one station.
    fn to_group(&self, t: &Traffic) -> String {
        let ap = |s: &Sta| s.ap % self.cells.len();
        let own = &self.stations[t.station % self.stations.len()];
        let members =
            self.stations.iter().enumerate().filter(|(_, s)| s.second.is_none() && ap(s) == ap(own));
        let members: Vec<String> = members.map(|(n, _)| format!("\"sta{n}\"")).collect();
        let (to, group) = match members.len() {
            0 => (format!("\"sta{}\"", t.station % self.stations.len()), ""),
            _ => (format!("[{}]", members.join(", ")), "multicast = true\n"),
        };
        let ip = if t.kbps % 3 == 1 && t.payload <= 1452 { "ip = 6\n" } else { "" };
        format!(
            "[[flow]]\nkind = \"udp\"\nfrom = \"server\"\nto = {to}\n{group}{ip}dscp = \"{}\"\nstop = \"300 ms\"\npayload = {}\nrate = \"{} kbit/s\"\nburst = {}\n",
            MARKS[t.mark],
            t.payload,
            t.kbps / 20 + 1,
            t.burst % 40 + 1,
        )
    }

    /// Returns true if every packet is delivered or given up in the end. In noise, a frame to a station that
    /// falls asleep before the retry chain reaches a working rate is returned each time and starts again.
    /// Stations that use PS-Poll and do not hear each other respond to the same beacon, and their PS-Polls,
    /// in the category with the smallest window, always collide.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (6.12) - tries to a sleeping station
    // do not count.
    // linux: net/mac80211/mlme.c ieee80211_send_pspoll, tx.c ieee80211_tx_skb (6.12) - TID 7: voice.
    pub fn all_ends(&self) -> bool {
        let polls = |s: &Sta| self.power(s).contains("static") || self.power(s).contains("ps_poll");
        (self.foreign == 0 || !self.may_sleep())
            && (self.hearing == 0 || self.stations.iter().filter(|s| polls(s)).count() < 2)
    }

    /// Returns true if no path has errors in either direction, and no station is hidden from another.
    pub fn loses_nothing_on_air(&self) -> bool {
        let mut stations = self.stations.iter();
        self.hearing == 0
            && self.foreign == 0
            && stations.all(|s| {
                s.snr.is_none()
                    && s.errors == 0
                    && s.ack_errors == 0
                    && s.second.as_ref().is_none_or(|t| t.errors == 0)
            })
    }

    /// Returns the scenario. The MAC has `flows` flow queues unless the case has few; its sources stop after
    /// 300 ms.
    pub fn text(&self, flows: u32) -> String {
        let stations: Vec<String> = (0..self.stations.len()).map(|n| format!("\"sta{n}\"")).collect();
        let hearing = match (self.hearing, stations.len()) {
            (0, _) | (_, 1) => String::new(),
            (1, _) => format!("hidden = [[{}]]\n", stations.join(", ")),
            _ => format!("sense_only = [[{}]]\n", stations.join(", ")),
        };
        let server = KERNELS[self.rts as usize % KERNELS.len()];
        let mut t = format!(
            "name = \"random\"\nduration = \"500 ms\"\nwarm_up = \"100 ms\"\n[channel.wifi]\nband = \"{}\"\n\
             width = \"{}\"\nbeacon_interval = \"{}\"\n{hearing}[node.server]\nprofile = \"{server}\"\nforward = true\n",
            if self.low_band { "2.4 GHz" } else { "5 GHz" },
            if self.wide { "40 MHz" } else { "20 MHz" },
            if self.beacons { "20 ms" } else { "off" },
        );
        let mut line = |text: String| t.push_str(&text);
        // Each device has its own setting; USB devices have none.
        let interrupts = |n: usize, at: usize| if at == HTC { "" } else { INTERRUPTS[(n + self.qdisc) % 4] };
        for n in 0..self.cells.len() {
            line(format!(
                "interface.eth{n} = {{ link = \"lan{n}\", address = \"10.0.{n}.2\", qdisc = {} }}\n",
                quoted(QDISCS[self.qdisc].0)
            ));
        }
        for (n, cell) in self.cells.iter().enumerate() {
            line(format!("[link.lan{n}]\n{}\n", WIRES[self.wire]));
            line(format!(
                "[node.ap{n}]\nprofile = \"linux-4.6\"\nforward = true\n\
                 interface.eth0 = {{ link = \"lan{n}\", address = \"10.0.{n}.1\" }}\n\
                 interface.wlan0 = {{ channel = \"wifi\", role = \"ap\", address = \"10.1.{n}.1\", {}{}{}{} }}\n",
                cell.text(flows),
                if self.beacons { cell.scan() } else { "" },
                if self.rts > 0 { format!(", rts_threshold = {}", self.rts) } else { String::new() },
                interrupts(n, cell.scheme)
            ));
        }
        let width = if self.wide { "ht40" } else { "ht20" };
        // At 2.4 GHz, the first two are 802.11b rates, which require protection for all other stations.
        let old = if self.low_band { ["dsss-2", "cck-11-short"] } else { ["ofdm-6", "ofdm-54"] };
        let rates = [old[0], old[1], "ht20-mcs0-sgi", "ht20-mcs15-lgi", "ht20-mcs31-sgi"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("{width}-mcs7-sgi"), format!("{}-mcs11-nss2-gi0.8", width.replace("ht", "he"))])
            .collect::<Vec<_>>();
        for (n, s) in self.stations.iter().enumerate() {
            let first = &rates[s.rate];
            let second = rates.get(s.fallback).map(|r| format!(", \"{r}\"")).unwrap_or_default();
            let path = match s.minstrel {
                0 => format!(
                    "rate = \"{first}\", retry_chain = [{{ rate = \"{first}\", tries = {} }}{second}]",
                    s.tries
                ),
                streams => format!(
                    "rate = {{ kind = \"minstrel_ht\", streams = {streams}, short_gi = {} }}",
                    s.tries > 2
                ),
            };
            // The same error rate for all rates, or a different one for each.
            let error = f64::from(s.errors) / 100.0;
            let chances = if s.txqueuelen % 3 == 0 {
                let ht = (0..32).map(|mcs| format!("\"mcs{mcs}\"")).collect::<Vec<_>>().join(", ");
                let legacy = [&rates[..2], &rates[6..]].concat().join("\", \"");
                format!(
                    "[{{ rates = [{ht}], probability = {error}, bytes = 1538 }}, {{ rates = [\"{legacy}\"], probability = {error} }}]"
                )
            } else {
                error.to_string()
            };
            let noisy = FOREIGN[self.foreign].1;
            let losses = match s.snr {
                Some((first, later)) => {
                    format!("snr = [\"{first} dB\", {{ at = \"50 ms\", snr = \"{later} dB\" }}]")
                }
                None if noisy => format!("snr = \"{} dB\"", 5 + s.txqueuelen % 40),
                None => format!(
                    "error_rate = {chances}, ack_error_rate = {}, preamble_loss_rate = {}",
                    f64::from(s.ack_errors) / 100.0,
                    f64::from(s.ack_errors) / 200.0
                ),
            };
            let kernel = KERNELS[s.stack.0];
            let own = |scheme: usize, n: u32| {
                let flows = if has_flows(scheme) { format!(", flows = {flows}") } else { String::new() };
                if is_firmware(scheme) { flows + &devices::joining(SCHEMES[scheme], n) } else { flows }
            };
            let upper = if SCHEMES[s.scheme] == "fifo" { UPPER[s.stack.2] } else { "" };
            line(format!(
                "[node.sta{n}]\nprofile = \"{kernel}\"\ninterface.wlan0 = {{ channel = \"wifi\", role = \"station\", \
                 ap = \"ap{}.wlan0\", address = \"10.2.0.{}\", {path}, {losses}, scheme = {{ kind = \"{}\"{} }}, txqueuelen = {}, block_ack_window = {}{}{upper}{}{} }}\n",
                s.ap % self.cells.len(),
                n + 1,
                SCHEMES[s.scheme],
                own(s.scheme, s.txqueuelen),
                s.txqueuelen,
                WINDOWS[s.txqueuelen as usize % 4],
                TSO[s.stack.1],
                interrupts(n + 1, s.scheme),
                self.power(s),
            ));
            let Some(second) = &s.second else { continue };
            // Devices on one radio share the hardware of one driver.
            let scheme = match s.scheme {
                own if own == HTC || is_firmware(own) => own,
                _ => second.scheme % HTC,
            };
            let queues = match (scheme, second.limit) {
                (0 | 1 | HTC, 0) => String::new(),
                (0 | 1, n) => format!(", qlen = {n}"),
                (HTC, n) => format!(", limit = {n}"),
                (_, 0) => format!(", flows = {flows}"),
                (_, n) => format!(", limit = {n}, flows = {n}"),
            };
            line(format!(
                "interface.wlan1 = {{ channel = \"wifi\", role = \"station\", ap = \"ap{}.wlan0\", radio = \"wlan0\", \
                 address = \"10.3.0.{}\", rate = \"{}\", {}, scheme = {{ kind = \"{}\"{queues} }}{} }}\n",
                second.ap % self.cells.len(),
                n + 1,
                rates[second.rate],
                match noisy {
                    true => format!("snr = \"{} dB\"", 40 - second.errors.min(40)),
                    false => format!("error_rate = {}", f64::from(second.errors) / 100.0),
                },
                SCHEMES[scheme],
                interrupts(n + 2, scheme),
            ));
        }
        for t in &self.traffic {
            let count = self.stations.len();
            let by = |station: usize| {
                let second = t.second && self.stations[station].second.is_some();
                format!("sta{station}{}", if second { ".wlan1" } else { "" })
            };
            let a = by(t.station % count);
            if t.kind == 10 {
                line(self.to_group(t));
                continue;
            }
            let (kind, from, to) = match t.kind {
                0 => ("udp", "server".to_owned(), a),
                1 => ("udp", a, "server".to_owned()),
                2 => ("ping", "server".to_owned(), a),
                3 => ("ping", a, "server".to_owned()),
                4 if t.payload % 2 == 0 => ("voip", "server".to_owned(), a),
                4 => ("udp_ping", a, "server".to_owned()),
                5 if t.payload % 6 == 3 => ("responsiveness", a, "server".to_owned()),
                5 if t.payload % 3 == 0 => ("web", a, "server".to_owned()),
                5 if t.payload % 3 == 1 => ("quic", "server".to_owned(), a),
                5 => ("tcp", "server".to_owned(), a),
                6 => ("tcp", a, "server".to_owned()),
                7 if count > 1 => ("tcp", a, by((t.station + 1) % count)),
                7 => ("tcp", a, "ap0".to_owned()),
                _ if count > 1 => ("udp", a, by((t.station + 1) % count)),
                _ => ("udp", a, "ap0".to_owned()),
            };
            line(format!(
                "[[flow]]\nkind = \"{kind}\"\nfrom = \"{from}\"\nto = \"{to}\"\ndscp = \"{}\"\nstop = \"300 ms\"\n",
                MARKS[t.mark]
            ));
            // Some flows use IPv6, whose headers leave less room.
            if t.kbps % 3 == 1 && t.payload <= 1452 {
                line("ip = 6\n".to_owned());
            }
            if kind == "tcp" {
                let kernel =
                    if from == "server" { server } else { KERNELS[self.stations[t.station % count].stack.0] };
                line(format!("congestion_control = \"{}\"\n", control(kernel, t.burst as usize)));
                if t.gap > 0 {
                    line(format!("bytes = {}\n", t.kbps * t.payload));
                }
                continue;
            }
            if kind == "quic" {
                let preset = PRESETS[t.burst as usize % PRESETS.len()];
                let real = cfg!(feature = "quinn") && t.kbps % 2 == 1;
                let load = match t.gap {
                    0 => String::new(),
                    1 => format!("bytes = {}\nstreams = 3\nclient = \"sender\"\n", t.kbps * t.payload),
                    _ => "page = { list = 90, objects = [700, 20000] }\ninterval = \"20 ms\"\n".to_owned(),
                };
                if real {
                    line(format!("stack = {{ kind = \"quinn\", pacing = {} }}\n", t.burst % 2 == 0));
                }
                line(format!("preset = \"{preset}\"\ntx_cpu_per_packet = \"{} us\"\n{load}", t.burst));
                continue;
            }
            if kind == "responsiveness" {
                let load = ["down", "up", "both", "none"][t.burst as usize % 4];
                line(format!(
                    "load = \"{load}\"\ninterval = \"100 ms\"\nmax_connections = {}\nprobes_per_second = {}\ntls = {}\n",
                    1 + t.burst % 5,
                    10 + t.kbps % 400,
                    t.gap > 0
                ));
                continue;
            }
            if kind == "web" {
                let objects = format!("objects = [{}, 20000, {{ count = 3, size = 500 }}]", t.payload);
                line(format!("page = {{ list = 90, {objects} }}\ninterval = \"{} ms\"\n", 5 + t.burst));
            }
            if matches!(kind, "voip" | "web") {
                continue;
            }
            line(format!("payload = {}\n", t.payload));
            if kind == "udp" {
                let gap = ["exponential", "periodic", "uniform 0.5..1.5"][t.gap];
                line(format!("rate = \"{} kbit/s\"\nburst = {}\ngap = \"{gap}\"\n", t.kbps, t.burst));
            } else {
                line("interval = \"7 ms\"\n".to_owned());
            }
        }
        t.push_str(FOREIGN[self.foreign].0);
        t.push_str(steps::of(WIRES[self.wire], self.traffic.len() + self.qdisc));
        t
    }
}

/// Default number of MAC flow queues per device.
pub const FLOWS: u32 = 4096;
