//! The `tcp` table of a node: TCP settings that have no `sysctl`.

use stillair_model::transport::tcp::config::{Exception, LimitOutput, PacingBase, TcpConfig};
use stillair_scenario_derive::Section;

use super::super::description::{self, ValueType};
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::profile::{CAP, EXCEPTION, MAX_BUFFER, Profile};
use super::super::reader::{self, Field};
use super::domain::{Bytes, Choice, Flag, Inner, Int, Period, named};
use super::{Assign as _, Domain, Key};

named!(PacingBase { Srtt = "srtt", BaseRtt = "base_rtt" });
named!(Exception: EXCEPTION);

/// TCP small queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SmallQueues {
    /// No limit.
    Off,
    /// The kernel's limits.
    On,
}
named!(SmallQueues { Off = "off", On = "on" });

/// The node key.
pub(in super::super) const KEY: description::Key = description::Key::open(
    "tcp",
    Inner::<NodeTcp>::TYPE,
    "the kernel's",
    "TCP settings that no `sysctl` has",
);

/// Reads the table of a node and applies it to the node's profile.
pub(in super::super) fn read(
    section: &mut reader::Section<'_>,
    profile: &mut Profile,
) -> Result<(), Diagnostic> {
    let Some(field) = section.get("tcp") else { return Ok(()) };
    let mut faults = Diagnostics::default();
    let own = Inner::<NodeTcp>::read(&field, &mut faults)?;
    own.apply(profile, &mut faults);
    faults.or(())
}

/// TCP settings without a `sysctl`.
#[derive(Section, Clone, Debug, Default)]
#[section(title = "TCP of a node", params = TcpConfig, base = TcpConfig::default())]
pub struct NodeTcp {
    /// TCP small queues: `off` takes every limit away, as a patched kernel does
    #[key(or = "the kernel's: on in Linux")]
    pub tsq: Key<Choice<SmallQueues>>,
    /// data of how long at the pacing rate a socket may have below it (1 ms: 1/1024 s, as the kernel counts)
    #[key(to = small_queues.rate_multiple, or = "1 ms, or what the Wi-Fi driver asks for")]
    pub tsq_period: Key<Milliseconds>,
    /// a socket over Wi-Fi may have data of 1/2^shift s at its pacing rate below it, and in one packet, as
    /// the driver sets it (`tx_sk_pacing_shift`); not with `tsq_period`
    #[key(or = "the kernel's: 7 since 2019")]
    pub wifi_pacing_shift: Key<Int<4, 20, u8>>,
    /// what the byte limit of small queues is to the limit by rate and by packets
    #[key(or = "the kernel's")]
    pub tsq_cap: Key<Cap>,
    /// least limit of small queues in packets of the size at hand
    #[key(to = small_queues.min_packets, or = "the kernel's: 2 since 3.19")]
    pub tsq_min_packets: Key<Int<0, 8>>,
    /// the limit of small queues grows with the pacing rate (since 3.12)
    #[key(to = small_queues.by_rate, or = "true")]
    pub tsq_by_rate: Key<Flag>,
    /// exception to the limit: never (before 4.10); for the first two packets of the write queue (4.10 to
    /// 4.14); if nothing is unacknowledged, or at most one packet
    #[key(to = small_queues.exception, or = "the kernel's")]
    pub tsq_exception: Key<Choice<Exception>>,
    /// the limit holds for retransmissions too, doubled
    #[key(to = small_queues.retransmissions, or = "the kernel's: true since 4.9")]
    pub tsq_retransmissions: Key<Flag>,
    /// bytes of memory that a socket may have below it whatever its rate, as a patched kernel has it; not
    /// with `tsq_period`
    #[key(or = "by the pacing rate")]
    pub tsq_bytes: Key<Bytes<4096, { 1 << 30 }>>,
    /// round-trip time that the pacing rate is computed from: the smoothed one, as Linux does, or the flow's
    /// minimum
    #[key(to = pacing_base, default = "srtt")]
    pub pacing_base: Key<Choice<PacingBase>>,
    /// initial window in segments (`ip route ... initcwnd`)
    #[key(to = init_cwnd, or = "the kernel's: 10 in Linux")]
    pub initcwnd: Key<Int<1, 1000>>,
    /// least retransmission timeout (`ip route ... rto_min`)
    #[key(to = rto_min, or = "the kernel's: 200 ms in Linux")]
    pub rto_min: Key<Period>,
    /// room for all headers before TCP's data (MAX_TCP_HEADER): 256 bytes or less in a kernel built without
    /// Wi-Fi or tunnels
    #[key(to = max_header, or = "the kernel's: 304 or 320 bytes in distributions' kernels")]
    pub max_header: Key<Bytes<128, 512>>,
    /// each packet of several segments bears PSH. Where the receiver's kernel heeds that (Debian's 6.1, and
    /// 6.6 on), one of an odd number of segments takes an acknowledgement more
    #[key(to = push_each_packet, or = "the kernel's: true since Linux 5.4")]
    pub push_each_packet: Key<Flag>,
    /// ticks of the kernel's clock in a second (CONFIG_HZ)
    #[key(to = hz, or = "the kernel's")]
    pub hz: Key<Int<100, 1000>>,
}

