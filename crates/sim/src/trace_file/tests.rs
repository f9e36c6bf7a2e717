use proptest::prelude::*;

use super::*;

/// Capacity in kbit/s.
fn kbps(n: u64) -> PathRate {
    PathRate::Capacity(Rate::from_bps(n * 1000))
}

/// Times in ms, capacities, losses.
fn shown(steps: &Steps) -> Vec<(u64, PathRate, f64)> {
    steps.steps.iter().map(|s| (s.at.nanos() / 1_000_000, s.carries.clone(), s.loss)).collect()
}

#[test]
fn opportunities_in_100_ms_give_a_rate() {
    // Ten packets in the first 100 ms, none in the second, one in the remaining 50 ms.
    let mut text: String = (0..10).map(|n| format!("{}\n", n * 11)).collect();
    text += "# a pause\n\n250\n";
    let read = read(Format::Mahimahi, &text).unwrap();
    assert_eq!(shown(&read)[1], (100, kbps(0), 1.0));
    let rates: Vec<_> = read.steps.iter().map(|s| s.carries.clone()).collect();
    assert_eq!(
        rates,
        [PathRate::Capacity(Rate::from_bps(1_203_200)), kbps(0), PathRate::Capacity(Rate::from_bps(240_640))]
    );
    assert_eq!((read.length, read.steps[1].line), (Some(Duration::from_millis(250)), 13));
    // A packet per ms throughout is a single step of 12.032 Mbit/s, whatever the first ms.
    let even: String = (1..=1000).map(|n| format!("{n}\r\n")).collect();
    let read = super::read(Format::Mahimahi, &even).unwrap();
    assert_eq!(shown(&read), [(0, kbps(12_032), 0.0)]);
}

#[test]
fn both_formats_of_theaterq() {
    let text = "KEEP,LATENCY,RATE,LOSS,LIMIT\n1000000,20000000,13000000,0,1000\n500000,0,0,0,1000\n1,0,6500000,4294967295,0\n";
    let read = read(Format::Theaterq, text).unwrap();
    assert_eq!(shown(&read), [(0, kbps(13_000), 0.0), (1000, kbps(0), 1.0), (1500, kbps(6_500), 1.0)]);
    assert_eq!(read.length, Some(Duration::from_micros(1_500_001)));
    let read = super::read(Format::Theaterq, "250000, 1, 2, 26000000, 858993459, 1000, 0, 0, 0").unwrap();
    assert_eq!((read.steps[0].loss, read.steps[0].carries.clone()), (0.2, kbps(26_000)));
    let ten = super::read(Format::Theaterq, "250000, 1, 2, 26000000, 858993459, 1000, 0, 0, 0, 1").unwrap();
    assert_eq!(ten, read);
    // No limit, then rates of one byte per second and of less.
    let read = super::read(Format::Theaterq, "1000,0,-1,0,9\n1000,0,8,0,9\n1000,0,7,0,9\n").unwrap();
    let bps = |n| PathRate::Capacity(Rate::from_bps(n));
    assert_eq!(shown(&read), [(0, PathRate::Unlimited, 0.0), (1, bps(8), 0.0), (2, bps(7), 1.0)]);
}

#[test]
fn lines_of_time_rate_and_error() {
    let read = read(Format::Rates, "t_s,rate,error_rate\n0,mcs3,0.1\n 1.5 , ht20-mcs0-lgi , 1\n").unwrap();
    let named = |name: &str| PathRate::Named(name.to_owned());
    assert_eq!(shown(&read), [(0, named("mcs3"), 0.1), (1500, named("ht20-mcs0-lgi"), 1.0)]);
    assert_eq!((read.length, read.steps[1].line), (None, 3));
}

