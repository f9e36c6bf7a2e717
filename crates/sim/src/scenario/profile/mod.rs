//! Kernels as data: the default behaviour of a host, by the name of its profile.

mod kernel;
mod linux;
mod memory;
mod modules;
mod tcp;
mod tcp_sysctl;

pub use kernel::Profile;
pub(super) use memory::MAX_BUFFER;
pub use memory::{MTU, SocketMemory};
pub(super) use tcp::{CAP, EXCEPTION};
pub(super) use tcp_sysctl::{CONTROL, controller};

use std::sync::LazyLock;

use stillair_model::node::classify::DscpToUp;
use stillair_model::wifi::rate::minstrel_ht::MinstrelVersion;

use super::control::CongestionControl;
use super::description::{Key, TableSchema, ValueType};
use super::document::{self, Table};
use super::error::{Diagnostic, Origin, suggest};
use super::parts::Parts;
use super::reader::{Field, Section, flatten};

macro_rules! data_files {
    ($($name:literal),*) => { [$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/", $name, ".toml")))),*] };
}

/// Systems described by their differences from a Linux release.
const OTHERS: [(&str, &str); 4] = data_files!["windows-10", "macos-10.11", "openwrt-23.05", "openwrt-24.10"];

/// The profiles, loaded once because a scenario may have thousands of nodes.
static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let releases = linux::RELEASES.into_iter().map(|name| {
        let version = linux::version(name).expect("a release");
        load(name, Some(version), Some(version), None, &linux::defaults(version))
    });
    let others = OTHERS.iter().map(|(name, text)| differing(name, text));
    releases.chain(others).collect::<Result<_, _>>().expect("the project's own profiles are tested")
});

/// Minimum send buffer in bytes.
// linux: include/net/sock.h SOCK_MIN_SNDBUF (4.4) - twice (2048 bytes plus 256 for the sk_buff).
const MIN_SNDBUF: u32 = 2 * (2048 + 256);

/// Node keys that select the kernel.
pub(super) const KEYS: &[Key] = &[
    Key::need(
        "profile",
        ValueType::Listed {
            title: "kernel",
            words: "a kernel: `linux-3.13` to `linux-6.18`, `windows-10`, `macos-10.11`, or a release of OpenWrt: `openwrt-23.05`, `openwrt-24.10`",
            names,
        },
        "the kernel it runs",
    ),
    Key::open(
        "sysctl",
        ValueType::Settings(SETTINGS),
        "the kernel's",
        "settings of the kernel by their name",
    ),
    Key::open(
        "module",
        ValueType::Settings(modules::SETTINGS),
        "the kernel's",
        "parameters of kernel modules by their name (`/sys/module/tcp_cubic/parameters/beta`: `tcp_cubic.beta`)",
    ),
];

/// Possible default qdiscs of an interface.
const DEFAULT_QDISCS: [(&str, &str); 8] = [
    ("pfifo_fast", "pfifo_fast"),
    ("pfifo", "pfifo"),
    ("codel", "codel"),
    ("fq_codel", "fq_codel"),
    ("cake", "cake"),
    ("fq", "fq"),
    ("pie", "pie"),
    ("sfq", "sfq"),
];

const QDISCS: ValueType =
    ValueType::Choice(&["pfifo_fast", "pfifo", "codel", "fq_codel", "cake", "fq", "pie", "sfq"]);

const SETTINGS: &[&[Key]] = &[
    &[
        Key::or(
            "net.core.default_qdisc",
            QDISCS,
            "pfifo_fast",
            "discipline of interfaces that name none: wired ones with a queue, and those of scheme `fifo`",
        ),
        Key::or(
            "net.core.wmem_default",
            ValueType::Bytes(MIN_SNDBUF, MAX_BUFFER),
            "212992",
            "send buffer of a UDP socket, in bytes of truesize",
        ),
    ],
    tcp_sysctl::SETTINGS,
];

const MINSTREL_HT: [(&str, MinstrelVersion); 3] = [
    ("4.4", MinstrelVersion::Before512),
    ("5.12", MinstrelVersion::From512),
    ("5.19", MinstrelVersion::From519),
];

const DSCP_TO_UP: [(&str, DscpToUp); 2] =
    [("precedence", DscpToUp::Precedence), ("rfc8325", DscpToUp::Rfc8325)];

