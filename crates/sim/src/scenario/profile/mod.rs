//! Kernels as data: what a host does by default, by the name of its profile.

mod tcp;

pub(super) use tcp::controller;

use std::sync::LazyLock;

use stillair_model::transport::cc::bbr::BbrParams;
use stillair_model::transport::tcp::config::TcpConfig;

use super::contract::{Form, Key, Shape};
use super::document::{self, Table};
use super::error::{Fault, suggest};
use super::reader::{Field, Section, flatten};

/// A kernel's defaults, with a node's overrides applied. Sources stand in the data files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Name, such as `linux-4.4`.
    pub name: &'static str,
    /// Packets in an Ethernet-like device's queue (`txqueuelen`).
    pub txqueuelen: u32,
    /// pfifo_fast's limit holds for each band.
    pub pfifo_fast_limit_per_band: bool,
    /// Most bytes of truesize in an fq_codel.
    pub fq_codel_memory_limit: u32,
    /// Most packets that fq_codel drops at once when over a limit.
    pub fq_codel_drop_batch: u32,
    /// Drops over fq_codel's limits raise the flow's CoDel count.
    pub fq_codel_overlimit_raises_count: bool,
    /// Discipline of interfaces that name none (`net.core.default_qdisc`).
    pub default_qdisc: &'static str,
    /// Send buffer of a UDP socket, in bytes of truesize (`net.core.wmem_default`).
    pub wmem_default: u32,
    /// Truesize in bytes of a full segment on a device without scatter-gather, such as ath9k.
    pub truesize_linear: u32,
    /// The same on a device with scatter-gather, such as Ethernet.
    pub truesize_scatter_gather: u32,
    /// Minstrel-HT probes what it needs to know, as since 5.12, not so many frames in turn.
    pub minstrel_ht_probes_by_need: bool,
    /// TCP of sockets over a device with scatter-gather.
    pub tcp: TcpConfig,
    /// `sk_pacing_shift` of sockets over Wi-Fi (as mac80211 sets it).
    pub wifi_pacing_shift: u8,
    /// What differs between kernels of BBR.
    pub bbr: BbrParams,
    /// Congestion control of flows that name none (`net.ipv4.tcp_congestion_control`).
    pub congestion_control: &'static str,
}

macro_rules! data_files {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("../../../profiles/", $name, ".toml")))),*] };
}

const FILES: [(&str, &str); 6] =
    data_files!["linux-4.4", "linux-4.6", "linux-4.14", "linux-5.10", "linux-6.1", "linux-6.18"];

/// The kernels, read once: a scenario may have thousands of nodes.
static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    FILES
        .iter()
        .map(|(name, text)| load(name, text).expect("the project's own profiles are tested"))
        .collect()
});

/// What a node's `profile` may be, in words.
static CHOICE: LazyLock<String> = LazyLock::new(|| suggest("", &FILES.map(|(name, _)| name)));

/// Bytes below which the kernel takes no send buffer.
// linux: include/net/sock.h SOCK_MIN_SNDBUF (4.4) - twice 2048 bytes and the 256 of their sk_buff (recalled).
const MIN_SNDBUF: u32 = 2 * (2048 + 256);

/// Bytes that a socket's buffer may be set to.
const MAX_BUFFER: u32 = 1 << 30;

/// Keys of a node that choose its kernel.
pub(super) const KEYS: &[Key] = &[
    Key::need(
        "profile",
        Form::Listed { title: "kernel", words: "a kernel: `linux-4.4` to `linux-6.18`", names },
        "the kernel that it runs",
    ),
    Key::open("sysctl", Form::Settings(SETTINGS), "the kernel's", "settings of the kernel by their name"),
    Key::open("tcp", Form::Table(&tcp::NODE), "the kernel's", "what no `sysctl` sets of TCP"),
];

/// What disciplines an interface may have by default.
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

const SETTINGS: &[&[Key]] = &[
    &[
        Key::or(
            "net.core.default_qdisc",
            Form::Choice(&["pfifo_fast", "pfifo", "codel", "fq_codel", "cake", "fq", "pie", "sfq"]),
            "\"pfifo_fast\"",
            "discipline of interfaces that name none: wired ones with a queue, and those of scheme `fifo`",
        ),
        Key::or(
            "net.core.wmem_default",
            Form::Bytes(MIN_SNDBUF, MAX_BUFFER),
            "212992",
            "send buffer of a UDP socket, in bytes of truesize",
        ),
    ],
    tcp::SETTINGS,
];

