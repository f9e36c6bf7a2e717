//! The declaration of what may stand as a kind alone or as a table. Tables of keys are structs with `#[derive(Section)]`.

/// Declares what may stand as a kind alone or as a table of a `kind` and options: for each kind its meaning, name, title, and what its options
/// begin with; a kind without that has none.
macro_rules! kinds {
    (
        $(#[doc = $head:literal])+
        $vis:vis struct $name:ident: $options:ty => $params:ty {
            $( $(#[doc = $about:literal])+ $kind:literal: $title:literal $(= $base:expr)? ),* $(,)?
        }
    ) => {
        $(#[doc = $head])+
        #[derive(Clone, Debug)]
        $vis struct $name {
            /// Which.
            $vis kind: &'static str,
            /// What was written beside it.
            $vis options: $options,
        }

        impl $name {
            /// What the options of a kind begin with; none of a kind without options.
            $vis fn base(kind: &str) -> Option<$params> {
                match kind {
                    $($kind => { let base: &[fn() -> $params] = &[$(|| $base)?]; base.first().map(|base| base()) })*
                    _ => unreachable!("{kind} is none of these kinds"),
                }
            }

            /// Its kind's, with what was written.
            #[allow(dead_code, reason = "where keys depend on each other, `resolve` does it")]
            $vis fn params(&self) -> Option<$params> {
                let mut params = Self::base(self.kind)?;
                $crate::scenario::spec::Onto::onto(&self.options, &mut params);
                Some(params)
            }
        }

        impl $crate::scenario::spec::Domain for $name {
            type Value = Self;
            const FORM: $crate::scenario::contract::Form = $crate::scenario::contract::Form::Kinds {
                shapes: &[$({
                    static SHAPE: $crate::scenario::contract::Shape = $crate::scenario::contract::Shape {
                        title: $title,
                        about: concat!($($about),+).trim_ascii_start(),
                        groups: &[
                            &[$crate::scenario::contract::Key::tag("kind", $kind)],
                            kinds!(@keys $options $(, $base)?),
                        ],
                    };
                    &SHAPE
                }),*],
                bare: true,
            };

            fn read(field: &$crate::scenario::reader::Field<'_>) -> Result<Self, $crate::scenario::error::Fault> {
                let (kind, section) = field.kind()?;
                let mut options = <$options>::default();
                if let Some(mut section) = section {
                    if Self::base(kind).is_some() {
                        options = $crate::scenario::spec::Section::read(&mut section)?;
                    }
                    section.finish()?;
                }
                Ok(Self { kind, options })
            }

            fn written(value: &Self) -> $crate::scenario::document::Value {
                let mut table = $crate::scenario::document::Table::default();
                table.0.push(("kind".to_owned(), $crate::scenario::spec::name(value.kind)));
                $crate::scenario::spec::Section::written(&value.options, &mut table);
                $crate::scenario::document::Value::Table(table)
            }
        }
    };
    (@keys $options:ty) => { &[] };
    (@keys $options:ty, $base:expr) => { <$options as $crate::scenario::spec::Section>::KEYS };
}