/// Linux releases named in a system's file.
static RELEASES: TableSchema = TableSchema {
    title: "System",
    about: "The Linux releases from which a system differs.",
    groups: &[&[
        Key::open("base", ValueType::Text, "none", "its kernel"),
        Key::open(
            "assumed",
            ValueType::Text,
            "none",
            "for other kernels: the release whose defaults are assumed",
        ),
        Key::open("mac80211", ValueType::Text, "its kernel's", "release of its wireless stack"),
    ]],
};

/// Defaults of a host.
static FILE: TableSchema = TableSchema {
    title: "Kernel",
    about: "What a host does by default.",
    groups: &[&[
        Key::need(
            "txqueuelen",
            ValueType::Integer(1, 1_000_000),
            "packets in an Ethernet-like device's queue",
        ),
        Key::need("pfifo_fast_limit_per_band", ValueType::Boolean, "pfifo_fast's limit holds for each band"),
        Key::need(
            "fq_codel_memory_limit",
            ValueType::Integer(4096, u32::MAX as i64),
            "most bytes of truesize in an fq_codel",
        ),
        Key::need(
            "fq_codel_drop_batch",
            ValueType::Integer(1, 1_000_000),
            "packets dropped at once when over a limit",
        ),
        Key::need(
            "fq_codel_overlimit_raises_count",
            ValueType::Boolean,
            "drops over limits raise CoDel's count",
        ),
        Key::need("pie_target", ValueType::Period, "delay that a pie aims at"),
        Key::need("pie_tupdate", ValueType::Period, "interval at which PIE updates its drop probability"),
        Key::need("pie_dq_rate_estimator", ValueType::Boolean, "a pie takes the delay from its drain rate"),
        Key::need("wmem_default", ValueType::Bytes(1, MAX_BUFFER), "send buffer of a UDP socket"),
        Key::need(
            "dscp_to_up",
            ValueType::Choice(&["precedence", "rfc8325"]),
            "802.1D user priority of a DSCP: its upper three bits, or what RFC 8325 says of its class",
        ),
        Key::need(
            "minstrel_ht",
            ValueType::Choice(&["4.4", "5.12", "5.19"]),
            "the kernel in which Minstrel-HT got the rules that it has here",
        ),
        Key::or("congestion_control", CONTROL, "\"cubic\"", "congestion control of flows that name none"),
        Key::or("default_qdisc", QDISCS, "pfifo_fast", "net.core.default_qdisc"),
        Key::open(
            "airtime_quantum",
            ValueType::Period,
            "the station's weight",
            "growth of a station's deficit per round of mac80211's airtime scheduler",
        ),
        Key::need("tcp", ValueType::Table(&tcp::FILE), "TCP"),
    ]],
};

/// Returns the names of all profiles.
fn names() -> Vec<String> {
    known().map(str::to_owned).collect()
}

fn known() -> impl Iterator<Item = &'static str> {
    linux::RELEASES.into_iter().chain(OTHERS.iter().map(|(name, _)| *name))
}

/// Reads `profile = NAME` of a node and its `sysctl` table.
pub(super) fn read(section: &mut Section<'_>) -> Result<Profile, Diagnostic> {
    let known: Vec<&str> = known().collect();
    // OpenWrt is left out, as the list of kernels is long enough.
    let choice = suggest("", &known[..known.len() - 2]);
    let field = section.need("profile", &choice)?;
    let name = field.text(&choice)?;
    let Some(mut profile) = PROFILES.iter().find(|known| known.name == name).cloned() else {
        // The message treats a bare version number as Linux.
        let meant = if linux::version(&format!("linux-{name}")).is_some() {
            format!("linux-{name}")
        } else {
            name.to_owned()
        };
        return Err(field.wrong(suggest(&meant, &known)));
    };
    if let Some(field) = section.get("sysctl") {
        settings(&field, SETTINGS, &mut profile, apply, tcp_sysctl::idle)?;
    }
    if let Some(field) = section.get("module") {
        settings(&field, modules::SETTINGS, &mut profile, modules::apply, modules::idle)?;
    }
    Ok(profile)
}

/// Applies the setting `name`.
type Apply = fn(&mut Profile, &str, &Field<'_>) -> Result<(), Diagnostic>;
/// Returns the reason why a setting has no effect with the others, and a setting that would have one.
type Idle = fn(&Profile, &str) -> Option<(&'static str, &'static str)>;

/// Returns the settings of a table by full name.
pub(super) fn flat<'a>(field: &Field<'a>) -> Result<Vec<(String, Field<'a>)>, Diagnostic> {
    let mut settings = Vec::new();
    flatten(&field.path, "", field.table("a table of settings by name")?, field.parts, &mut settings);
    Ok(settings)
}

