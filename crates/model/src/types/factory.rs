//! A user-defined part in a configuration.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

/// A user-defined part: its name, its options, and a function that makes one.
///
/// `T` is the part's trait, such as `dyn AqmAlgorithm`. `A` is the argument of the function; the options are
/// already in `make`.
pub struct PartFactory<T: ?Sized, A = ()> {
    name: Arc<str>,
    options: Arc<str>,
    make: Arc<dyn Fn(A) -> Box<T> + Send + Sync>,
}

impl<T: ?Sized, A> PartFactory<T, A> {
    /// A part with this name. `options` is a text that is equal only for equal options. `make` creates one
    /// part and may be called any number of times.
    pub fn new(name: &str, options: &str, make: impl Fn(A) -> Box<T> + Send + Sync + 'static) -> Self {
        Self { name: name.into(), options: options.into(), make: Arc::new(make) }
    }

    /// Name of the part.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Options of the part, as text.
    pub fn options(&self) -> &str {
        &self.options
    }

    /// Creates a part in its initial state.
    pub fn make(&self, with: A) -> Box<T> {
        (self.make)(with)
    }
}

impl<T: ?Sized, A> Clone for PartFactory<T, A> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), options: self.options.clone(), make: self.make.clone() }
    }
}

/// Parts are equal if name and options are equal.
impl<T: ?Sized, A> PartialEq for PartFactory<T, A> {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.options) == (&other.name, &other.options)
    }
}

impl<T: ?Sized, A> Eq for PartFactory<T, A> {}

impl<T: ?Sized, A> fmt::Debug for PartFactory<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {{ {} }}", self.name, self.options)
    }
}
