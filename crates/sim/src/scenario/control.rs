//! The congestion control that a scenario names.

use stillair_model::transport::cc::{Cc, CcParams, ControllerFactory, CustomCc};

/// The congestion control of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CongestionControl {
    /// A built-in congestion control, by name, with the kernel's parameters.
    BuiltIn(&'static str),
    /// A user-defined congestion control.
    Custom(ControllerFactory),
}

impl CongestionControl {
    /// Returns the name of the congestion control.
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn(name) => name,
            Self::Custom(own) => own.name(),
        }
    }

    /// Creates the congestion control in its initial state. `params` are the parameters of the kernel's
    /// modules.
    pub fn make(&self, params: &CcParams) -> Cc {
        match self {
            Self::BuiltIn(name) => Cc::new(name, params).expect("the reader knows it"),
            Self::Custom(own) => Cc::Custom(CustomCc::new(own.name(), own.make(()))),
        }
    }
}