/// An integer number of milliseconds.
pub struct Milliseconds;

impl Domain for Milliseconds {
    type Value = u32;
    const TYPE: ValueType = ValueType::Written {
        words: "a whole number of ms from 1 to 64, such as `2 ms`",
        pattern: r"^[0-9]+ ms$",
        examples: &["1 ms", "8 ms"],
    };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<u32, Diagnostic> {
        let number = |text: &str| text.strip_suffix(" ms")?.parse().ok().filter(|n| (1..=64).contains(n));
        let read = if let Value::String(text) = &field.item.value { number(text) } else { None };
        read.ok_or_else(|| field.wrong("a whole number of ms from 1 to 64, such as \"2 ms\""))
    }

    fn written(value: &u32) -> Value {
        Value::String(format!("{value} ms"))
    }
}

/// Way in which the byte limit of small queues applies, and its bytes if different from the `sysctl`.
pub struct Cap;

impl Domain for Cap {
    type Value = (LimitOutput, Option<u32>);
    const TYPE: ValueType = ValueType::Written {
        words: "`fixed` (3.6), `at_least` (3.12 to 3.18), `at_most` (3.19 to 4.20, since 6.16) or `at_most_unless_paced` (5.0 to 6.15), \
                and behind it the bytes, if they are not those of `net.ipv4.tcp_limit_output_bytes`",
        pattern: r"^(fixed|at_least|at_most|at_most_unless_paced)( [0-9]+)?$",
        examples: &["fixed 131072", "at_most"],
    };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Self::Value, Diagnostic> {
        let expected = "fixed, at_least, at_most or at_most_unless_paced, and behind it the bytes, such as \"fixed 131072\"";
        let mut words = field.text(expected)?.split(' ');
        let kind = words.next().and_then(|word| CAP.iter().find(|(name, _)| *name == word));
        let bytes = words.next().map(|n| n.parse().ok().filter(|n| (1..=MAX_BUFFER).contains(n)));
        match (kind, words.next(), bytes) {
            (Some((_, cap)), None, None | Some(Some(_))) => Ok((*cap, bytes.flatten())),
            _ => Err(field.wrong(expected)),
        }
    }

    fn written((cap, bytes): &Self::Value) -> Value {
        let (name, _) = CAP.iter().find(|(_, known)| known == cap).expect("all have names");
        Value::String(bytes.map_or_else(|| (*name).to_owned(), |bytes| format!("{name} {bytes}")))
    }
}

impl NodeTcp {
    /// Applies the settings to a kernel profile. Errors are added to `faults`.
    pub(in super::super) fn apply(&self, profile: &mut Profile, faults: &mut Diagnostics) {
        let t = &mut profile.tcp;
        if let Key::Given(tsq, _) = self.tsq {
            t.small_queues.off = tsq == SmallQueues::Off;
        }
        if let Key::Given(SmallQueues::Off, _) = self.tsq {
            // `tsq_period` also changes the size of packets.
            let (why, right) = ("with tsq = \"off\"", "tsq = \"on\", or none of its limits");
            self.tsq_bytes.idle(why, right, faults);
            self.tsq_cap.idle(why, right, faults);
            self.tsq_min_packets.idle(why, right, faults);
            self.tsq_by_rate.idle(why, right, faults);
            self.tsq_exception.idle(why, right, faults);
            self.tsq_retransmissions.idle(why, right, faults);
        } else if let Some(at) = self.tsq_bytes.place() {
            // paper: towards-1ms sec. IV - BTSQ: a constant number of bytes.
            if self.tsq_period.place().is_some() {
                faults.add(at.wrong("it without tsq_period"));
            } else if self.tsq_cap.place().is_some() {
                faults.add(at.wrong("it without tsq_cap"));
            }
        }
        self.assign(t);
        if let Key::Given(bytes, _) = &self.tsq_bytes {
            (t.small_queues.cap, t.limit_output_bytes) = (LimitOutput::Fixed, *bytes);
        }
        if let Key::Given((cap, bytes), _) = &self.tsq_cap {
            t.small_queues.cap = *cap;
            t.limit_output_bytes = bytes.unwrap_or(t.limit_output_bytes);
        }
        if let Key::Given(..) = &self.tsq_period {
            // A configured period applies literally, regardless of the driver's request.
            // paper: tsq-pacing IV-B - patched kernels, also on Wi-Fi.
            profile.wifi_pacing_shift = t.pacing_shift;
        }
        match (&self.wifi_pacing_shift, self.tsq_period.place()) {
            // linux: net/mac80211/main.c ieee80211_alloc_hw_nm, net/mac80211/tx.c ieee80211_subif_start_xmit
            // (5.4) - a field of the hardware, set by drivers.
            (Key::Given(_, at), Some(_)) => faults.add(at.wrong("it without tsq_period")),
            (Key::Given(shift, _), None) => profile.wifi_pacing_shift = *shift,
            _ => {}
        }
    }
}
