//! Kernels built by `stillair kernel build`, one folder each.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Errors of finding a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum KernelError {
    /// No kernel has this name.
    #[error("no kernel {name} is built in {}; build it with 'stillair kernel build {name}'", place.display())]
    NotBuilt {
        /// Name of the kernel.
        name: String,
        /// Folder of all kernels.
        place: PathBuf,
    },
    /// The description of a kernel is invalid.
    #[error("{}: {source}", path.display())]
    Description {
        /// Path of the description.
        path: PathBuf,
        /// The error in it.
        source: DescriptionError,
    },
    /// Several kernels have this name.
    #[error("{name} is the name of several kernels, expected one of {}", ids.join(", "))]
    Several {
        /// Name of the kernels.
        name: String,
        /// Names of their folders.
        ids: Vec<String>,
    },
    /// A file of the kernel is missing.
    #[error("{}: there is no {file}; rebuild the kernel with 'stillair kernel build'", folder.display())]
    MissingFile {
        /// Folder of the kernel.
        folder: PathBuf,
        /// Name of the file.
        file: &'static str,
    },
    /// The kernel's first program expects another version of the orders.
    #[error(
        "{}: its first program is of another version of Stillair ({orders}, expected {ORDERS}); the same 'stillair kernel build {name} ...' that made \
         the kernel renews it, in seconds if kernel and patches are the same",
        folder.display()
    )]
    Orders {
        /// Folder of the kernel.
        folder: PathBuf,
        /// Name of the kernel.
        name: String,
        /// Version of the orders that its first program accepts.
        orders: i64,
    },
}

/// An error in the description of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum DescriptionError {
    /// The description is not TOML.
    #[error("{}", .0.message())]
    Toml(#[from] toml::de::Error),
    /// A key is missing.
    #[error("{key}: found nothing, expected text")]
    Missing {
        /// Name of the key.
        key: &'static str,
    },
}

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
    /// True if the kernel supports the shared clock page.
    pub shares_page: bool,
}

/// The version of the orders to a guest's first program (`ORDERS` of guest/guest.h).
const ORDERS: i64 = 3;

/// Description of a kernel in its folder.
#[derive(Clone, PartialEq, Eq, Debug)]
struct About {
    name: String,
    version: String,
    patches: Vec<String>,
    clock: String,
    /// Version of the orders that its first program accepts.
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

/// Finds a kernel by the name of its folder, then by its name, then by its version.
pub fn find(name: &str, place: &Path) -> Result<Kernel, KernelError> {
    let none = || KernelError::NotBuilt { name: name.to_owned(), place: place.to_owned() };
    let mut all: Vec<(String, About)> = Vec::new();
    for entry in std::fs::read_dir(place).map_err(|_| none())?.flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path().join("kernel.toml");
        if let Ok(text) = std::fs::read_to_string(&path) {
            all.push((id, about(&text).map_err(|source| KernelError::Description { path, source })?));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    type Is = fn(&str, &(String, About)) -> bool;
    let ways: [Is; 3] =
        [|name, (id, _)| id == name, |name, (_, of)| of.name == name, |name, (_, of)| of.version == name];
    let found = ways.iter().map(|is| all.iter().filter(|of| is(name, of)).collect::<Vec<_>>());
    let found = found.into_iter().find(|found| !found.is_empty()).ok_or_else(none)?;
    let [(id, about)] = found[..] else {
        let ids = found.iter().map(|(id, _)| id.clone()).collect();
        return Err(KernelError::Several { name: name.to_owned(), ids });
    };
    let folder = place.join(id);
    for file in ["linux", "init", "seed.so"] {
        if !folder.join(file).is_file() {
            return Err(KernelError::MissingFile { folder, file });
        }
    }
    let About { name, version, patches, clock, orders } = about.clone();
    if orders != ORDERS {
        return Err(KernelError::Orders { folder, name, orders });
    }
    Ok(Kernel { folder, id: id.clone(), version, patches, shares_page: clock == "shm" })
}

fn about(text: &str) -> Result<About, DescriptionError> {
    let table: toml::Table = text.parse()?;
    let text = |key: &'static str| {
        let value = table.get(key).and_then(toml::Value::as_str);
        value.map(str::to_owned).ok_or(DescriptionError::Missing { key })
    };
    let patches = table.get("patches").and_then(toml::Value::as_array).into_iter().flatten();
    let patches = patches.filter_map(|one| one.as_str().map(str::to_owned)).collect();
    let version = text("version")?;
    Ok(About {
        name: text("name").unwrap_or_else(|_| version.clone()),
        version,
        patches,
        clock: text("clock")?,
        // The first version had no number.
        orders: table.get("orders").and_then(toml::Value::as_integer).unwrap_or(1),
    })
}

impl Kernel {
    /// Returns true if this patch was applied to its source.
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
        let id = |name: &str| find(name, &place).map(|kernel| kernel.id).map_err(|why| why.to_string());
        for (name, of) in [
            ("6.12.117-bb", "6.12.117-bb"),
            ("6.12", "6.12.117-aa"),
            ("mine", "6.12.117-bb"),
            ("6.1.192", "6.1.192-cc"),
        ] {
            assert_eq!(id(name).as_deref(), Ok(of), "{name}");
        }
        assert!(id("6.12.117").is_err_and(|why| why.contains("several kernels") && why.contains("6.12.117-aa, 6.12.117-bb")));
        assert!(id("6.6").is_err_and(|why| why.contains("build it with 'stillair kernel build 6.6'")));
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