/// Reads a table of settings with dotted names. Rejects duplicates, names outside `groups`, and settings
/// without effect.
fn settings(
    field: &Field<'_>,
    groups: &'static [&'static [Key]],
    profile: &mut Profile,
    apply: Apply,
    idle: Idle,
) -> Result<(), Diagnostic> {
    let settings = flat(field)?;
    let all = || groups.iter().copied().flatten();
    let mut taken: Vec<&str> = Vec::new();
    for (name, setting) in &settings {
        if taken.contains(&name.as_str()) {
            return Err(setting.found("a second value", "one value for a name"));
        }
        taken.push(name);
        let Some(key) = all().find(|key| key.name == name) else {
            let known: Vec<&str> = all().map(|key| key.name).collect();
            return Err(setting.found("a setting the profile does not have", suggest(name, &known)));
        };
        apply(profile, key.name, &Field { form: &key.form, ..setting.clone() })?;
    }
    match settings.iter().find_map(|(name, setting)| Some((setting, idle(profile, name)?))) {
        Some((setting, (why, right))) => Err(setting.idle(why, right)),
        None => Ok(()),
    }
}

/// Applies the kernel setting `name`.
fn apply(profile: &mut Profile, name: &str, setting: &Field<'_>) -> Result<(), Diagnostic> {
    match name {
        "net.core.default_qdisc" => profile.default_qdisc = setting.choice(&DEFAULT_QDISCS)?,
        "net.core.wmem_default" => profile.wmem_default = setting.value()?,
        _ if tcp_sysctl::apply(profile, name, setting)? => {}
        _ => unreachable!("{name} is described and not read"),
    }
    Ok(())
}

/// Reads a system's file: a Linux release by name, and the differences.
fn differing(name: &'static str, text: &str) -> Result<Profile, Diagnostic> {
    let tree = document::parse(text)?;
    let mut root = Section::new("", Origin::Line(1), &tree, &RELEASES, Parts::none());
    let mut release = |key: &str| {
        let Some(field) = root.get(key) else { return Ok(None) };
        let release = "a Linux release";
        linux::version(field.text(release)?).map(Some).ok_or_else(|| field.wrong(release))
    };
    let (base, assumed, wireless) = (release("base")?, release("assumed")?, release("mac80211")?);
    let Some(nearest) = base.or(assumed) else {
        return Err(root.wrong("neither", "`base` or `assumed`"));
    };
    let mut sum = linux::defaults(nearest);
    if let Some(wireless) = wireless {
        // linux: net/wireless/util.c cfg80211_classify8021d, net/mac80211 - both are part of the wireless
        // stack.
        let mut stack = linux::defaults(wireless);
        stack.0.retain(|(key, _)| matches!(key.as_str(), "dscp_to_up" | "minstrel_ht"));
        linux::overlay(&mut sum, &stack);
    }
    linux::overlay(&mut sum, &tree.without("base").without("assumed").without("mac80211"));
    load(name, base, wireless.or(base), assumed, &sum)
}

