//! Runs with guests, without Python: `stillair-uml SCENARIO [--set KEY=VALUE]... [--seed N] [--patience S]
//! [--collect FOLDER]` prints the result as JSON.

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("stillair-uml: guests need Linux");
    std::process::exit(1);
}

#[cfg(target_os = "linux")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match command(&words) {
        Ok((text, code)) => {
            println!("{text}");
            std::process::exit(code);
        }
        Err((code, why)) => {
            eprintln!("stillair-uml: {why}");
            std::process::exit(code);
        }
    }
}

#[cfg(target_os = "linux")]
fn command(words: &[String]) -> Result<(String, i32), (i32, String)> {
    use lexopt::{Arg, Error, Parser, ValueExt};
    use stillair_sim::api::ApiError;
    use stillair_uml::run::{Request, run};

    const EXPECTED: &str = "expected --set, --seed, --patience or --collect with a value";
    let [file, options @ ..] = words else { return Err((2, "expected SCENARIO".to_owned())) };
    let mut request = Request { file: file.clone(), ..Request::default() };
    let mut parser = Parser::from_args(options);
    let wrong = |why: Error| match why {
        Error::MissingValue { option: Some(option) } => (2, format!("found {option}, {EXPECTED}")),
        other => (2, other.to_string()),
    };
    while let Some(argument) = parser.next().map_err(wrong)? {
        let (name, word) = match argument {
            Arg::Long(name) => (name.to_owned(), format!("--{name}")),
            Arg::Short(letter) => (String::new(), format!("-{letter}")),
            Arg::Value(word) => (String::new(), word.display().to_string()),
        };
        let mut value = || parser.value().and_then(ValueExt::string).map_err(wrong);
        match name.as_str() {
            "set" => {
                let text = value()?;
                let (key, value) =
                    text.split_once('=').ok_or((2, format!("found \"{text}\", expected KEY=VALUE")))?;
                request.overrides.push((key.to_owned(), value.to_owned()));
            }
            "seed" => request.seed = Some(seed(&value()?)?),
            "patience" => {
                let text = value()?;
                let seconds = text.parse();
                let wrong = |_| (2, format!("--patience: found \"{text}\", expected seconds"));
                request.patience_s = Some(seconds.map_err(wrong)?);
            }
            "collect" => request.collect = Some(value()?.into()),
            _ => {
                let next = parser.raw_args().ok().and_then(|mut rest| rest.next());
                let next = next.map_or_else(String::new, |next| format!(" {}", next.display()));
                return Err((2, format!("found {word}{next}, {EXPECTED}")));
            }
        }
    }
    request.text = std::fs::read_to_string(file).map_err(|e| (2, format!("{file}: {e}")))?;
    run(&request).map_err(|why| match why {
        ApiError::Scenario(why) => (2, why.to_string()),
        ApiError::Input(why) => (2, why),
        ApiError::Run(why) => (1, why),
    })
}

/// Parses a seed, with the range of the scenario key (TOML integers have 64 bits, signed).
#[cfg(target_os = "linux")]
fn seed(text: &str) -> Result<u64, (i32, String)> {
    let most = i64::MAX as u64;
    let found = text.parse().ok().filter(|seed| *seed <= most);
    found.ok_or_else(|| (2, format!("--seed: found \"{text}\", expected a whole number from 0 to {most}")))
}
