//! Traces of a link's rate, of either kind.

use crate::cooked::{self, RateTrace};
use crate::mahimahi::{self, LinkTrace};
use crate::rows::rows;
use crate::{InputError, Note};

/// A trace of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trace {
    /// Instants at which packets may pass, from Mahimahi.
    Opportunities(LinkTrace),
    /// A rate over time.
    Rates(RateTrace),
}

/// Reads a trace: one with a single column as Mahimahi's, any other as times and rates.
///
/// # Errors
/// When the reader of its kind refuses the text.
pub fn parse(file: &str, text: &str, notes: &mut Vec<Note>) -> Result<Trace, InputError> {
    let first = rows(file, text).next();
    if first.is_some_and(|row| row.fields.len() > 1 || row.text.contains(';')) {
        return cooked::parse(file, text, notes).map(Trace::Rates);
    }
    mahimahi::parse(file, text).map(Trace::Opportunities)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_of_two_columns_is_one_of_rates() {
        let is_rates =
            |text: &str| matches!(parse("x", text, &mut Vec::new()), Ok(Trace::Rates(_)));
        for text in
            ["0,3.5\n1,4\n", "0 3.5\n", "# a\n\n0\t3\n", "time,bw\n0,1\n", "0 , 3\n", "0;3\n"]
        {
            assert!(is_rates(text), "{text:?}");
        }
        for text in ["1\n2\n", "1.0\n", "5,\n"] {
            assert!(!is_rates(text), "{text:?}");
        }
    }
}
