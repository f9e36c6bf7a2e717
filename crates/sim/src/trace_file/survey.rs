//! Concatenated output of `iw dev DEVICE survey dump`: utilisation of the channel in use.
// iw: survey.c print_survey_handler (5.19) - blocks start with "Survey data from"; the frequency is followed
// by "[in use]" for the current channel; times are in ms since counting started, and unknown ones are
// omitted.

use stillair_model::types::Duration;

use super::{BadLine, Line, MOST_STEPS, lines};

/// One dump of the channel in use, with times in ms.
#[derive(Clone, Copy)]
struct Dump<'a> {
    active: (u64, Line<'a>),
    /// Busy time, excluding the device's own transmissions.
    others: u64,
}

/// The block being read.
#[derive(Default)]
struct Block<'a> {
    in_use: bool,
    active: Option<(u64, Line<'a>)>,
    busy: Option<u64>,
    sent: u64,
}

impl<'a> Block<'a> {
    fn dump(&self) -> Option<Dump<'a>> {
        let (active, busy) = (self.active?, self.busy?);
        self.in_use.then_some(Dump { active, others: busy.saturating_sub(self.sent) })
    }
}

/// Returns the share of time that others kept the channel busy between two dumps, with the time of the first
/// of the two, relative to the first dump.
// deviation: the clock is the active time, so it stops while the device is on other channels.
pub fn read_survey(text: &str) -> Result<Vec<(Duration, f64)>, BadLine> {
    let (all, last) = lines(text);
    let (mut dumps, mut block) = (Vec::new(), Block::default());
    for line in all {
        if line.text.starts_with("Survey data from") {
            dumps.extend(core::mem::take(&mut block).dump());
            continue;
        }
        let Some((name, value)) = line.text.split_once(':') else {
            return Err(
                line.wrong(line.text, "a line of `iw survey dump`, such as \"channel busy time: 120 ms\"")
            );
        };
        let ms = || {
            let number = value.trim().strip_suffix("ms").unwrap_or("").trim();
            line.whole(number, u64::MAX >> 20, "a time in ms")
        };
        match name.trim() {
            "frequency" => block.in_use = value.contains("[in use]"),
            "channel active time" => block.active = Some((ms()?, line)),
            "channel busy time" => block.busy = Some(ms()?),
            "channel transmit time" => block.sent = ms()?,
            _ => {}
        }
    }
    dumps.extend(block.dump());
    let mut steps: Vec<(Duration, f64)> = Vec::new();
    for pair in dumps.windows(2) {
        let [from, to] = [pair[0], pair[1]];
        let (since, line) = to.active;
        if since < from.active.0 {
            let expected =
                format!("at least that of line {}: the device has begun to count anew", from.active.1.number);
            return Err(line.wrong(line.text, expected));
        }
        if since == from.active.0 {
            continue;
        }
        if steps.len() == MOST_STEPS {
            return Err(line.too_many());
        }
        let busy = to.others.saturating_sub(from.others) as f64 / (since - from.active.0) as f64;
        steps.push((Duration::from_millis(from.active.0 - dumps[0].active.0), busy.min(1.0)));
    }
    if steps.is_empty() {
        return Err(BadLine {
            line: last,
            found: "the end".to_owned(),
            expected:
                "at least two dumps of the channel in use, with active and busy time, one after the other"
                    .to_owned(),
        });
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dump as printed by `iw`.
    fn dump(active: u64, busy: u64, sent: u64) -> String {
        format!(
            "Survey data from wlan0\n\tfrequency:\t\t\t2412 MHz\n\tnoise:\t\t\t\t-92 dBm\n\tchannel active time:\t\t1 ms\n\
             \tchannel busy time:\t\t1 ms\nSurvey data from wlan0\n\tfrequency:\t\t\t2437 MHz [in use]\n\tnoise:\t\t\t\t-95 dBm\n\
             \tchannel active time:\t\t{active} ms\n\tchannel busy time:\t\t{busy} ms\n\tchannel receive time:\t\t0 ms\n\
             \tchannel transmit time:\t\t{sent} ms\nSurvey data from wlan0\n\tfrequency:\t\t\t2462 MHz\n"
        )
    }

    #[test]
    fn differences_of_dumps() {
        // 400 of 1000 ms busy, 150 of them with own transmissions; the same dump twice; then all of 500 ms.
        let text = [(5_000, 900, 100), (6_000, 1_300, 250), (6_000, 1_300, 250), (6_500, 1_800, 250)]
            .map(|(active, busy, sent)| dump(active, busy, sent))
            .concat();
        let ms = Duration::from_millis;
        assert_eq!(read_survey(&text).unwrap(), [(ms(0), 0.25), (ms(1_000), 1.0)]);
    }

    #[test]
    fn invalid_survey_dumps() {
        let says = |text: &str| read_survey(text).unwrap_err().to_string();
        let two = "at least two dumps of the channel in use, with active and busy time, one after the other";
        assert_eq!(says(""), format!("line 1: found the end, expected {two}"));
        assert_eq!(says(&dump(10, 1, 0)), format!("line 14: found the end, expected {two}"));
        let back = says(&(dump(10, 1, 0) + &dump(9, 1, 0)));
        assert!(
            back.ends_with("expected at least that of line 9: the device has begun to count anew"),
            "{back}"
        );
        assert_eq!(
            says("hello"),
            "line 1: found \"hello\", expected a line of `iw survey dump`, such as \"channel busy time: 120 ms\""
        );
        assert_eq!(says("channel busy time: x ms"), "line 1: found \"x\", expected a time in ms");
    }
}
