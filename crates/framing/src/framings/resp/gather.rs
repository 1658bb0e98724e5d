//! One answer of those of several servers.

use bytes::Bytes;

use crate::gather::{Gather, Rule};
use crate::request::Expect;
use crate::scan::{AnswerScanner, Step};

use super::answer;
use super::value::error;

/// Answers that are joined by this rule.
pub fn gather(rule: Rule) -> Gather {
    Gather::new(rule, join)
}

/// The first error counts, in the order of the parts.
fn join(rule: &Rule, answers: &[Bytes]) -> Bytes {
    if let Some(error) = answers.iter().find(|answer| is_error(answer)) {
        return error.clone();
    }
    let joined = match rule {
        Rule::Same => answers.first().cloned(),
        Rule::Sum => sum(answers),
        Rule::Each(owners) => each(owners, answers),
        Rule::Least => least(answers),
        Rule::Last => answers.first().and_then(last),
    };
    joined.unwrap_or_else(|| error("ERR the answers of the servers do not fit together"))
}

fn is_error(value: &[u8]) -> bool {
    value.starts_with(b"-") || value.starts_with(b"!")
}

fn integer(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b":")?.strip_suffix(b"\r\n")?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn sum(answers: &[Bytes]) -> Option<Bytes> {
    let mut sum = 0i64;
    for answer in answers {
        sum = sum.checked_add(integer(answer)?)?;
    }
    Some(format!(":{sum}\r\n").into())
}

/// The list with the next element of the part of each key.
fn each(owners: &[u32], answers: &[Bytes]) -> Option<Bytes> {
    let mut lists: Vec<_> = Vec::with_capacity(answers.len());
    for answer in answers {
        lists.push(elements(answer)?.into_iter());
    }
    let mut out = format!("*{}\r\n", owners.len()).into_bytes();
    for owner in owners {
        out.extend_from_slice(&lists.get_mut(*owner as usize)?.next()?);
    }
    let is_even = lists.iter().all(|list| list.len() == 0);
    is_even.then(|| out.into())
}

fn least(answers: &[Bytes]) -> Option<Bytes> {
    let mut least: Option<Vec<i64>> = None;
    for answer in answers {
        let list = elements(answer)?;
        let list: Option<Vec<i64>> = list.iter().map(|element| integer(element)).collect();
        let list = list?;
        least = Some(match least {
            None => list,
            Some(known) if known.len() == list.len() => {
                known.into_iter().zip(list).map(|(one, other)| one.min(other)).collect()
            }
            Some(_) => return None,
        });
    }
    let least = least?;
    let mut out = format!("*{}\r\n", least.len());
    least.iter().for_each(|number| out += &format!(":{number}\r\n"));
    Some(out.into())
}

/// The last of the values, which is that of `EXEC`. Its error gets the reason that the server gave
/// when it queued the commands.
fn last(values: &Bytes) -> Option<Bytes> {
    let values = split(values)?;
    let last = values.last()?;
    let is_aborted = last.starts_with(super::transaction::ABORTED);
    match values[..values.len() - 1].iter().find(|value| is_error(value)) {
        Some(reason) if is_aborted && reason.starts_with(b"-") => {
            let reason = String::from_utf8_lossy(&reason[1..]);
            let text = format!("EXECABORT Transaction discarded because of: {}", reason.trim_end());
            Some(error(&text))
        }
        _ => Some(last.clone()),
    }
}

/// The elements of a list.
fn elements(list: &Bytes) -> Option<Vec<Bytes>> {
    let header = list.iter().position(|byte| *byte == b'\n')? + 1;
    list.starts_with(b"*").then(|| split(&list.slice(header..))).flatten()
}

/// Values that stand behind each other.
fn split(values: &Bytes) -> Option<Vec<Bytes>> {
    let mut rest = values.clone();
    let mut found = Vec::new();
    while !rest.is_empty() {
        match answer::Scanner::default().scan(Expect::ORDINARY, &rest) {
            Ok(Step::Done(cut)) => found.push(rest.split_to(cut.length)),
            _ => return None,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer to a request whose parts have these.
    fn joined(rule: Rule, answers: &[&'static str]) -> String {
        let mut gather = gather(rule);
        gather.expect(answers.len());
        // The last part answers first.
        for (part, answer) in answers.iter().enumerate().rev() {
            assert_eq!(gather.take(), None);
            gather.put(part as u32, Bytes::from_static(answer.as_bytes()));
        }
        String::from_utf8(gather.take().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn answers_of_parts_become_one() {
        let each = Rule::Each([1, 0, 1, 0].into());
        for (rule, answers, expected) in [
            (Rule::Same, &["+OK\r\n", "+OK\r\n"][..], "+OK\r\n"),
            (Rule::Sum, &[":3\r\n", ":0\r\n", ":-1\r\n"], ":2\r\n"),
            (
                each.clone(),
                &["*2\r\n$1\r\nb\r\n$-1\r\n", "*2\r\n$2\r\n\r\n\r\n_\r\n"],
                "*4\r\n$2\r\n\r\n\r\n$1\r\nb\r\n_\r\n$-1\r\n",
            ),
            (Rule::Least, &["*2\r\n:1\r\n:1\r\n", "*2\r\n:1\r\n:0\r\n"], "*2\r\n:1\r\n:0\r\n"),
            (Rule::Last, &["+OK\r\n+QUEUED\r\n*1\r\n:1\r\n"], "*1\r\n:1\r\n"),
        ] {
            assert_eq!(joined(rule.clone(), answers), expected, "{rule:?}");
        }
    }

    #[test]
    fn the_first_error_is_that_of_the_request() {
        for rule in [Rule::Same, Rule::Sum, Rule::Least, Rule::Each([0, 1].into())] {
            let answers = [":1\r\n", "-ERR one\r\n", "-ERR two\r\n"];
            assert_eq!(joined(rule, &answers), "-ERR one\r\n");
        }
    }

    #[test]
    fn an_aborted_transaction_has_its_reason() {
        for (values, expected) in [
            (
                "+OK\r\n+QUEUED\r\n-ERR syntax\r\n-EXECABORT Transaction discarded\r\n",
                "-EXECABORT Transaction discarded because of: ERR syntax\r\n",
            ),
            ("+OK\r\n-EXECABORT because of: x\r\n", "-EXECABORT because of: x\r\n"),
        ] {
            assert_eq!(joined(Rule::Last, &[values]), expected);
        }
    }

    #[test]
    fn answers_that_do_not_fit_are_an_error() {
        let each = Rule::Each([0, 1].into());
        for (rule, answers) in [
            (Rule::Sum, &[":1\r\n", "+OK\r\n"][..]),
            (Rule::Sum, &[":9223372036854775807\r\n", ":1\r\n"]),
            (each.clone(), &["*1\r\n:1\r\n", "*0\r\n"]),
            (each.clone(), &["*1\r\n:1\r\n", "*2\r\n:1\r\n:2\r\n"]),
            (each, &["*1\r\n:1\r\n", ":1\r\n"]),
            (Rule::Least, &["*1\r\n:1\r\n", "*0\r\n"]),
            (Rule::Least, &["*1\r\n+a\r\n", "*1\r\n:1\r\n"]),
            (Rule::Last, &["*1\r\n"]),
        ] {
            let answer = joined(rule.clone(), answers);
            assert!(answer.starts_with("-ERR the answers"), "{rule:?}: {answer}");
        }
    }
}
