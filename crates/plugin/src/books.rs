//! The law's own books, which tests keep.

use std::ffi::{CStr, c_char};
use std::sync::Arc;

use ratewire_laws::{Books, Reason};
use ratewire_units::Bytes;

use crate::abi::{self, BooksTable, MAX_FIGURES, State};
use crate::part::Part;
use crate::shared::{LawInstance, PluginHeader};

/// Books on one port or one receiver.
#[derive(Debug)]
pub(crate) struct PluginBooks(Part);

type Create = unsafe extern "C" fn(State) -> State;

impl PluginBooks {
    pub(crate) fn new(law: &Arc<LawInstance>, create: Create) -> PluginBooks {
        // SAFETY: the law's state is of the same table.
        let state = unsafe { create(law.state) };
        PluginBooks(Part::new(law, state, law.table.books.destroy, "books"))
    }

    fn table(&self) -> &'static BooksTable {
        &self.0.law.table.books
    }

    /// Asks one of the table's functions.
    fn balance<F>(&self, function: Option<F>, call: impl FnOnce(F, State) -> *const c_char) {
        let Some(wrong) = self.0.call(function, call).filter(|wrong| !wrong.is_null()) else {
            return;
        };
        // SAFETY: the header file asks for texts that stay until the next call.
        panic!("{}", unsafe { CStr::from_ptr(wrong) }.to_string_lossy());
    }
}

/// The values of a port's reason.
fn values(reason: &Reason) -> [f64; MAX_FIGURES] {
    let mut values = [f64::NAN; MAX_FIGURES];
    for (value, figure) in values.iter_mut().zip(&reason.figures) {
        *value = figure.value;
    }
    values
}

impl Books for PluginBooks {
    type Header = PluginHeader;

    fn departed(
        &mut self,
        size: Bytes,
        (was, before): (&PluginHeader, &Reason),
        (is, after): (&PluginHeader, &Reason),
    ) {
        let (before, after) = (values(before), values(after));
        let event = abi::Departure {
            packet: size.get(),
            was: was.0.as_ptr(),
            is: is.0.as_ptr(),
            before: before.as_ptr(),
            after: after.as_ptr(),
        };
        // SAFETY: function and state are of one table; what is pointed to lives during the call.
        self.balance(self.table().departed, |departed, state| unsafe { departed(state, &event) });
    }

    fn timer(&mut self, before: &Reason, after: &Reason) {
        let (before, after) = (values(before), values(after));
        self.balance(self.table().timer, |timer, state| {
            // SAFETY: as above.
            unsafe { timer(state, before.as_ptr(), after.as_ptr()) }
        });
    }

    fn received(&mut self, header: &PluginHeader) {
        self.balance(self.table().received, |received, state| {
            // SAFETY: as above; the header has the longest length.
            unsafe { received(state, header.0.as_ptr()) }
        });
    }

    fn answered(&mut self, header: &PluginHeader) {
        self.balance(self.table().answered, |answered, state| {
            // SAFETY: as for `received`.
            unsafe { answered(state, header.0.as_ptr()) }
        });
    }
}
