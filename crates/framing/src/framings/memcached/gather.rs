//! One answer of those of all servers.

use bytes::Bytes;

use crate::gather::{Gather, Rule};

/// Answers of all servers to the same command.
pub fn gather() -> Gather {
    Gather::new(Rule::Same, join)
}

/// The first error counts, and else the first answer.
fn join(_: &Rule, answers: &[Bytes]) -> Bytes {
    let is_error = |answer: &&Bytes| {
        let errors: [&[u8]; 3] = [b"ERROR", b"CLIENT_ERROR", b"SERVER_ERROR"];
        errors.iter().any(|error| answer.starts_with(error))
    };
    answers.iter().find(is_error).or(answers.first()).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_count_before_other_answers() {
        for (answers, expected) in [
            (["OK\r\n", "OK\r\n"], "OK\r\n"),
            (["OK\r\n", "SERVER_ERROR no\r\n"], "SERVER_ERROR no\r\n"),
            (["ERROR\r\n", "CLIENT_ERROR x\r\n"], "ERROR\r\n"),
            (["", ""], ""),
        ] {
            let mut gather = gather();
            gather.expect(2);
            gather.put(1, answers[1].into());
            gather.put(0, answers[0].into());
            assert_eq!(gather.take(), Some(expected.into()), "{answers:?}");
        }
    }
}
