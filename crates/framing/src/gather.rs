//! The answers of a request's parts, made into one.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

/// How the answers of parts become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// All parts have the same answer.
    Same,
    /// Answers are numbers, which are added.
    Sum,
    /// Answers are lists. The list of all has one element a key, from the part of that key.
    Each(Arc<[u32]>),
    /// Answers are lists of numbers. The list of all has the least of each place.
    Least,
    /// The part's answer is a sequence of values, of which the last is for the client.
    Last,
}

/// Makes one answer of those of all parts, in the order of the parts. There is at least one.
pub(crate) type Join = fn(&Rule, &[Bytes]) -> Bytes;

/// The answers of a request's parts on their way to one answer. They come in any order.
///
/// ```
/// use bytes::BytesMut;
/// use ratewire_framing::{Framing, Requests, Route};
///
/// let mut requests = Requests::new(Framing::named("resp").unwrap(), 1 << 20);
/// let request = requests.next(&mut BytesMut::from("MGET a b\r\n")).unwrap().unwrap();
/// let Route::Split(parts, mut gather) = request.route else { panic!("two keys") };
/// assert_eq!(parts[1].bytes, "*2\r\n$4\r\nMGET\r\n$1\r\nb\r\n");
/// gather.expect(parts.len());
/// gather.put(1, "*1\r\n$1\r\n2\r\n".into());
/// assert_eq!(gather.take(), None);
/// gather.put(0, "*1\r\n$1\r\n1\r\n".into());
/// assert_eq!(gather.take().unwrap(), "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
/// ```
#[derive(Clone)]
pub struct Gather {
    rule: Rule,
    join: Join,
    answers: BTreeMap<u32, Bytes>,
    /// Number of parts, once it is known.
    parts: Option<usize>,
    held: usize,
}

impl Gather {
    pub(crate) fn new(rule: Rule, join: Join) -> Gather {
        Gather { rule, join, answers: BTreeMap::new(), parts: None, held: 0 }
    }

    /// Notes the number of parts, which is at least one. Answers may have come before.
    pub fn expect(&mut self, parts: usize) {
        self.parts = Some(parts);
    }

    /// Bytes of the answers that have come.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Whether the part has no answer yet.
    pub fn awaits(&self, part: u32) -> bool {
        !self.answers.contains_key(&part)
    }

    /// Puts the answer of a part, from 0 on, in its place. A second one changes nothing.
    pub fn put(&mut self, part: u32, answer: Bytes) {
        if self.awaits(part) {
            self.held += answer.len();
            self.answers.insert(part, answer);
        }
    }

    /// The answer for the client, if those of all parts have come.
    pub fn take(&mut self) -> Option<Bytes> {
        if self.answers.is_empty() || self.parts != Some(self.answers.len()) {
            return None;
        }
        self.held = 0;
        let answers: Vec<Bytes> = std::mem::take(&mut self.answers).into_values().collect();
        Some((self.join)(&self.rule, &answers))
    }
}

impl fmt::Debug for Gather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gather({:?}, {:?} of {:?})", self.rule, self.answers, self.parts)
    }
}

impl PartialEq for Gather {
    fn eq(&self, other: &Gather) -> bool {
        let parts = |gather: &Gather| (gather.rule.clone(), gather.answers.clone(), gather.parts);
        parts(self) == parts(other)
    }
}

impl Eq for Gather {}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(_: &Rule, answers: &[Bytes]) -> Bytes {
        answers.concat().into()
    }

    #[test]
    fn answers_may_come_before_their_number_and_in_any_order() {
        let mut gather = Gather::new(Rule::Same, lines);
        gather.put(2, "c".into());
        gather.put(0, "a".into());
        gather.put(0, "again".into());
        assert_eq!((gather.held(), gather.take()), (2, None));
        gather.expect(3);
        assert_eq!((gather.awaits(1), gather.take()), (true, None));
        gather.put(1, "b".into());
        assert_eq!(gather.take(), Some("abc".into()));
        assert_eq!((gather.held(), gather.take()), (0, None));
    }
}
