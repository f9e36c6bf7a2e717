//! Kernels built by `stillair kernel build`, one folder each.

use std::path::{Path, PathBuf};

/// A kernel that guests can run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Folder of the kernel.
    pub folder: PathBuf,
    /// Name of the folder.
    pub id: String,
    /// Linux version of the kernel.
    pub version: String,
    /// Names of the patches applied to its source.
    pub patches: Vec<String>,
    /// Whether the kernel supports the shared clock page.
    pub shares_page: bool,
}

/// The version of the orders to a guest's first program (`ORDERS` of guest/guest.h).
const ORDERS: i64 = 3;

/// What a kernel has in its folder.
#[derive(Clone, PartialEq, Eq, Debug)]
struct About {
    name: String,
    version: String,
    patches: Vec<String>,
    clock: String,
    /// Those that its first program understands.
    orders: i64,
}

/// The folder of all kernels: `STILLAIR_KERNELS`, or a folder in the user's cache.
pub fn place() -> PathBuf {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    of("STILLAIR_KERNELS").unwrap_or_else(|| {
        let cache = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")));
        cache.unwrap_or_else(|| PathBuf::from("/var/cache")).join("stillair/kernels")
    })
}

/// Finds a kernel: first by the name of its folder, then by its name, then by its version.
pub fn find(name: &str, place: &Path) -> Result<Kernel, String> {
    let none = || {
        format!("no kernel {name} is built in {}; 'stillair kernel build {name}' makes it", place.display())
    };
    let mut all: Vec<(String, About)> = Vec::new();
    for entry in std::fs::read_dir(place).map_err(|_| none())?.flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        if let Ok(text) = std::fs::read_to_string(entry.path().join("kernel.toml")) {
            all.push((
                id,
                about(&text)
                    .map_err(|why| format!("{}: {why}", entry.path().join("kernel.toml").display()))?,
            ));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    type Is = fn(&str, &(String, About)) -> bool;
    let ways: [Is; 3] =
        [|name, (id, _)| id == name, |name, (_, of)| of.name == name, |name, (_, of)| of.version == name];
    let found = ways.iter().map(|is| all.iter().filter(|of| is(name, of)).collect::<Vec<_>>());
    let found = found.into_iter().find(|found| !found.is_empty()).ok_or_else(none)?;
    let [(id, about)] = found[..] else {
        let ids: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
        return Err(format!(
            "{name} is the name of several kernels, expected that of one: {}",
            ids.join(", ")
        ));
    };
    let folder = place.join(id);
    for file in ["linux", "init", "seed.so"] {
        if !folder.join(file).is_file() {
            return Err(format!(
                "{}: there is no {file}; 'stillair kernel build' makes the kernel anew",
                folder.display()
            ));
        }
    }
    let About { name, version, patches, clock, orders } = about.clone();
    if orders != ORDERS {
        return Err(format!(
            "{}: its first program is of another version of Stillair ({orders}, expected {ORDERS}); the same 'stillair kernel build {name} ...' that made \
             the kernel renews it, in seconds if kernel and patches are the same",
            folder.display()
        ));
    }
    Ok(Kernel { folder, id: id.clone(), version, patches, shares_page: clock == "shm" })
}

fn about(text: &str) -> Result<About, String> {
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| e.message().to_owned())?;
    let text = |key: &str| {
        let value = table.get(key).and_then(toml::Value::as_str);
        value.map(str::to_owned).ok_or_else(|| format!("{key}: found nothing, expected text"))
    };
    let patches = table.get("patches").and_then(toml::Value::as_array).into_iter().flatten();
    let patches = patches.filter_map(|one| one.as_str().map(str::to_owned)).collect();
    let version = text("version")?;
    Ok(About {
        name: text("name").unwrap_or_else(|_| version.clone()),
        version,
        patches,
        clock: text("clock")?,
        // Programs of before there was such a number.
        orders: table.get("orders").and_then(toml::Value::as_integer).unwrap_or(1),
    })
}

impl Kernel {
    /// Whether this patch was applied to its source.
    pub fn has(&self, patch: &str) -> bool {
        self.patches.iter().any(|one| one == patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_found_by_its_folder_its_name_and_its_version() {
        let place = std::env::temp_dir().join(format!("stillair-kernels-{}", std::process::id()));
        for (id, name) in [("6.12.117-aa", "6.12"), ("6.12.117-bb", "mine"), ("6.1.192-cc", "6.1")] {
            let folder = place.join(id);
            std::fs::create_dir_all(&folder).expect("a folder");
            let version = id.split('-').next().expect("a version");
            let text = format!(
                "name = \"{name}\"\nversion = \"{version}\"\nclock = \"shm\"\npatches = [\"ring\", \"tsq\"]\norders = {ORDERS}\n"
            );
            std::fs::write(folder.join("kernel.toml"), text).expect("a file");
            for file in ["linux", "init", "seed.so"] {
                std::fs::write(folder.join(file), "").expect("a file");
            }
        }
        let id = |name: &str| find(name, &place).map(|kernel| kernel.id);
        for (name, of) in [
            ("6.12.117-bb", "6.12.117-bb"),
            ("6.12", "6.12.117-aa"),
            ("mine", "6.12.117-bb"),
            ("6.1.192", "6.1.192-cc"),
        ] {
            assert_eq!(id(name).as_deref(), Ok(of));
        }
        assert!(id("6.12.117").is_err_and(|why| why.contains("several kernels") && why.contains("6.12.117-aa, 6.12.117-bb")));
        assert!(id("6.6").is_err_and(|why| why.contains("'stillair kernel build 6.6' makes it")));
        assert!(
            find("6.1", &place)
                .is_ok_and(|kernel| kernel.has("tsq") && !kernel.has("notsq") && kernel.shares_page)
        );
        let mine = place.join("6.12.117-bb/kernel.toml");
        let text = std::fs::read_to_string(&mine).expect("a file");
        std::fs::write(&mine, text.replace(&format!("orders = {ORDERS}\n"), "")).expect("a file");
        assert!(id("mine").is_err_and(|why| why.contains("another version of Stillair (1, expected 3)")));
        std::fs::remove_file(place.join("6.1.192-cc/init")).expect("it was there");
        assert!(id("6.1").is_err_and(|why| why.contains("there is no init")));
        std::fs::remove_dir_all(&place).expect("it was there");
    }
}