/// Reads the complete table of a system's defaults.
fn load(
    name: &'static str,
    version: Option<(u16, u16)>,
    wifi_version: Option<(u16, u16)>,
    assumed: Option<(u16, u16)>,
    tree: &Table,
) -> Result<Profile, Diagnostic> {
    let mut root = Section::new("", Origin::Line(1), tree, &FILE, Parts::none());
    let number = "a whole number";
    let (tcp, memory, wifi_pacing_shift, cc) = tcp::load(&root.need("tcp", "a table")?)?;
    let congestion_control = match root.get("congestion_control") {
        Some(field) => controller(&field, None)?,
        None => CongestionControl::BuiltIn("cubic"),
    };
    let profile = Profile {
        name,
        version,
        wifi_version,
        assumed,
        airtime_quantum: root.find("airtime_quantum")?,
        txqueuelen: root.need("txqueuelen", number)?.value()?,
        pfifo_fast_limit_per_band: root.need("pfifo_fast_limit_per_band", "true or false")?.value()?,
        fq_codel_memory_limit: root.need("fq_codel_memory_limit", number)?.value()?,
        fq_codel_drop_batch: root.need("fq_codel_drop_batch", number)?.value()?,
        fq_codel_overlimit_raises_count: root
            .need("fq_codel_overlimit_raises_count", "true or false")?
            .value()?,
        pie_target: root.need("pie_target", "a time")?.value()?,
        pie_tupdate: root.need("pie_tupdate", "a time")?.value()?,
        pie_dq_rate_estimator: root.need("pie_dq_rate_estimator", "true or false")?.value()?,
        default_qdisc: root.or_by("default_qdisc", "pfifo_fast", |field| field.choice(&DEFAULT_QDISCS))?,
        wmem_default: root.need("wmem_default", number)?.value()?,
        memory,
        dscp_to_up: root.need("dscp_to_up", "a mapping")?.choice(&DSCP_TO_UP)?,
        minstrel_ht: root.need("minstrel_ht", "a kernel")?.choice(&MINSTREL_HT)?,
        tcp,
        wifi_pacing_shift,
        congestion_control,
        cc,
    };
    root.finish()?;
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::spec::node_tcp;
    #[test]
    fn all_profiles_load_and_differ_where_kernels_do() {
        for profile in PROFILES.iter().filter(|profile| !profile.name.starts_with("openwrt-")) {
            let name = profile.name;
            assert_eq!(profile.version.is_some(), name.starts_with("linux-"), "{name}");
            let since = |version| profile.version.is_some_and(|own| own >= version);
            assert_eq!(profile.pfifo_fast_limit_per_band, since((4, 16)), "{name}");
            assert_eq!(
                (profile.cc.bbr.pacing_margin_percent == 1, profile.cc.bbr.extra_acked_gain > 0),
                (since((4, 20)), since((5, 1))),
                "{name}"
            );
            let minstrel_ht = match profile.version {
                Some((5, 12..=18)) => MinstrelVersion::From512,
                Some((5, 19..) | (6.., _)) => MinstrelVersion::From519,
                _ => MinstrelVersion::Before512,
            };
            assert_eq!(profile.minstrel_ht, minstrel_ht, "{name}");
            assert_eq!(profile.dscp_to_up == DscpToUp::Rfc8325, since((6, 8)), "{name}");
            // linux: include/linux/skbuff.h SKB_TRUESIZE (4.4) - 256 packets of 256 bytes, each with 256 +
            // 320 bytes of overhead.
            assert_eq!(profile.wmem_default, 256 * (256 + 256 + 320), "{name}");
        }
    }

    /// TCP defaults by kernel: loss detection, reduction, probes, early retransmit, small queues (minimum
    /// packets, cap, exception, whether they hold retransmissions, byte limit), HyStart's rounds, BBR's
    /// margin and allowance for aggregation.
    // linux: net/ipv4/tcp_input.c, tcp_output.c, tcp_recovery.c, tcp_cubic.c, tcp_bbr.c; the data files cite
    // function and version.
    #[test]
    fn rules_by_kernel() {
        let rules = PROFILES.iter().filter(|p| !p.name.starts_with("openwrt-")).map(|p| {
            let (t, q) = (&p.tcp, &p.tcp.small_queues);
            let (round, bbr) = (p.cc.cubic.hystart.rules.round, &p.cc.bbr);
            format!(
                "{}: {:?} {:?} {:?} {:?} {:?} | {} {:?} {:?} {} {} | {round:?} | {} {}",
                p.name,
                t.loss,
                t.rack_beside,
                t.prr,
                t.tlp,
                t.early_retransmit,
                q.min_packets,
                q.cap,
                q.exception,
                q.retransmissions,
                t.limit_output_bytes,
                bbr.pacing_margin_percent,
                bbr.extra_acked_gain,
            )
        });
        let want = "\
linux-3.13: Fack No Linux3_2 Linux3_10 Delayed | 0 AtLeast Never false 131072 | CongAvoid | 0 0
linux-3.19: Fack No Linux3_2 Linux3_10 Delayed | 2 AtMost Never false 131072 | CongAvoid | 0 0
linux-4.4: Fack InRecovery Linux4_3 Linux3_10 Delayed | 2 AtMost Never false 262144 | CongAvoid | 0 0
linux-4.6: Fack InRecovery Linux4_3 Linux3_10 Delayed | 2 AtMost Never false 262144 | CongAvoid | 0 0
linux-4.14: DupAck Always Linux4_3 Linux4_14 Gone | 2 AtMost FirstOfWriteQueue true 262144 | CongAvoid | 0 0
linux-4.19: RackTlp No Linux4_3 Linux4_16 Gone | 2 AtMost EmptyRtxQueue true 262144 | CongAvoid | 0 0
linux-5.10: RackTlp No Linux4_3 Linux4_16 Gone | 2 AtMostUnlessPaced EmptyRtxQueue true 1048576 | CongAvoid | 1 256
linux-5.15: RackTlp No Linux5_11 Linux4_16 Gone | 2 AtMostUnlessPaced EmptyRtxQueue true 1048576 | CongAvoid | 1 256
linux-6.1: RackTlp No Linux5_19 Linux4_16 Gone | 2 AtMostUnlessPaced AtMostOneInRtxQueue true 1048576 | AnySample | 1 256
linux-6.6: RackTlp No Linux5_19 Linux4_16 Gone | 2 AtMostUnlessPaced AtMostOneInRtxQueue true 1048576 | AboveLowWindow | 1 256
linux-6.12: RackTlp No Linux5_19 Linux4_16 Gone | 2 AtMostUnlessPaced AtMostOneInRtxQueue true 1048576 | AnySample | 1 256
linux-6.18: RackTlp No Linux5_19 Linux4_16 Gone | 2 AtMost AtMostOneInRtxQueue true 4194304 | AnySample | 1 256
windows-10: RackTlp No Linux4_3 Linux4_16 Gone | 2 AtMost Never false 262144 | CongAvoid | 0 0
macos-10.11: DupAck No Linux3_2 Linux3_10 Gone | 2 AtMost Never false 262144 | CongAvoid | 0 0";
        assert_eq!(rules.collect::<Vec<_>>().join("\n"), want);
    }

    /// Defaults of the TCP receiver by kernel, and the sender's pacing rate after slow start.
    #[test]
    fn receive_buffers_and_pacing_by_kernel() {
        use stillair_model::transport::tcp::config::RcvbufRules;
        for p in PROFILES.iter() {
            let Some(version) = p.version else { continue };
            let rules = match version {
                (..=3, _) | (4, ..=15) => RcvbufRules::Linux3_13,
                (6, 12) => RcvbufRules::Linux6_12,
                (4..=5, _) | (6, ..=15) => RcvbufRules::Linux4_16,
                _ => RcvbufRules::Linux6_16,
            };
            let init_rwnd = if version < (4, 20) { 20 } else { 0 };
            let pacing = if version < (4, 3) { (200, 200) } else { (200, 120) };
            let t = &p.tcp;
            assert_eq!((t.rcvbuf, t.init_rwnd), (rules, init_rwnd), "{}", p.name);
            assert_eq!((t.pacing_ss_ratio, t.pacing_ca_ratio), pacing, "{}", p.name);
        }
    }

    // linux: net/mac80211/Kconfig MAC80211_RC_MINSTREL_VHT (4.19; removed in 4.20).
    #[test]
    fn vht_groups_are_an_option_up_to_4_19() {
        let options =
            |wifi_version| Profile { wifi_version, ..PROFILES[0].clone() }.vht_groups_are_an_option();
        assert!(options(Some((4, 19))));
        assert!(!options(Some((4, 20))) && !options(None));
    }

    #[test]
    fn openwrt_has_a_later_wireless_stack() {
        let own = |name: &str| {
            let p = PROFILES.iter().find(|p| p.name == name).expect("a release");
            (p.version, p.wifi_version, p.tcp.hz, p.wifi_pacing_shift, p.default_qdisc)
        };
        // openwrt: package/kernel/mac80211, commit 91fb3ce56ba1 (2020) - removed OpenWrt's pacing shift of 6.
        assert_eq!(own("openwrt-23.05"), (Some((5, 15)), Some((6, 1)), 100, 7, "fq_codel"));
        assert_eq!(own("openwrt-24.10"), (Some((6, 6)), Some((6, 12)), 100, 7, "fq_codel"));
        // 5.15 has Minstrel-HT's rules of 5.12.
        let openwrt = PROFILES.iter().filter(|p| p.name.starts_with("openwrt-"));
        assert!(openwrt.map(|p| p.minstrel_ht).eq([MinstrelVersion::From519; 2]));
    }

    #[test]
    fn other_systems_differ_from_linux_only_by_their_files() {
        let own = |name: &str| {
            let p = PROFILES.iter().find(|p| p.name == name).expect("a profile");
            let (t, rto) = (&p.tcp, p.tcp.rto_min.nanos() / 1_000_000);
            (p.congestion_control.name(), t.small_queues.off, t.timestamps, t.init_cwnd, rto)
        };
        assert_eq!(own("linux-3.13"), ("cubic", false, true, 10, 200));
        assert_eq!(own("windows-10"), ("compound", true, false, 10, 300));
        assert_eq!(own("macos-10.11"), ("cubic", true, true, 3, 200));
    }

    /// Changes between kernels: window growth per ACK, when the window counts as the limit, RTTs in ticks,
    /// departure times.
    #[test]
    fn tcp_changes_follow_kernel_versions() {
        use stillair_model::transport::cc::reno::GrowthRules as G;
        use stillair_model::transport::tcp::config::CwndLimitedRules as C;
        let table = [
            ("3.13", G::Linux3_13, C::Linux3_13, true, false),
            ("3.19", G::Linux3_13, C::Linux3_16, false, false),
            ("4.4", G::Linux4_3, C::Linux3_16, false, false),
            ("4.6", G::Linux4_3, C::Linux3_16, false, false),
            ("4.14", G::Linux4_3, C::Linux3_16, false, false),
            ("4.19", G::Linux4_3, C::Linux3_16, false, false),
            ("5.10", G::Linux5_7, C::Linux5_10, false, true),
            ("5.15", G::Linux5_7, C::Linux5_10, false, true),
            ("6.1", G::Linux5_7, C::Linux6_1, false, true),
            ("6.6", G::Linux5_7, C::Linux6_1, false, true),
            ("6.12", G::Linux5_7, C::Linux6_1, false, true),
            ("6.18", G::Linux5_7, C::Linux6_1, false, true),
        ];
        for (version, growth, limited, ticks, departures) in table {
            let name = format!("linux-{version}");
            let p = PROFILES.iter().find(|p| p.name == name).expect("a profile");
            let t = &p.tcp;
            let found = (t.growth, t.cwnd_limited, t.rtt_in_ticks, t.departure_times);
            assert_eq!(found, (growth, limited, ticks, departures), "{name}");
            assert_eq!(p.cc.bbr.departure_times, departures, "{name}");
        }
    }

    #[test]
    fn tcp_recovery_is_a_mask_whose_default_changes_nothing() {
        use stillair_model::transport::tcp::config::{LossDetection as L, RackBeside as R};
        let text =
            |name: &str, bits: u8| format!("profile = \"{name}\"\nsysctl.net.ipv4.tcp_recovery = {bits}\n");
        let tcp = |text: &str| {
            let tree = document::parse(text).expect("TOML");
            let shape: &'static TableSchema =
                &TableSchema { title: "Node", about: "", groups: &[KEYS, &[node_tcp::KEY]] };
            let mut node = Section::new("node", Origin::Line(1), &tree, shape, Parts::none());
            let profile = read(&mut node).and_then(|mut profile| {
                node_tcp::read(&mut node, &mut profile)?;
                Ok(profile)
            });
            profile.unwrap_or_else(|fault| panic!("{}", fault.in_file("node"))).tcp
        };
        for name in known() {
            assert_eq!(tcp(&text(name, 1)), tcp(&format!("profile = \"{name}\"\n")), "{name}");
        }
        // Kernel, bits, loss detection, RACK alongside it, static reordering window, no duplicate-ACK
        // threshold.
        let table = [
            ("linux-4.4", 0, L::Fack, R::No, false, false),
            ("linux-4.14", 0, L::DupAck, R::No, false, false),
            ("linux-4.19", 0, L::DupAck, R::No, false, false),
            ("linux-6.1", 3, L::RackTlp, R::No, true, false),
            ("linux-6.1", 5, L::RackTlp, R::No, false, true),
        ];
        for (name, bits, loss, beside, narrow, stays) in table {
            let t = tcp(&text(name, bits));
            let found = (t.loss, t.rack_beside, t.rack_static_window, t.rack_no_dupthresh);
            assert_eq!(found, (loss, beside, narrow, stays), "{name} {bits}");
        }
        let rule = |line: &str| tcp(&format!("profile = \"linux-6.1\"\n{line}\n"));
        let old = rule(
            "tcp = { tsq_cap = \"fixed 131072\", tsq_min_packets = 0, tsq_by_rate = false, tsq_exception = \"never\", tsq_retransmissions = false }",
        );
        assert_eq!(old.limit_output_bytes, 131_072);
        assert_eq!(format!("{:?}", old.small_queues.cap), "Fixed");
    }
}
