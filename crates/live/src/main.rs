//! Live runs without Python. The `stillair live` commands do the same and format the results.
//!
//! ```text
//! stillair-live run SCENARIO [--set KEY=VALUE]... [--host HOST] [--late US] [--attach HOST=PLACE]... [--uplink] [--servers] [--capture FILE] [--point POINT]... [--snaplen N] [-- COMMAND...]   the result as JSON
//! stillair-live exec HOST [-- COMMAND...]                                                      in the current run; without COMMAND, a shell
//! stillair-live set KEY=VALUE
//! stillair-live ps
//! ```

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("stillair-live: live hosts need Linux");
    std::process::exit(1);
}

#[cfg(target_os = "linux")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (code, why) = match command(&words) {
        Ok(code) => std::process::exit(code),
        Err(failed) => failed,
    };
    eprintln!("stillair-live: {why}");
    std::process::exit(code);
}

#[cfg(target_os = "linux")]
const USAGE: &str = "expected run SCENARIO, exec HOST, set KEY=VALUE or ps";

/// Returns the exit status, or that of a failure with its reason.
#[cfg(target_os = "linux")]
fn command(words: &[String]) -> Result<i32, (i32, String)> {
    use stillair_live::{client, control::Asked};

    let input = |why: client::ClientError| (2, why.to_string());
    let behind = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let (own, program) = (&words[..behind], words.get(behind + 1..).unwrap_or_default());
    match own.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", file, ..] => run(file, &own[2..], program),
        ["exec", host] => {
            let shell = || vec![std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned())];
            let program = if program.is_empty() { shell() } else { program.to_vec() };
            client::find(None).and_then(|run| client::exec(&run, host, &program)).map_err(input)
        }
        ["set", change] => {
            let (key, value) = pair(change)?;
            let asked = Asked::Set { key, value };
            client::find(None).and_then(|run| client::ask(run.pid, &asked)).map_err(input).map(|_| 0)
        }
        ["ps"] => {
            println!("{}", client::runs_json());
            Ok(0)
        }
        _ => Err((2, USAGE.to_owned())),
    }
}

#[cfg(target_os = "linux")]
fn pair(text: &str) -> Result<(String, String), (i32, String)> {
    let (key, value) = text.split_once('=').ok_or((2, format!("found \"{text}\", expected KEY=VALUE")))?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(target_os = "linux")]
fn number<N: core::str::FromStr>(option: &str, text: &str, unit: &str) -> Result<N, (i32, String)> {
    text.parse().map_err(|_| (2, format!("--{option}: found \"{text}\", expected a number of {unit}")))
}

#[cfg(target_os = "linux")]
fn run(file: &str, options: &[String], program: &[String]) -> Result<i32, (i32, String)> {
    use lexopt::{Arg, Error, Parser, ValueExt};
    use stillair_live::live::{Request, live};
    use stillair_sim::api::ApiError;

    const EXPECTED: &str =
        "expected --set, --host, --attach, --capture, --point, --snaplen or --late with a value";
    let mut request = Request { file: file.to_owned(), command: program.to_vec(), ..Request::default() };
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
            "uplink" => request.uplink = true,
            "servers" => request.servers = true,
            "set" => request.overrides.push(pair(&value()?)?),
            "host" => request.host = Some(value()?),
            "attach" => request.attach.push(pair(&value()?)?),
            "capture" => request.capture = Some(value()?),
            "point" => request.points.push(value()?),
            "snaplen" => request.snaplen = number(&name, &value()?, "bytes")?,
            "late" => request.late_us = Some(number(&name, &value()?, "us")?),
            _ => {
                let next = parser.raw_args().ok().and_then(|mut rest| rest.next());
                let next = next.map_or_else(String::new, |next| format!(" {}", next.display()));
                return Err((2, format!("found {word}{next}, {EXPECTED}")));
            }
        }
    }
    request.text = std::fs::read_to_string(file).map_err(|e| (2, format!("{file}: {e}")))?;
    let (text, code) = live(&request).map_err(|why| match why {
        ApiError::Scenario(why) => (2, why.to_string()),
        ApiError::Input(why) => (2, why),
        ApiError::Run(why) => (1, why),
    })?;
    println!("{text}");
    Ok(code)
}
