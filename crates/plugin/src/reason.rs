//! Equations and their quantities.

use std::ffi::{CStr, c_char};
use std::ptr;

use ratewire_laws::{Figure, Reason};

use crate::abi::{self, MAX_FIGURES, State, function};
use crate::part::Part;

const NO_FIGURE: abi::Figure = abi::Figure { name: ptr::null(), value: 0.0, unit: 0 };
const UNNAMED: &str = "?";

/// Text of a table, which stays as long as its object is loaded: to the end of the process.
///
/// # Safety
/// `text` must be null or end with a zero and stay as it is.
pub(crate) unsafe fn text(text: *const c_char) -> Option<&'static str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: as this function's.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// What a part gives as its reason.
pub(crate) fn of_part(part: &Part, explain: function!((State, *mut abi::Reason))) -> Reason {
    let mut reason =
        abi::Reason { equation: ptr::null(), figures: [NO_FIGURE; MAX_FIGURES], count: 0 };
    // SAFETY: function and state are of one table; `reason` is as the header file says.
    part.call(explain, |explain, state| unsafe { explain(state, &mut reason) });
    let used = &reason.figures[..(reason.count as usize).min(MAX_FIGURES)];
    // SAFETY: the header file asks for texts that stay as long as the law is loaded.
    let equation = unsafe { text(reason.equation) }.unwrap_or("the law does not say");
    // SAFETY: as above.
    Reason::new(equation, used.iter().map(|one| unsafe { figure(one) }).collect::<Vec<_>>())
}

/// The fields of a header.
///
/// # Safety
/// `fields` must be of a table, and `header` as long as that table says.
pub(crate) unsafe fn fields(
    fields: function!((*const u8, *mut abi::Figure) -> u32),
    header: &abi::HeaderBytes,
) -> Vec<Figure> {
    let Some(fields) = fields else { return Vec::new() };
    let mut figures = [NO_FIGURE; MAX_FIGURES];
    // SAFETY: as this function's; there is room for as many figures as the header file says.
    let count = unsafe { fields(header.as_ptr(), figures.as_mut_ptr()) } as usize;
    // SAFETY: the header file asks for names that stay as long as the law is loaded.
    figures[..count.min(MAX_FIGURES)].iter().map(|one| unsafe { figure(one) }).collect()
}

/// # Safety
/// The figure's name must be null or stay.
unsafe fn figure(of: &abi::Figure) -> Figure {
    // SAFETY: as this function's.
    let name = unsafe { text(of.name) }.unwrap_or(UNNAMED);
    match of.unit {
        1 => Figure::rate(name, of.value),
        2 => Figure::bytes(name, of.value),
        3 => Figure::seconds(name, of.value),
        4 => Figure::per_second(name, of.value),
        _ => Figure::one(name, of.value),
    }
}
