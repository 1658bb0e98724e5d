//! The text of a file, and the mistakes in it.

use std::cell::RefCell;
use std::ops::Range;

use super::problem::Problem;

/// The text of the file, and its mistakes as they are found.
#[derive(Debug)]
pub(super) struct Source<'a> {
    text: &'a str,
    found: RefCell<Vec<(usize, Problem)>>,
}

impl<'a> Source<'a> {
    /// A text without mistakes so far.
    pub(super) fn new(text: &'a str) -> Source<'a> {
        Source { text, found: RefCell::default() }
    }

    /// Notes a mistake at these bytes of the text.
    pub(super) fn note(
        &self,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        let (message, help) = (message.into(), help.into());
        let problem = Problem { place: Some((line, column)), message, help };
        self.found.borrow_mut().push((span.start, problem));
    }

    /// The mistakes, in the order of the file.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(start, _)| *start);
        found.into_iter().map(|(_, problem)| problem).collect()
    }
}
