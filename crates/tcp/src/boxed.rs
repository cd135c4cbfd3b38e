//! A law whose state is far larger than those of the other laws.

use std::ops::Deref;

use crate::window::Window;

/// A law's state in a box, which can be read, and the window, at the place where all laws have it
/// ([`Params::Law`](crate::cc::Params::Law)).
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Boxed<S> {
    pub window: Window,
    inner: Box<S>,
}

impl<S: AsMut<Window>> Boxed<S> {
    pub fn new(mut state: S) -> Boxed<S> {
        Boxed { window: *state.as_mut(), inner: Box::new(state) }
    }

    /// Calls `change` with the state, whose own window is that of the law, and may become another.
    #[inline(always)]
    pub fn change<T>(&mut self, change: impl FnOnce(&mut S) -> T) -> T {
        *self.inner.as_mut().as_mut() = self.window;
        let changed = change(&mut self.inner);
        self.window = *self.inner.as_mut().as_mut();
        changed
    }
}

impl<S> Deref for Boxed<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.inner
    }
}

/// Tests change what they need.
#[cfg(test)]
impl<S> std::ops::DerefMut for Boxed<S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.inner
    }
}
