//! TCP behaviour scripts in the style of packetdrill: runs every file of `tests/tcp` against one socket.

#[path = "common/script.rs"]
mod script;
#[path = "common/tcp_rig.rs"]
mod tcp_rig;
#[path = "common/tcp_run.rs"]
mod tcp_run;

use tcp_run::run;

#[test]
fn every_script_passes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tcp");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of scripts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "script"))
        .collect();
    files.sort();
    assert!(files.len() >= 20, "only {} scripts", files.len());
    let failures: Vec<_> = files
        .iter()
        .filter_map(|path| {
            let text = std::fs::read_to_string(path).expect("a script");
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            run(&text).err().map(|e| format!("{name}, {e}"))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} scripts:\n{}", failures.len(), files.len(), failures.join("\n"));
}

#[test]
fn scripts_can_fail() {
    let table = [
        ("connected 10ms\nwrite 1\n> data 1", "another packet"),
        ("connected 10ms\nwrite 1\n+5ms < ack 1", "without being expected"),
        ("connected 10ms\n+10ms > data 0", "nothing was sent"),
        ("connected 10ms\n= cwnd 11", "cwnd is 10"),
        ("connected 10ms\nwrte 1", "line 2"),
    ];
    for (text, message) in table {
        let error = run(text).expect_err(text);
        assert!(error.contains(message), "{error}");
    }
}
