//! Lines with a time in s and the state from then on: a source that is on or off, or the share of time that a
//! channel is busy.

use stillair_model::types::Duration;

use super::rates::{seconds, share};
use super::{BadLine, Line, MOST_STEPS, lines};

/// Reads the times at which a source switches on or off, the first at 0. The file has lines with a time in s
/// and 0 or 1.
pub fn read_switch(text: &str) -> Result<Vec<(Duration, bool)>, BadLine> {
    let on = |text: &str| match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    };
    steps(text, ["t_s", "on"], on, "0 for off or 1 for on")
}

/// Reads times with the share of time that a channel is busy from then on, the first at 0. The file has lines
/// with a time in s and a share from 0 to 1.
pub fn read_shares(text: &str) -> Result<Vec<(Duration, f64)>, BadLine> {
    steps(text, ["t_s", "busy"], share, "a share from 0 to 1, such as 0.2")
}

fn steps<T>(
    text: &str,
    heading: [&str; 2],
    value: impl Fn(&str) -> Option<T>,
    expected: &str,
) -> Result<Vec<(Duration, T)>, BadLine> {
    let (all, last) = lines(text);
    let mut steps: Vec<(Duration, T)> = Vec::new();
    let mut before: Option<Line<'_>> = None;
    for line in all {
        let found: Vec<&str> = line.text.split(',').map(str::trim).collect();
        if steps.is_empty() && found == heading {
            continue;
        }
        let [time, what] = found[..] else {
            let fields = heading.join(", ");
            return Err(line.wrong(line.text, format!("2 fields: {fields}; these are {}", found.len())));
        };
        let at =
            seconds(time).ok_or_else(|| line.wrong(time, "a time in s, at most 86400, in steps of 1 ns"))?;
        match (steps.last(), before) {
            (None, _) if at > Duration::ZERO => return Err(line.wrong(time, "0: a trace begins at 0 s")),
            (Some(last), Some(before)) if at <= last.0 => {
                return Err(line.wrong(time, format!("a time after that of line {}", before.number)));
            }
            _ => {}
        }
        if steps.len() == MOST_STEPS {
            return Err(line.too_many());
        }
        steps.push((at, value(what).ok_or_else(|| line.wrong(what, expected))?));
        before = Some(line);
    }
    if steps.is_empty() {
        return Err(BadLine {
            line: last,
            found: "the end".to_owned(),
            expected: "a line of the trace".to_owned(),
        });
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_time_and_value() {
        let ms = Duration::from_millis;
        assert_eq!(
            read_switch("t_s,on\n0,1\n# off\n\n0.008, 0\n0.02,1\n").unwrap(),
            [(ms(0), true), (ms(8), false), (ms(20), true)]
        );
        assert_eq!(read_shares("0,0.25\n1.5,1").unwrap(), [(ms(0), 0.25), (ms(1_500), 1.0)]);
    }

    #[test]
    fn invalid_lines() {
        for (text, says) in [
            ("", "line 1: found the end, expected a line of the trace"),
            ("1,1", "line 1: found \"1\", expected 0: a trace begins at 0 s"),
            ("0,1\n0,0", "line 2: found \"0\", expected a time after that of line 1"),
            ("0,on", "line 1: found \"on\", expected 0 for off or 1 for on"),
            ("0", "line 1: found \"0\", expected 2 fields: t_s, on; these are 1"),
            ("x,1", "line 1: found \"x\", expected a time in s, at most 86400, in steps of 1 ns"),
        ] {
            assert_eq!(read_switch(text).unwrap_err().to_string(), says);
        }
        let bad = read_shares("0,1.5").unwrap_err().to_string();
        assert_eq!(bad, "line 1: found \"1.5\", expected a share from 0 to 1, such as 0.2");
    }
}
