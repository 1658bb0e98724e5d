//! Properties of the errors of any text at all, for a daemon's fuzz target and its tests.

use super::ConfigError;

/// Checks the error that a text has given.
///
/// # Panics
/// If the error lists no mistake, or a mistake has no place in the text.
pub fn check(text: &str, error: &ConfigError) {
    assert!(!error.problems.is_empty() && !error.to_string().is_empty());
    let lines = text.matches('\n').count() + 1;
    let has_place = |place: Option<(usize, usize)>| {
        place.is_some_and(|(line, column)| (1..=lines).contains(&line) && column > 0)
    };
    assert!(error.problems.iter().all(|problem| has_place(problem.place)), "{error}");
}
