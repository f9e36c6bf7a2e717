//! The TOS byte of a flow's packets (`dscp`), and their IP version.

use stillair_model::types::Ip;

use super::super::super::description::ValueType;
use super::super::super::document::Value;
use super::super::super::error::{Diagnostic, Diagnostics};
use super::super::super::reader::Field;
use super::super::Domain;

/// An IP version.
pub struct IpVersion;

impl Domain for IpVersion {
    type Value = Ip;
    const TYPE: ValueType = ValueType::Numbers(&[4, 6]);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Ip, Diagnostic> {
        Ok(if field.value::<u32>()? == 6 { Ip::V6 } else { Ip::V4 })
    }

    fn written(value: &Ip) -> Value {
        Value::Integer(if *value == Ip::V6 { 6 } else { 4 })
    }
}

/// The TOS byte, given as the name or number of a DSCP.
pub struct Dscp;

impl Domain for Dscp {
    type Value = u8;
    const TYPE: ValueType = ValueType::Either(&[
        ValueType::Listed {
            title: "dscp",
            words: "a DSCP by name (`CS0` to `CS7`, `AF11` to `AF43`, `EF`)",
            names,
        },
        ValueType::Integer(0, 63),
    ]);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<u8, Diagnostic> {
        let expected = "a DSCP: \"CS0\" to \"CS7\", \"AF11\" to \"AF43\", \"EF\" or a number from 0 to 63";
        let dscp = match &field.item.value {
            Value::Integer(n @ 0..=63) => Some(*n as u8),
            Value::String(name) => dscp(name),
            _ => None,
        };
        dscp.map(|d| d << 2).ok_or_else(|| field.wrong(expected))
    }

    fn written(value: &u8) -> Value {
        Value::Integer((value >> 2).into())
    }
}

/// Returns the names of all named code points.
fn names() -> Vec<String> {
    let classes = (0..8).map(|class| format!("CS{class}"));
    let assured = (1..=4).flat_map(|class| (1..=3).map(move |drop| format!("AF{class}{drop}")));
    classes.chain(assured).chain(["EF".to_owned()]).collect()
}

// spec: rfc2474 4.2.2.1 - class selectors replace IP precedence; rfc2597 6 - assured forwarding; rfc3246 2.7
// - expedited forwarding.
fn dscp(name: &str) -> Option<u8> {
    match name.as_bytes() {
        b"EF" => Some(46),
        [b'C', b'S', class @ b'0'..=b'7'] => Some((class - b'0') << 3),
        [b'A', b'F', class @ b'1'..=b'4', drop @ b'1'..=b'3'] => {
            Some(((class - b'0') << 3) | ((drop - b'0') << 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: rfc4594 figure 3 - code points of the service classes.
    #[test]
    fn code_points() {
        for (name, point) in [
            ("CS0", Some(0)),
            ("CS1", Some(8)),
            ("CS5", Some(40)),
            ("CS7", Some(56)),
            ("AF11", Some(0b001_010)),
            ("AF23", Some(0b010_110)),
            ("AF41", Some(0b100_010)),
            ("EF", Some(0b101_110)),
            ("AF44", None),
            ("CS8", None),
            ("ef", None),
        ] {
            assert_eq!(dscp(name), point, "{name}");
        }
    }
}
