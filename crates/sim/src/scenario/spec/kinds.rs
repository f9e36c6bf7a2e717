//! Declaration of values with a kind, given as a plain name or as a table with `kind` and options.

/// Declares a choice of kinds. Each has a description, a name, a title in the reference, and either default
/// options (`= base`), fixed parameters (`=> params`), or neither. `needs` is the expectation in the error
/// for a kind without its required options.
macro_rules! kinds {
    (
        $(#[doc = $head:literal])+
        $vis:vis struct $name:ident: $options:ty => $params:ty {
            $( $(#[doc = $about:literal])+ $kind:literal $(needs $words:literal)?: $title:literal $(= $base:expr)? $(=> $fixed:expr)? ),* $(,)?
        }
    ) => {
        $(#[doc = $head])+
        #[derive(Clone, Debug)]
        $vis struct $name {
            /// Name of the kind.
            $vis kind: &'static str,
            /// Options in the same table.
            $vis options: $options,
        }

        impl $name {
            /// Returns a kind's parameters without options; `None` for a kind without parameters.
            pub(in $crate::scenario) fn base(kind: &str) -> Option<$params> {
                match kind {
                    $($kind => {
                        let base: &[fn() -> $params] = &[$(|| $base)? $(|| $fixed)?];
                        base.first().map(|base| base())
                    })*
                    _ => unreachable!("{kind} is not declared"),
                }
            }

            /// Returns the kind's parameters with the options applied.
            #[allow(dead_code, reason = "`resolve` does it if keys depend on each other")]
            pub(in $crate::scenario) fn params(&self) -> Option<$params> {
                let mut params = Self::base(self.kind)?;
                $crate::scenario::spec::Assign::assign(&self.options, &mut params);
                Some(params)
            }
        }

        impl $crate::scenario::spec::Domain for $name {
            type Value = Self;
            const TYPE: $crate::scenario::description::ValueType = $crate::scenario::description::ValueType::Kinds {
                shapes: &[$({
                    static SCHEMA: $crate::scenario::description::TableSchema = $crate::scenario::description::TableSchema {
                        title: $title,
                        about: concat!($($about),+).trim_ascii_start(),
                        groups: &[
                            &[$crate::scenario::description::Key::tag("kind", $kind)],
                            kinds!(@keys $options $(, $base)?),
                        ],
                    };
                    &SCHEMA
                }),*],
                bare: true,
            };

            fn read(
                field: &$crate::scenario::reader::Field<'_>,
                faults: &mut $crate::scenario::error::Diagnostics,
            ) -> Result<Self, $crate::scenario::error::Diagnostic> {
                let (kind, section) = field.kind()?;
                let mut options = <$options>::default();
                if let Some(mut section) = section {
                    if Self::base(kind).is_some() {
                        options = $crate::scenario::spec::Section::read(&mut section, faults);
                    }
                    faults.unless(section.finish());
                } else {
                    let needs: &[&str] = match kind {
                        $($kind => &[$($words)?],)*
                        _ => &[],
                    };
                    if let [words] = needs {
                        return Err(field.wrong(*words));
                    }
                }
                Ok(Self { kind, options })
            }

            fn written(value: &Self) -> $crate::scenario::document::Value {
                $crate::scenario::spec::setting(value.kind, &value.options).into_value()
            }
        }

        impl ::core::convert::From<$name> for $crate::scenario::builder::Setting {
            fn from(own: $name) -> Self {
                $crate::scenario::spec::setting(own.kind, &own.options)
            }
        }
    };
    (@keys $options:ty) => { &[] };
    (@keys $options:ty, $base:expr) => { <$options as $crate::scenario::spec::Section>::KEYS };
}
