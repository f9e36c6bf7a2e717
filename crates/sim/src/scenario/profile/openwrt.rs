//! OpenWrt releases as data: a kernel, the wireless stack of a later kernel, and the effects of patches.

use std::sync::LazyLock;

use stillair_model::vocabulary::Duration;

use super::super::contract::{Form, Key, Shape};
use super::super::document::{self, Table};
use super::super::error::{Fault, Origin};
use super::super::parts::Parts;
use super::super::reader::Section;
use super::{DEFAULT_QDISCS, PROFILES, Profile, names as kernels};

pub(super) const FILES: [(&str, &str); 2] = data_files!["openwrt-23.05", "openwrt-24.10"];

/// The releases, read once.
pub(super) static RELEASES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let one = |(name, text): &(&'static str, &str)| load(name, text);
    let all = FILES.iter().map(one).collect::<Result<Vec<_>, Fault>>();
    all.unwrap_or_else(|fault| {
        unreachable!("the project's own profiles are tested: {}", fault.in_file("openwrt"))
    })
});

const KERNEL: Form = Form::Listed { title: "kernel", words: "a kernel", names: kernels };

/// A release's data file.
static FILE: Shape = Shape {
    title: "Release",
    about: "What differs from a kernel.",
    groups: &[&[
        Key::need("base", KERNEL, "its kernel"),
        Key::need("mac80211", KERNEL, "the kernel that its wireless stack is of"),
        Key::need("default_qdisc", Form::Text, "discipline of interfaces that name none"),
        Key::need("hz", Form::Integer(100, 1_000), "ticks of its kernel in a second"),
        Key::need("wifi_pacing_shift", Form::Integer(0, 20), "of sockets over Wi-Fi"),
        Key::need(
            "airtime_quantum",
            Form::Period,
            "what a station's deficit grows by in a round of the scheduler",
        ),
    ]],
};

fn load(name: &'static str, text: &str) -> Result<Profile, Fault> {
    let tree: Table = document::parse(text)?;
    let mut root = Section::new("", Origin::Line(1), &tree, &FILE, Parts::none());
    let mut kernel = |key: &str| {
        let field = root.need(key, "a kernel")?;
        let named = field.text("a kernel")?;
        PROFILES.iter().find(|known| known.name == named).ok_or_else(|| field.wrong("a kernel"))
    };
    let (base, wireless) = (kernel("base")?, kernel("mac80211")?);
    let mut own = Profile {
        name,
        wifi_version: wireless.version,
        // linux: net/wireless/util.c cfg80211_classify8021d, net/mac80211 - both are of the wireless stack.
        minstrel_ht: wireless.minstrel_ht,
        dscp_to_up: wireless.dscp_to_up,
        default_qdisc: root.need("default_qdisc", "a discipline")?.choice(&DEFAULT_QDISCS)?,
        wifi_pacing_shift: root.need("wifi_pacing_shift", "a shift")?.value()?,
        airtime_quantum: Some(root.need("airtime_quantum", "a time")?.value::<Duration>()?),
        ..base.clone()
    };
    own.tcp.hz = root.need("hz", "ticks in a second")?.value()?;
    root.finish()?;
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stillair_model::wifi::rate::minstrel_ht::MinstrelVersion;

    #[test]
    fn a_release_is_a_kernel_with_a_later_wireless_stack() {
        let own = |name: &str| {
            let p = RELEASES.iter().find(|p| p.name == name).expect("a release");
            (p.version, p.wifi_version, p.tcp.hz, p.wifi_pacing_shift, p.default_qdisc)
        };
        assert_eq!(own("openwrt-23.05"), (Some((5, 15)), Some((6, 1)), 100, 6, "fq_codel"));
        assert_eq!(own("openwrt-24.10"), (Some((6, 6)), Some((6, 12)), 100, 6, "fq_codel"));
        // 5.15 has Minstrel-HT's rules of 5.12.
        assert!(RELEASES.iter().all(|p| p.minstrel_ht == MinstrelVersion::From519));
    }
}
