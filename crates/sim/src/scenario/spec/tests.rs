use stillair_model::node::jitter::Spread;
use stillair_model::qdisc::cake::{CakeParams, Tins};
use stillair_model::vocabulary::Duration;
use stillair_scenario_derive::Section;

use super::super::document::Table;
use super::super::error::Mistakes;
use super::super::{parse, reference, schema};
use super::cake::Cake;
use super::jitter::Options;
use super::{Domain, Section as _};

const SPECIMEN: &str = include_str!("../../../tests/scenario/good.toml");

#[test]
fn the_schema_and_the_reference_are_those_that_are_kept() {
    let kept = include_str!("../../../../../python/stillair/schema/scenario.schema.json");
    assert_eq!(first_difference(&schema(), kept), None);
    assert_eq!(first_difference(&reference(), include_str!("../../../../../docs/scenario.md")), None);
}

#[test]
fn what_setters_build_is_written_and_read_as_the_same() {
    let ms = Duration::from_millis;
    let cake = Cake::default().rtt(ms(40)).tins(Tins::Besteffort).memlimit(1 << 20).nat(false);
    let mut table = Table::default();
    cake.written(&mut table);
    let keys: Vec<&str> = table.0.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["rtt", "tins", "memlimit", "nat"]);
    let text =
        "{ kind = \"cake\", rtt = \"40 ms\", tins = \"besteffort\", memlimit = \"1048576 B\", nat = false }";
    let sets = [("node.server.interface.eth0.qdisc".to_owned(), text.to_owned())];
    let read = parse(SPECIMEN, "good.toml", &sets).expect("it is right");
    let params = CakeParams { target: ms(2), ..cake.params() };
    assert!(format!("{:?}", read.nodes).contains(&format!("{params:?}")), "{params:?}");
}

#[test]
fn defaults_are_written_as_they_are_read() {
    let jitter = Options::default().softirq(Spread::Uniform(Duration::ZERO, Duration::from_micros(50)));
    let mut table = Table::default();
    jitter.written(&mut table);
    assert_eq!(table.0[0].1.value.describe(), "\"uniform 0 us..50 us\"");
}

/// The first lines in which two texts differ.
fn first_difference(a: &str, b: &str) -> Option<[String; 2]> {
    let [mut a, mut b] = [a.lines(), b.lines()];
    loop {
        match (a.next(), b.next()) {
            (None, None) => return None,
            (a, b) if a != b => return Some([a, b].map(|line| line.unwrap_or("the end").to_owned())),
            _ => {}
        }
    }
}

/// Options of a discipline that holds another.
#[derive(Section, Clone, Debug, Default)]
#[section(params = u32, base = 0)]
struct Outer {
    /// what is inside
    #[key(or = "nothing")]
    child: super::Key<Boxed>,
}

kinds! {
    /// A discipline that may hold itself.
    struct Holder: Outer => u32 {
        /// It holds another.
        "outer": "Outer" = 1,
        /// It holds none.
        "leaf": "Leaf",
    }
}

/// What holds itself stands in a box.
struct Boxed;

impl Domain for Boxed {
    type Value = Box<Holder>;
    const FORM: super::Form = super::Form::Later(|| &const { Holder::FORM });

    fn read(field: &super::Field<'_>, faults: &mut Mistakes) -> Result<Box<Holder>, super::Fault> {
        Holder::read(field, faults).map(Box::new)
    }

    fn written(value: &Box<Holder>) -> super::Value {
        Holder::written(value)
    }
}

#[test]
fn a_table_may_hold_itself() {
    let shapes = Holder::FORM.shapes();
    let inner = shapes[0].key("child").expect("it is declared").form.shapes();
    assert_eq!(inner.len(), 2);
    assert!(core::ptr::eq(inner[0], shapes[0]));
}
