//! Runs with guests, without Python:
//! `stillair-uml SCENARIO [--set KEY=VALUE]... [--seed N] [--patience S] [--collect FOLDER]`, the result as
//! JSON.

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
    use stillair_sim::api::ApiError;
    use stillair_uml::run::{Request, run};

    let [file, options @ ..] = words else { return Err((2, "expected SCENARIO".to_owned())) };
    let mut request = Request { file: file.clone(), ..Request::default() };
    for option in options.chunks(2) {
        match option {
            [name, value] if name == "--set" => {
                let (key, value) =
                    value.split_once('=').ok_or((2, format!("found \"{value}\", expected KEY=VALUE")))?;
                request.overrides.push((key.to_owned(), value.to_owned()));
            }
            [name, value] if name == "--seed" => {
                let seed = value
                    .parse()
                    .map_err(|_| (2, format!("--seed: found \"{value}\", expected a number")))?;
                request.seed = Some(seed);
            }
            [name, value] if name == "--patience" => {
                let seconds = value
                    .parse()
                    .map_err(|_| (2, format!("--patience: found \"{value}\", expected seconds")))?;
                request.patience_s = Some(seconds);
            }
            [name, value] if name == "--collect" => request.collect = Some(value.into()),
            other => {
                return Err((
                    2,
                    format!(
                        "found {}, expected --set, --seed, --patience or --collect with a value",
                        other.join(" ")
                    ),
                ));
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
