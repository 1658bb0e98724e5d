//! What sources, ports and sinks of shared objects have in common: a state that the object's code
//! makes, uses and frees.

use std::sync::Arc;

use crate::abi::{State, function};
use crate::shared::LawInstance;

/// The state of one part.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) law: Arc<LawInstance>,
    state: State,
    destroy: function!((State)),
}

// SAFETY: one thread at a time uses a part, and the header file asks for states that do not depend
// on the thread.
unsafe impl Send for Part {}
// SAFETY: what is called through a shared reference takes the state as a pointer to what is const.
unsafe impl Sync for Part {}

impl Drop for Part {
    fn drop(&mut self) {
        if let (Some(destroy), false) = (self.destroy, self.state.is_null()) {
            // SAFETY: `create` beside it made the state, and nothing uses it any more.
            unsafe { destroy(self.state) }
        }
    }
}

impl Part {
    /// A part with the state that `create` of the same table has returned. A state of NULL is a
    /// fault of the law, and [`Part::call`] then calls nothing.
    pub(crate) fn new(
        law: &Arc<LawInstance>,
        state: State,
        destroy: function!((State)),
        whose: &str,
    ) -> Part {
        if state.is_null() {
            law.fault.note(format!("`{whose}.create` returned NULL"));
        }
        Part { law: law.clone(), state, destroy }
    }

    /// Calls a function of the part's table with the state, if there are both.
    #[inline]
    pub(crate) fn call<F, T>(
        &self,
        function: Option<F>,
        call: impl FnOnce(F, State) -> T,
    ) -> Option<T> {
        let function = function.filter(|_| !self.state.is_null())?;
        Some(call(function, self.state))
    }
}
