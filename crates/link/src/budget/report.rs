//! A verdict as text, Markdown and JUnit XML.

use core::fmt;

use super::Limit;
use super::judge::{Estimate, Finding, Standing, Verdict};

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => write!(f, "{least} to {most}"),
            (Some(least), None) => write!(f, ">= {least}"),
            (None, Some(most)) => write!(f, "<= {most}"),
            (None, None) => f.write_str("-"),
        }
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Three significant digits.
        let digits = match self.mean.abs() {
            large if large >= 100.0 => 0,
            large if large >= 10.0 => 1,
            large if large >= 1.0 => 2,
            _ => 3,
        };
        write!(f, "{:.digits$}", self.mean)?;
        match self.high - self.mean {
            half if half > 0.0 => write!(f, " +- {half:.digits$}"),
            _ => Ok(()),
        }
    }
}

impl Standing {
    /// The standing as a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Close => "within noise",
            Self::Broken => "BROKEN",
        }
    }
}

impl Finding {
    fn cells(&self) -> [String; 6] {
        let change = self.change().map_or("-".to_owned(), |change| {
            let mark = if self.has_changed() { " *" } else { "" };
            format!("{:+.1} %{mark}", change * 100.0)
        });
        let limit = self.limit.to_string();
        [
            self.path.clone(),
            self.metric.clone(),
            limit,
            self.found.to_string(),
            change,
            self.standing.word().to_owned(),
        ]
    }
}

const HEAD: [&str; 6] = ["path", "metric", "limit", "found", "change", "verdict"];

impl fmt::Display for Verdict {
    /// Formats a table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![HEAD.map(str::to_owned)];
        rows.extend(self.findings.iter().map(Finding::cells));
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
        for row in &rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

fn escaped(text: &str) -> String {
    let one = |c| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(one).collect()
}

impl Verdict {
    /// A Markdown table, for a pull-request comment or a job summary.
    pub fn to_markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let head = HEAD.map(str::to_owned);
        let says = if self.holds() { "No limit is broken." } else { "A limit is broken." };
        let rows: String = self.findings.iter().map(|finding| line(&finding.cells())).collect();
        format!(
            "{}|---|---|---:|---:|---:|---|\n{rows}\n{says} Means over {} seeds with 95 % intervals; `*`: significant change.\n",
            line(&head),
            self.findings.first().map_or(0, |finding| finding.found.seeds)
        )
    }

    /// JUnit XML: one test suite per budget, one test case per limit.
    pub fn to_junit(&self) -> String {
        let broken = |finding: &&Finding| finding.standing == Standing::Broken;
        let case = |finding: &Finding| {
            let [path, metric, limit, found, ..] = finding.cells().map(|cell| escaped(&cell));
            let open = format!("  <testcase classname=\"{path}\" name=\"{metric}\"");
            match finding.standing {
                Standing::Broken => {
                    format!("{open}>\n    <failure message=\"{found}, expected {limit}\"/>\n  </testcase>\n")
                }
                _ => format!("{open}/>\n"),
            }
        };
        let cases: String = self.findings.iter().map(case).collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n{cases}</testsuite>\n",
            escaped(&self.file),
            self.findings.len(),
            self.findings.iter().filter(broken).count()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Baseline, Budget};

    #[test]
    fn a_verdict_is_formatted_in_three_ways() {
        let text = "seeds = 2\n[path.vdsl-40-10]\na.at_least = 10\nb.at_most = 2.5\n";
        let budget = Budget::read(text, "b<.toml").expect("a budget");
        let runs: Vec<_> = budget.cases().map(|case| case.measured([("a", 20.0), ("b", 3.0)])).collect();
        let kept = budget.judge(&runs, None).expect("all is there").baseline;
        let mut before = kept.clone();
        before.0.values_mut().for_each(|metrics| metrics.values_mut().for_each(|e| e.high *= 2.0));
        let verdict = budget.judge(&runs, Some(&before)).expect("all is there");
        let table = "\
path        metric  limit   found  change  verdict
vdsl-40-10  a       >= 10   20.0   +0.0 %  kept
vdsl-40-10  b       <= 2.5  3.00   +0.0 %  BROKEN
";
        assert_eq!(verdict.to_string(), table);
        let markdown = verdict.to_markdown();
        assert!(markdown.contains("| vdsl-40-10 | b | <= 2.5 | 3.00 | +0.0 % | BROKEN |\n"), "{markdown}");
        assert!(markdown.contains("A limit is broken. Means over 2 seeds"), "{markdown}");
        let junit = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuite name=\"b&lt;.toml\" tests=\"2\" failures=\"1\">
  <testcase classname=\"vdsl-40-10\" name=\"a\"/>
  <testcase classname=\"vdsl-40-10\" name=\"b\">
    <failure message=\"3.00, expected &lt;= 2.5\"/>
  </testcase>
</testsuite>
";
        assert_eq!(verdict.to_junit(), junit);
        let mut lower = Baseline(kept.0);
        lower
            .0
            .values_mut()
            .for_each(|metrics| metrics.values_mut().for_each(|e| (e.mean, e.high) = (1.0, 1.5)));
        let verdict = budget.judge(&runs, Some(&lower)).expect("all is there");
        assert!(verdict.to_string().contains("+1900.0 % *"), "{verdict}");
    }
}
