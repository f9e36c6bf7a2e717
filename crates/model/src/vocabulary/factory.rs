//! A part that the model was not built with, as a configuration names it.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

/// A part of somebody's own: its name, the options that it was given, and how one is made.
///
/// `T` is the part's trait, such as `dyn Law`; `A` is what making one takes beyond the options, which `make` already holds.
pub struct PartFactory<T: ?Sized, A = ()> {
    name: Arc<str>,
    options: Arc<str>,
    make: Arc<dyn Fn(A) -> Box<T> + Send + Sync>,
}

impl<T: ?Sized, A> PartFactory<T, A> {
    /// A part of that name. `options` is a text that is equal for equal options only; `make` makes one part, any number of times.
    pub fn new(name: &str, options: &str, make: impl Fn(A) -> Box<T> + Send + Sync + 'static) -> Self {
        Self { name: name.into(), options: options.into(), make: Arc::new(make) }
    }

    /// The name by which it was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its options as text.
    pub fn options(&self) -> &str {
        &self.options
    }

    /// Makes one, in its initial state.
    pub fn make(&self, with: A) -> Box<T> {
        (self.make)(with)
    }
}

impl<T: ?Sized, A> Clone for PartFactory<T, A> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), options: self.options.clone(), make: self.make.clone() }
    }
}

/// Equal are parts of one name with the same options.
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
