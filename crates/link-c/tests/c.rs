//! Compiles a C program against the library with the address sanitizer. The program makes valid and invalid
//! calls.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use stillair_link::{Link, Mark, Poll};

/// Returns cargo's output folder for test libraries.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.parent().expect("target/debug/deps").to_path_buf()
}

fn run(libraries: &[&str]) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("example-{}", libraries.len()));
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(cc);
    command.args([
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-g",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]);
    command.arg(here.join("tests/example.c")).arg("-I").arg(here.join("include")).arg("-o").arg(&program);
    command.args(libraries).args(["-lm", "-lpthread", "-ldl"]);
    let done = command.output().expect("a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let done = Command::new(&program).env("LD_LIBRARY_PATH", built()).output().expect("the program");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

#[test]
fn the_example_in_c_gets_the_packet_of_rust() {
    let mut link = Link::preset("home-80211ac-far", 1).expect("a link");
    let way =
        link.endpoint("client").expect("one").to(link.endpoint("server").expect("one")).ports(50_000, 443);
    link.send(Duration::from_millis(5), way, b"hello", Mark::ECT_0).expect("a datagram");
    let Poll::Packet(packet) = link.poll(Duration::from_secs(1)).expect("time goes on") else {
        panic!("lost")
    };
    let want = format!("{}\n", packet.at.as_nanos());

    let folder = built();
    let shared = format!("-L{}", folder.display());
    assert_eq!(run(&[&shared, "-lstillair"]), want);
    let archive = folder.join("libstillair.a");
    assert_eq!(run(&[archive.to_str().expect("text")]), want);
}
