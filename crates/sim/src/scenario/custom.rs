//! Reads options of user-defined parts by their declared keys.

use stillair_model::types::PartFactory;

use super::description::ValueType;
use super::error::Diagnostic;
use super::parts::{Key, Options, Part, Refusal, Setting, Trial};
use super::reader::{Field, Section};

/// Returns the options of a part with these keys; options missing from the table get their defaults.
pub(super) fn options(
    mut section: Option<&mut Section<'_>>,
    keys: &'static [Key],
) -> Result<Options, Diagnostic> {
    let one = |key: &'static Key| {
        let given = section.as_mut().and_then(|section| section.get(key.name()));
        Ok((key.name(), given.map_or_else(|| Ok(key.default_setting()), |field| setting(&field))?))
    };
    keys.iter().map(one).collect::<Result<Vec<_>, _>>().map(Options)
}

/// Reads a part and its options. `field` is the part's table, or its bare name.
pub(super) fn read<T: ?Sized + 'static, A: Trial + 'static>(
    part: &Part<T, A>,
    field: &Field<'_>,
    mut section: Option<Section<'_>>,
) -> Result<PartFactory<T, A>, Diagnostic> {
    let options = options(section.as_mut(), part.keys)?;
    section.map_or(Ok(()), Section::finish)?;
    with(part, field, options)
}

/// Creates a part with these options, which were read at `field`.
pub(super) fn with<T: ?Sized + 'static, A: Trial + 'static>(
    part: &Part<T, A>,
    field: &Field<'_>,
    options: Options,
) -> Result<PartFactory<T, A>, Diagnostic> {
    part.with(options).map_err(|Refusal { found, expected }| field.found(found, expected))
}

fn setting(field: &Field<'_>) -> Result<Setting, Diagnostic> {
    Ok(match field.form {
        ValueType::Integer(..) => Setting::Integer(field.value()?),
        ValueType::Number(..) => Setting::Number(field.value()?),
        ValueType::Times { .. } => Setting::Duration(field.value()?),
        ValueType::Rate => Setting::Rate(field.value()?),
        ValueType::Bytes(..) => Setting::Bytes(field.value()?),
        ValueType::Boolean => Setting::Boolean(field.value()?),
        ValueType::Choice(names) => {
            let names: Vec<(&str, &'static str)> = names.iter().map(|&name| (name, name)).collect();
            Setting::Name(field.choice(&names)?)
        }
        other => unreachable!("{other:?} is no form of a part's key"),
    })
}
