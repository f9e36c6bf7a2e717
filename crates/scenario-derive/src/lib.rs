//! `#[derive(Section)]` declares a table of scenario keys from a struct.
//!
//! Each field is a key. Its doc comment is the description in the reference and the JSON Schema, its type
//! determines the accepted values, and its `#[key(...)]` attribute maps it to the parameter of the engine.
//! The reader, the description, the default, the resolved scenario and the setters of the builder are
//! generated. `stillair_sim::scenario::spec` has the traits and an example.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Fields, Ident, Lit, LitStr, Meta, Result, Token,
};

/// Declares a table of keys; see the crate documentation.
///
/// `#[section(params = TYPE, base = EXPR)]` names the engine's parameters and their defaults (without `base`,
/// each key describes its default in words). `kind = "NAME"` makes the table a value of the builder, and
/// `role = "NAME"` does the same for tables that this key distinguishes. `title = "TITLE"` gives the table an
/// entry in the reference and the schema, described by the struct's doc comment; its keys are the `kind`, if
/// any, those of the section `common = TYPE`, and its own. `expected = "A TABLE WITH ..."` is used in errors.
///
/// `#[key(...)]` accepts:
///
/// - `to = FIELD`: the engine's field that the key sets; its value in `base` is the default shown in the
///   reference;
/// - `or = "WORDS"`: description of a default that depends on other keys;
/// - `default = "TEXT"`: a default without a field;
/// - `need = "EXPECTED"`: the key is required, with the expectation to show if it is missing;
/// - `shown = "TABLE.NAME"`: the name in the resolved scenario, without the unit, if it differs from the
///   key's;
/// - `group`: the field is a table whose keys are keys of this table, with their own defaults;
/// - `quiet`: the resolved scenario omits the default;
/// - `hidden`: the resolved scenario omits the key.
#[proc_macro_derive(Section, attributes(section, key))]
pub fn section(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    table(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Arguments of `#[section(...)]`.
#[derive(Default)]
struct Table {
    params: Option<TokenStream>,
    base: Option<TokenStream>,
    kind: Option<LitStr>,
    role: Option<LitStr>,
    title: Option<LitStr>,
    expected: Option<LitStr>,
    common: Option<TokenStream>,
}

/// Arguments of `#[key(...)]`.
#[derive(Default)]
struct Row {
    to: Option<TokenStream>,
    or: Option<LitStr>,
    default: Option<LitStr>,
    need: Option<LitStr>,
    shown: Option<LitStr>,
    quiet: bool,
    group: bool,
    hidden: bool,
}

/// Returns the tokens up to the next comma.
fn value(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut all = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        all.extend([input.parse::<proc_macro2::TokenTree>()?]);
    }
    Ok(all)
}

impl Parse for Table {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut table = Self::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match name.to_string().as_str() {
                "params" => table.params = Some(value(input)?),
                "base" => table.base = Some(value(input)?),
                "kind" => table.kind = Some(input.parse()?),
                "role" => table.role = Some(input.parse()?),
                "title" => table.title = Some(input.parse()?),
                "expected" => table.expected = Some(input.parse()?),
                "common" => table.common = Some(value(input)?),
                _ => {
                    let known = "expected `params`, `base`, `kind`, `role`, `title`, `expected` or `common`";
                    return Err(Error::new(name.span(), known));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(table)
    }
}

impl Parse for Row {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut row = Self::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            if name == "quiet" {
                row.quiet = true;
            } else if name == "group" {
                row.group = true;
            } else if name == "hidden" {
                row.hidden = true;
            } else {
                input.parse::<Token![=]>()?;
                match name.to_string().as_str() {
                    "to" => row.to = Some(value(input)?),
                    "or" => row.or = Some(input.parse()?),
                    "default" => row.default = Some(input.parse()?),
                    "need" => row.need = Some(input.parse()?),
                    "shown" => row.shown = Some(input.parse()?),
                    _ => {
                        let known =
                            "expected `to`, `or`, `default`, `need`, `shown`, `quiet`, `hidden` or `group`";
                        return Err(Error::new(name.span(), known));
                    }
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(row)
    }
}

/// Returns the doc comment as one line.
fn doc(attributes: &[Attribute], at: Span) -> Result<String> {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    match lines.concat().trim() {
        "" => Err(Error::new(
            at,
            "a doc comment is required: it is the description in the reference and the schema",
        )),
        text => Ok(text.to_owned()),
    }
}

fn table(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let own = input.attrs.iter().find(|a| a.path().is_ident("section"));
    let own = own.map(Attribute::parse_args::<Table>).transpose()?.unwrap_or_default();
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(named) => &named.named,
            _ => return Err(Error::new(name.span(), "a table has named keys")),
        },
        _ => return Err(Error::new(name.span(), "a table is a struct")),
    };
    let spec = quote!(crate::scenario::spec);
    let scenario = quote!(crate::scenario);
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let (mut rows, mut reads, mut writes, mut places, mut assigns, mut exports, mut setters) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for field in fields {
        let key = field.ident.as_ref().expect("it is named");
        let (ty, text) = (&field.ty, key.to_string());
        let about = doc(&field.attrs, key.span())?;
        let row = field.attrs.iter().find(|a| a.path().is_ident("key"));
        let row = row.map(Attribute::parse_args::<Row>).transpose()?.unwrap_or_default();
        let need = row.need.as_ref().map_or(quote!(None), |words| quote!(Some(#words)));
        let absent = match (&row.or, &row.default, &row.need, &row.to) {
            (None, None, None, _) if row.group => quote!(<#ty as #spec::Section>::KEYS[0].absent),
            (Some(words), None, None, _) => quote!(#scenario::description::DefaultValue::Words(#words)),
            (None, Some(text), None, _) => quote!(#scenario::description::DefaultValue::Literal(#text)),
            (None, None, Some(_), _) => quote!(#scenario::description::DefaultValue::Required),
            (None, None, None, Some(to)) => {
                quote_spanned!(ty.span()=> #scenario::description::DefaultValue::Computed(|| <#ty as #spec::DefaultText<_>>::text(&Self::base().#to)))
            }
            (None, None, None, None) => {
                return Err(Error::new(
                    ty.span(),
                    "a key needs a default: `to = field`, or one of `or`, `default` and `need`",
                ));
            }
            _ => return Err(Error::new(key.span(), "one of `or`, `default` and `need`")),
        };
        rows.push(quote!(#spec::row::<#ty>(#text, #absent, #about)));
        reads.push(quote!(#key: <#ty as #spec::Member>::read(section, #text, #need, faults)));
        writes.push(quote!(#spec::Member::written(&self.#key, #text, out);));
        places.push(quote!(#spec::Member::places(&self.#key, out);));
        setters.push(quote! {
            #[doc = #about]
            pub fn #key(mut self, value: <#ty as #spec::Member>::Value) -> Self {
                self.#key = <#ty as #spec::Member>::built(value);
                self
            }
        });
        if let Some(to) = &row.to {
            assigns.push(quote_spanned!(ty.span()=> #spec::Assign::assign(&self.#key, &mut params.#to);));
            let shown = row.shown.map_or(text, |shown| shown.value());
            let export =
                quote_spanned!(ty.span()=> <#ty as #spec::Export<_>>::export(#shown, &params.#to, out););
            match (row.hidden, row.quiet) {
                (true, _) => {}
                (false, true) => exports.push(quote!(if params.#to != Self::base().#to { #export })),
                (false, false) => exports.push(export),
            }
        }
    }
    let base = own.base.as_ref().zip(own.params.as_ref()).map(|(base, params)| {
        quote! {
            impl #name {
                /// Returns the engine's defaults.
                #[allow(dead_code, reason = "kinds have bases of their own")]
                pub(in crate::scenario) fn base() -> #params {
                    #base
                }

                /// Returns the engine's defaults with the keys applied.
                #[allow(dead_code, reason = "other tables need defaults that depend on more")]
                pub(in crate::scenario) fn applied(&self) -> #params {
                    let mut params = Self::base();
                    #spec::Assign::assign(self, &mut params);
                    params
                }
            }
        }
    });
    let of_params = match (&own.params, &own.base) {
        (Some(params), _) => quote! {
            #base

            impl #spec::Assign<#params> for #name {
                fn assign(&self, params: &mut #params) {
                    #(#assigns)*
                }
            }

            impl #spec::Export<#params> for #name {
                fn export(_: &str, params: &#params, out: &mut #spec::Object) {
                    #(#exports)*
                }
            }

            impl #spec::DefaultText<#params> for #name {
                fn text(_: &#params) -> String {
                    unreachable!("each key of a group has a default of its own")
                }
            }
        },
        (None, None) => TokenStream::new(),
        (None, Some(_)) => return Err(Error::new(name.span(), "`base` needs `params`")),
    };
    let of_kind = own.kind.as_ref().map(|kind| {
        quote! {
            impl ::core::convert::From<#name> for #scenario::builder::Setting {
                fn from(own: #name) -> Self {
                    #spec::setting(#kind, &own)
                }
            }
        }
    });
    let of_title = own.title.as_ref().map(|title| {
        let about = doc(&input.attrs, name.span())?;
        let kind = own.kind.as_ref().map(|kind| ("kind", kind));
        let tag = kind.or(own.role.as_ref().map(|role| ("role", role)));
        let tag = tag.map(|(key, value)| quote!(&[#scenario::description::Key::tag(#key, #value)],));
        let common = own.common.as_ref().map(|common| quote!(<#common as #spec::Section>::KEYS,));
        let expected = own.expected.as_ref().map_or_else(|| "a table".to_owned(), LitStr::value);
        Ok::<_, Error>(quote! {
            impl #spec::Titled for #name {
                const EXPECTED: &'static str = #expected;
                const SCHEMA: &'static #scenario::description::TableSchema = {
                    static SCHEMA: #scenario::description::TableSchema = #scenario::description::TableSchema {
                        title: #title,
                        about: #about,
                        groups: &[#tag #common <#name as #spec::Section>::KEYS],
                    };
                    &SCHEMA
                };
            }
        })
    });
    let of_title = of_title.transpose()?;
    Ok(quote! {
        #of_params
        #of_kind
        #of_title

        impl #name {
            #(#setters)*
        }

        #[allow(unused_variables, reason = "a table may have no key but its kind")]
        impl #spec::Section for #name {
            const ROWS: &'static [#spec::Row] = &[#(#rows),*];
            const COUNT: usize = 0 #(+ <#types as #spec::Member>::COUNT)*;
            const KEYS: &'static [#scenario::description::Key] = &#spec::keys::<{ Self::COUNT }>(Self::ROWS);

            fn read(
                section: &mut #scenario::reader::Section<'_>,
                faults: &mut #scenario::error::Diagnostics,
            ) -> Self {
                Self { #(#reads),* }
            }

            fn written(&self, out: &mut #scenario::document::Table) {
                #(#writes)*
            }

            fn places<'k>(&'k self, out: &mut Vec<&'k #spec::Place>) {
                #(#places)*
            }
        }
    })
}
