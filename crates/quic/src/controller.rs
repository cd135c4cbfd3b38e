//! A congestion controller of the program that uses this crate.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Makes controllers by the trait `ControllerFactory` of a stack. Two are equal if they are clones of one.
#[derive(Clone)]
pub struct Controller(Arc<dyn Any + Send + Sync>);

impl Controller {
    /// A `factory` whose type is the one that a stack's driver gets.
    #[cfg(any(feature = "noq", feature = "quinn"))]
    pub(crate) fn holding<F: Send + Sync + 'static>(factory: F) -> Controller {
        Controller(Arc::new(factory))
    }

    /// The factory, if it has this type.
    #[cfg(any(feature = "noq", feature = "quinn"))]
    pub(crate) fn get<F: 'static>(&self) -> Option<&F> {
        self.0.downcast_ref()
    }
}

impl PartialEq for Controller {
    fn eq(&self, other: &Controller) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").finish_non_exhaustive()
    }
}