#[test]
fn wrong_lines_are_named() {
    use Format::{Mahimahi as M, Rates as R, Theaterq as T};
    let table = [
        (M, "", "line 1: found the end, expected a line of the trace"),
        (M, "# nothing\n\n", "line 2: found the end, expected a line of the trace"),
        (M, "1\n2 ms\n", "line 2: found \"2 ms\", expected a time in whole ms, at most 3600000"),
        (M, "1\n-2\n", "line 2: found \"-2\", expected a time in whole ms, at most 3600000"),
        (M, "3600001\n", "line 1: found \"3600001\", expected a time in whole ms, at most 3600000"),
        (M, "5\n\n4\n", "line 3: found \"4\", expected a time that is not before that of line 1: 5"),
        (M, "0\n0\n", "line 2: found \"0\", expected a last time after 0, when the trace begins anew"),
        (
            T,
            "1,2,3,4\n",
            "line 1: found \"1,2,3,4\", expected 5 fields, or 10 in the extended format; these are 4",
        ),
        (
            T,
            "1,2,3,4,5\n1,2,3,4,5,6,7,8,9\n",
            "line 2: found \"1,2,3,4,5,6,7,8,9\", expected 5 fields, as in the lines before",
        ),
        (T, "0,2,3,4,5\n", "line 1: found \"0\", expected KEEP, a time in us above 0"),
        (T, "1,2,fast,4,5\n", "line 1: found \"fast\", expected RATE, a whole number up to 1000000000000"),
        (T, "1,2,-2,4,5\n", "line 1: found \"-2\", expected RATE, a whole number up to 1000000000000"),
        (
            T,
            "1,2,3,4294967296,5\n",
            "line 1: found \"4294967296\", expected LOSS, a whole number up to 4294967295",
        ),
        (
            T,
            "86400000000,2,3,4,5\n1,2,3,4,5\n",
            "line 2: found \"1,2,3,4,5\", expected a trace of a day at most",
        ),
        (R, "0,mcs3\n", "line 1: found \"0,mcs3\", expected 3 fields: t_s, rate, error_rate; these are 2"),
        (R, "1,mcs3,0\n", "line 1: found \"1\", expected 0: a trace begins at 0 s"),
        (R, "0,mcs3,0\n0.0,mcs4,0\n", "line 2: found \"0.0\", expected a time after that of line 1"),
        (
            R,
            "0,mcs3,0\n1e3,mcs4,0\n",
            "line 2: found \"1e3\", expected a time in s, at most 86400, in steps of 1 ns",
        ),
        (R, "0,,0\n", "line 1: found \"\", expected a rate such as mcs3 or ht20-mcs3-lgi"),
        (R, "0,mcs3,20 %\n", "line 1: found \"20 %\", expected a share from 0 to 1, such as 0.2"),
        (R, "0,mcs3,1.01\n", "line 1: found \"1.01\", expected a share from 0 to 1, such as 0.2"),
        (
            R,
            "0,mcs3,0\nt_s,rate,error_rate\n",
            "line 2: found \"t_s\", expected a time in s, at most 86400, in steps of 1 ns",
        ),
    ];
    for (format, text, says) in table {
        assert_eq!(read(format, text).map_err(|bad| bad.to_string()), Err(says.to_owned()), "{text:?}");
    }
    let long = format!("{}\u{7}\n", "x".repeat(60));
    let says = read(Format::Mahimahi, &long).unwrap_err().found;
    assert_eq!(says, format!("\"{}...\"", "x".repeat(40)));
}

proptest! {
    /// Any text is either read as steps in order of time from 0 on, with losses between 0 and 1, or refused
    /// with the bad line.
    #[test]
    fn any_text_is_read_or_rejected(text in "([0-9a-z,.#%-]{0,12}\n){0,12}|\\PC{0,200}", format in 0..3usize) {
        check(format, &text)?;
    }
    #[test]
    fn lines_of_numbers_are_read_or_rejected(
        lines in prop::collection::vec(prop::collection::vec(0..5000u64, 1..10), 0..40), format in 0..3usize,
    ) {
        let line = |fields: &Vec<u64>| fields.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let mut lines: Vec<String> = lines.iter().map(line).collect();
        lines.sort_by_key(|line| line.split(',').next().and_then(|n| n.parse::<u64>().ok()));
        check(format, &lines.join("\n"))?;
    }
}

fn check(format: usize, text: &str) -> Result<(), TestCaseError> {
    let format = [Format::Rates, Format::Mahimahi, Format::Theaterq][format];
    match read(format, text) {
        Ok(read) => {
            prop_assert_eq!(read.steps[0].at, Duration::ZERO);
            prop_assert!(read.steps.is_sorted_by(|a, b| a.at < b.at));
            prop_assert!(read.steps.iter().all(|s| (0.0..=1.0).contains(&s.loss)));
            prop_assert!(read.length.is_none_or(|length| length > read.steps[read.steps.len() - 1].at));
        }
        Err(bad) => {
            let most = u32::try_from(text.lines().count()).unwrap().max(1);
            prop_assert!((1..=most).contains(&bad.line), "{}", bad);
            prop_assert!(!bad.to_string().contains('\n'));
        }
    }
    Ok(())
}
