//! A congestion control as a scenario names it.

use stillair_model::transport::cc::{Cc, CcParams, ControllerFactory, CustomCc};

/// Which congestion control a connection has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CongestionControl {
    /// One that is built in, by its name; its parameters are the kernel's.
    BuiltIn(&'static str),
    /// A user-defined one.
    Custom(ControllerFactory),
}

impl CongestionControl {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn(name) => name,
            Self::Custom(own) => own.name(),
        }
    }

    /// One in its initial state; a kernel's modules have these parameters.
    pub fn make(&self, params: &CcParams) -> Cc {
        match self {
            Self::BuiltIn(name) => Cc::new(name, params).expect("the reader knows it"),
            Self::Custom(own) => Cc::Custom(CustomCc::new(own.name(), own.make(()))),
        }
    }
}
