#!/usr/bin/env bash
# Builds the engine as a WebAssembly module, with the first available toolchain for wasm32-unknown-unknown:
#   1. rustup's, if it has the target or can add it;
#   2. Debian's rustc-web and standard library source, unpacked under build/ and not installed, so that rustup's toolchain stays first in
#      PATH. The library is built from that source; its crates come from crates.io.
# Without either, prints how to install one.
# Usage: wasm-toolchain.sh OUT.wasm
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
target=wasm32-unknown-unknown
unpacked=$PWD/build/wasm-toolchain
folder=${CARGO_TARGET_DIR:-target}

has_target() { [ -d "$(rustc --print target-libdir --target $target 2>/dev/null)" ]; }

# Fetches the newest Debian packages that apt lists. `std` and `llvm` have their versions in their names.
fetch_debian() (
  rm -rf "$unpacked" && mkdir -p "$unpacked/packages" && cd "$unpacked/packages"
  std=$(apt-cache depends libstd-rust-web-dev 2>/dev/null | sed -n 's/^  Depends: \(libstd-rust-web-[0-9.]*\)$/\1/p')
  [ -n "$std" ] || return 1
  llvm=$(apt-cache depends "$std" | sed -n 's/^  Depends: \(libllvm[0-9]*\)$/\1/p')
  apt-get download -qq rustc-web libstd-rust-web-dev rust-web-src "$std" "$llvm" 2>/dev/null || return 1
  for package in *.deb; do dpkg-deb -x "$package" .. || return 1; done
)

unpack_debian() {
  [ -e "$unpacked/complete" ] && return
  command -v apt-get >/dev/null || return 1
  # Update missing or old package lists, if permitted.
  fetch_debian || { ((EUID == 0)) && apt-get update -qq && fetch_debian; } || return 1
  rm -rf "$unpacked/packages"
  touch "$unpacked/complete"
}

build=(cargo build --locked --profile wasm --package stillair-wasm --target $target)
if has_target || { command -v rustup >/dev/null && timeout 60 rustup target add $target >/dev/null 2>&1 && has_target; }; then
  "${build[@]}"
elif unpack_debian; then
  # The linker of rustup's own toolchain does for WebAssembly too.
  lld=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/rust-lld
  [ -x "$lld" ] || lld=$(command -v wasm-ld || true)
  [ -n "$lld" ] || { echo "missing: a linker for WebAssembly; install it with: sudo apt-get install lld" >&2; exit 1; }
  # Debian's library is built as a part of this build, which cargo still calls unstable.
  LD_LIBRARY_PATH=$(echo "$unpacked"/usr/lib/*-linux-gnu) RUSTC=$unpacked/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$lld CARGO_TARGET_DIR=$folder/wasm-debian \
    "${build[@]}" -Z build-std=std,panic_abort
  folder=$folder/wasm-debian
else
  cat >&2 <<'SAY'
missing: a Rust toolchain for WebAssembly (wasm32-unknown-unknown)
  with rustup:  rustup target add wasm32-unknown-unknown
  on Debian 12: sudo apt-get update   (packages rustc-web and rust-web-src, which this script unpacks under build/)
SAY
  exit 1
fi
mkdir -p "$(dirname "$out")"
cp "$folder/$target/wasm/stillair_wasm.wasm" "$out"
