use super::*;

fn says(text: &str) -> String {
    Budget::read(text, "b.toml").expect_err("a mistake").to_string()
}

#[test]
fn errors_have_their_line() {
    for (text, found) in [
        ("seeds = 3\n", "b.toml:1: missing field `path`"),
        ("path = {}\n", "b.toml:1: path: found none"),
        ("seeds = 0\npath.vdsl-40-10.x.at_most = 1\n", "b.toml:1: seeds: found 0, expected 1 to 1000"),
        ("\n[path.home]\nx.at_most = 1\n", "b.toml:2: path.home: found no path \"home\""),
        ("[path.vdsl-40-10]\n", "b.toml:1: path.vdsl-40-10: found no limit"),
        (
            "[path.vdsl-40-10]\nx = {}\n",
            "b.toml:2: path.vdsl-40-10.x: found {}, expected { at_least = NUMBER } or { at_most = NUMBER }",
        ),
        ("[path.vdsl-40-10]\n\nx.at_most = nan\n", "b.toml:3: path.vdsl-40-10.x: found"),
        (
            "[path.vdsl-40-10]\ny.at_most = 1\nx.at_mst = 1\n",
            "b.toml:3: path.vdsl-40-10.x: found { at_mst = 1 }, expected { at_least",
        ),
        ("[path.vdsl-40-10]\ndelay = 3\n", "b.toml:2: path.vdsl-40-10.delay: found 3, expected { at_least"),
        (
            "[path.p]\nx.at_most = 1\npreset = 3\n",
            "b.toml:3: path.p.preset: found 3, expected the name of a preset",
        ),
        (
            "[path.p]\nx.at_most = 1\nscenario = [\"a.toml\"]\n",
            "b.toml:3: path.p.scenario: found [\"a.toml\"], expected the path of a scenario file",
        ),
        (
            "[path.p]\nx.at_most = 1\nset = { \"link.wan.delay\" = 3 }\n",
            "b.toml:3: path.p.set: found { \"link.wan.delay\" = 3 }, expected a table",
        ),
        (
            "\n[path.p]\nx.at_most = 1\nscenario = \"none.toml\"\n",
            "b.toml:4: path.p.scenario: found \"none.toml\", which cannot be read, expected a scenario file at none.toml",
        ),
        (
            "[path.p]\nx.at_most = 1\nscenario = \"a.toml\"\npreset = \"vdsl-40-10\"\n",
            "b.toml:3: path.p.scenario: found both preset and scenario",
        ),
        (
            "[path.p]\npreset = \"vdsl-40-10\"\nrival = \"cubik\"\nx.at_most = 1\n",
            "b.toml:3: path.p.rival: vdsl-40-10:",
        ),
        (
            "[path.p]\npreset = \"vdsl-40-10\"\nx.at_most = 1\nset = { \"link.wan.dely\" = \"3 ms\" }\n",
            "b.toml:4: path.p.set: ",
        ),
        ("[path.p]\nx.at_most = 1\npreset = \"vdsl\"\n", "b.toml:3: path.p.preset: found no path \"vdsl\""),
        ("sedes = 1\n", "b.toml:1: unknown field `sedes`"),
    ] {
        assert!(says(text).starts_with(found), "{}", says(text));
    }
}

#[test]
fn a_scenario_file_is_found_from_the_folder_of_the_budget() {
    let folder = std::env::temp_dir().join(format!("stillair-budget-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("nets")).expect("a folder");
    let mine = "name = \"mine\"\nduration = \"20 s\"\n\
        link.l = { kind = \"access\", rate = \"20 Mbit/s\", buffer = \"256 KiB\", delay = \"10 ms\", cpe = \"client\" }\n\
        node.server = { profile = \"linux-6.12\", host = \"external\", interface.eth0.link = \"l\" }\n\
        node.client = { profile = \"linux-6.12\", host = \"external\", interface.eth0.link = \"l\" }\n";
    std::fs::write(folder.join("nets/mine.toml"), mine).expect("a file");
    std::fs::write(folder.join("nets/wrong.toml"), mine.replace("20 Mbit", "20 Mbyte")).expect("a file");
    let file = folder.join("own.toml").display().to_string();
    let text = |name: &str| {
        format!(
            "seeds = 2\n[path.mine]\nscenario = \"nets/{name}.toml\"\nset = {{ \"link.l.delay\" = \"30 ms\" }}\ndelay_p99_ms = {{ at_most = 100 }}\n"
        )
    };
    let budget = Budget::read(&text("mine"), &file).expect("a budget");
    let case = budget.case("mine", 1).expect("a case");
    assert_eq!(case.on.scenario().name, "mine");
    assert_eq!(case.link().expect("a link").path().endpoints().collect::<Vec<_>>(), ["server", "client"]);
    let says = Budget::read(&text("wrong"), &file).expect_err("a mistake").to_string();
    assert!(
        says.starts_with(&format!("{file}:3: path.mine.scenario: "))
            && says.contains("wrong.toml:3: link.l.rate"),
        "{says}"
    );
    std::fs::remove_dir_all(folder).expect("the folder");
}

#[test]
fn a_rival_is_a_flow_appended_to_the_preset() {
    let text = "seeds = 2\n[path.p]\npreset = \"vdsl-40-10\"\nrival = \"cubic\"\nset = { \"link.wan.delay\" = \"20 ms\" }\nx.at_most = 1\n";
    let budget = Budget::read(text, "b.toml").expect("a budget");
    let cases: Vec<_> = budget.cases().map(|case| (case.path.clone(), case.seed)).collect();
    assert_eq!(cases, [("p".to_owned(), 1), ("p".to_owned(), 2)]);
    let case = budget.case("p", 7).expect("a case");
    assert_eq!((case.seed, case.on.scenario().flows.len()), (7, 1));
    assert!(budget.case("q", 1).is_err());
}