/// A kernel's data file.
static FILE: Shape = Shape {
    title: "Kernel",
    about: "What a host does by default.",
    groups: &[&[
        Key::need("txqueuelen", Form::Integer(1, 1_000_000), "packets in an Ethernet-like device's queue"),
        Key::need("pfifo_fast_limit_per_band", Form::Boolean, "pfifo_fast's limit holds for each band"),
        Key::need(
            "fq_codel_memory_limit",
            Form::Integer(4096, u32::MAX as i64),
            "most bytes of truesize in an fq_codel",
        ),
        Key::need(
            "fq_codel_drop_batch",
            Form::Integer(1, 1_000_000),
            "packets dropped at once when over a limit",
        ),
        Key::need("fq_codel_overlimit_raises_count", Form::Boolean, "drops over limits raise CoDel's count"),
        Key::need("wmem_default", Form::Bytes(1, MAX_BUFFER), "send buffer of a UDP socket"),
        Key::need("truesize_linear", Form::Bytes(1500, 65_536), "truesize of a segment in a linear buffer"),
        Key::need("truesize_scatter_gather", Form::Bytes(1500, 65_536), "the same with scatter-gather"),
        Key::need(
            "minstrel_ht_probes_by_need",
            Form::Boolean,
            "Minstrel-HT as since 5.12: other probes and averages",
        ),
        Key::need("tcp", Form::Table(&tcp::FILE), "TCP"),
    ]],
};

/// Names of all profiles.
fn names() -> Vec<String> {
    FILES.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Reads `profile = NAME` of a node and its `sysctl` table.
pub(super) fn read(section: &mut Section<'_>) -> Result<Profile, Fault> {
    let field = section.need("profile", &CHOICE)?;
    let name = field.text(&CHOICE)?;
    let Some(&(mut profile)) = PROFILES.iter().find(|known| known.name == name) else {
        return Err(field.wrong(suggest(name, &FILES.map(|(known, _)| known))));
    };
    if let Some(field) = section.get("sysctl") {
        let mut settings = Vec::new();
        flatten(&field.path, "", field.table("a table of settings by name")?, &mut settings);
        let mut taken: Vec<&str> = Vec::new();
        for (name, setting) in &settings {
            if taken.contains(&name.as_str()) {
                return Err(setting.found("a second value", "one value for a name"));
            }
            taken.push(name);
            apply(&mut profile, name, setting)?;
        }
    }
    if let Some(field) = section.get("tcp") {
        tcp::node(&mut profile, &field)?;
    }
    Ok(profile)
}

/// Sets the kernel's setting `name`.
fn apply(profile: &mut Profile, name: &str, setting: &Field<'_>) -> Result<(), Fault> {
    let all = || SETTINGS.iter().copied().flatten();
    let Some(key) = all().find(|key| key.name == name) else {
        let known: Vec<&str> = all().map(|key| key.name).collect();
        return Err(setting.found("a setting the profile does not have", suggest(name, &known)));
    };
    let setting = Field { form: &key.form, ..setting.clone() };
    match key.name {
        "net.core.default_qdisc" => profile.default_qdisc = setting.choice(&DEFAULT_QDISCS)?,
        "net.core.wmem_default" => profile.wmem_default = setting.value()?,
        _ if tcp::apply(profile, key.name, &setting)? => {}
        _ => unreachable!("{name} is described and not read"),
    }
    Ok(())
}

fn load(name: &'static str, text: &str) -> Result<Profile, Fault> {
    let tree: Table = document::parse(text)?;
    let mut root = Section::new("", super::error::Origin::Line(1), &tree, &FILE);
    let number = "a whole number";
    let truesize_scatter_gather = root.need("truesize_scatter_gather", number)?.value()?;
    let (tcp, wifi_pacing_shift, bbr) = tcp::load(&root.need("tcp", "a table")?, truesize_scatter_gather)?;
    let profile = Profile {
        name,
        txqueuelen: root.need("txqueuelen", number)?.value()?,
        pfifo_fast_limit_per_band: root.need("pfifo_fast_limit_per_band", "true or false")?.value()?,
        fq_codel_memory_limit: root.need("fq_codel_memory_limit", number)?.value()?,
        fq_codel_drop_batch: root.need("fq_codel_drop_batch", number)?.value()?,
        fq_codel_overlimit_raises_count: root
            .need("fq_codel_overlimit_raises_count", "true or false")?
            .value()?,
        default_qdisc: "pfifo_fast",
        wmem_default: root.need("wmem_default", number)?.value()?,
        truesize_linear: root.need("truesize_linear", number)?.value()?,
        truesize_scatter_gather,
        minstrel_ht_probes_by_need: root.need("minstrel_ht_probes_by_need", "true or false")?.value()?,
        tcp,
        wifi_pacing_shift,
        bbr,
        congestion_control: "cubic",
    };
    root.finish()?;
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_profiles_load_and_differ_where_kernels_do() {
        for (name, text) in FILES {
            let profile = load(name, text).unwrap_or_else(|fault| panic!("{}", fault.in_file(name)));
            let per_band = !matches!(name, "linux-4.4" | "linux-4.6" | "linux-4.14");
            assert_eq!(profile.pfifo_fast_limit_per_band, per_band, "{name}");
            // Both came with 4.20 and 5.1.
            assert_eq!(
                (profile.bbr.pacing_margin_percent == 1, profile.bbr.extra_acked_gain > 0),
                (per_band, per_band)
            );
            assert_eq!(profile.minstrel_ht_probes_by_need, name.starts_with("linux-6"), "{name}");
            // linux: include/linux/skbuff.h SKB_TRUESIZE (4.4) - 256 packets of 256 bytes, each with 256 +
            // 320 bytes of overhead.
            assert_eq!(profile.wmem_default, 256 * (256 + 256 + 320), "{name}");
        }
    }
}
