#!/bin/sh
# Lists missing prerequisites, with the command that installs each.
# Usage: prerequisites.sh build|lints|ns3|adapters|web      (PYTHON: the interpreter, default python3)
set -eu

python=${PYTHON:-python3}
rust_needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml")
missing=0

lacks() {
  echo "missing: $1" >&2
  echo "  install it with: $2" >&2
  missing=1
}

# Is dotted version $1 at least $2?
at_least() {
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

check_build() {
  rustup="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
  if ! command -v cargo >/dev/null; then
    lacks "cargo, the Rust toolchain ($rust_needed or newer)" "$rustup"
  else
    found=$(cargo --version | cut -d ' ' -f 2)
    at_least "$found" "$rust_needed" || lacks "Rust $rust_needed or newer (found $found)" "rustup update stable"
  fi
  if ! command -v cc >/dev/null; then
    lacks "cc, a C compiler (Rust links with it)" "sudo apt-get install build-essential"
  fi
  if ! command -v "$python" >/dev/null; then
    lacks "$python (3.11 or newer)" "sudo apt-get install python3 python3-venv"
  elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    lacks "Python 3.11 or newer ($python is $("$python" -V 2>&1 | cut -d ' ' -f 2))" \
      "sudo apt-get install python3.11 python3.11-venv, then: make PYTHON=python3.11 ..."
  elif ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    lacks "Python's venv module" "sudo apt-get install python3-venv"
  fi
}

check_lints() {
  cargo fmt --version >/dev/null 2>&1 || lacks "rustfmt" "rustup component add rustfmt"
  cargo clippy --version >/dev/null 2>&1 || lacks "clippy" "rustup component add clippy"
}

# scripts/wasm-toolchain.sh finds the WebAssembly toolchain, unpacks one under build/, or reports that none is available.
check_web() {
  if ! command -v node >/dev/null || ! at_least "$(node --version | tr -d v)" 18; then
    lacks "Node.js 18 or newer" "sudo apt-get install nodejs"
  fi
  command -v npm >/dev/null || lacks "npm" "sudo apt-get install npm"
  command -v xz >/dev/null || lacks "xz" "sudo apt-get install xz-utils"
}

check_ns3() {
  if [ "$(uname -sm)" != "Linux x86_64" ]; then
    lacks "x86-64 Linux, required by ns-3's wheel (this is $(uname -sm))" "another machine, or a container there"
  fi
  command -v g++ >/dev/null || lacks "g++, a C++20 compiler" "sudo apt-get install g++"
}

# The adapters have their own minimum Rust version. One links Debian's ngtcp2, in a version whose settings have `qlog.write`.
check_adapters() {
  rust_needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../adapters/Cargo.toml")
  check_build
  debian="sudo apt-get install pkg-config libngtcp2-dev libngtcp2-crypto-gnutls-dev libgnutls28-dev"
  if ! command -v pkg-config >/dev/null; then
    lacks "pkg-config" "$debian"
  elif ! pkg-config --exists libngtcp2 libngtcp2_crypto_gnutls gnutls; then
    lacks "ngtcp2 with GnuTLS" "$debian"
  elif ! pkg-config --exists 'libngtcp2 >= 0.12' 'libngtcp2 < 1'; then
    lacks "ngtcp2 0.12 (found $(pkg-config --modversion libngtcp2))" "$debian, on Debian 12 or Ubuntu 24.04"
  fi
}

case ${1:-} in
  build) check_build ;;
  lints) check_lints ;;
  ns3) check_ns3 ;;
  adapters) check_adapters ;;
  web) check_web ;;
  *) echo "usage: $0 build|lints|ns3|adapters|web" >&2; exit 2 ;;
esac
exit $missing
