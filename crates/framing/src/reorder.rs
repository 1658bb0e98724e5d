//! Answers of many servers, put back in the order of one client's requests.

use std::collections::VecDeque;

use bytes::Bytes;

/// Puts answers in the order of the requests of one client.
///
/// Every request takes a place, also one that the gateway answers itself. A gateway that finds no
/// place reads no more from the client until answers have left.
///
/// ```
/// use ratewire_framing::Reorder;
///
/// let mut reorder = Reorder::new(100, 1 << 20);
/// let (get, ping) = (reorder.reserve().unwrap(), reorder.reserve().unwrap());
/// reorder.fill(ping, "+PONG\r\n".into()).unwrap();
/// assert_eq!(reorder.pop(), None);
/// reorder.fill(get, "$1\r\na\r\n".into()).unwrap();
/// assert_eq!(reorder.pop().unwrap(), "$1\r\na\r\n");
/// assert_eq!(reorder.pop().unwrap(), "+PONG\r\n");
/// ```
#[derive(Debug)]
pub struct Reorder {
    /// Places from the first request whose answer has not left whole.
    places: VecDeque<Place>,
    /// Number of the first place.
    first: u64,
    most: usize,
    held: usize,
    most_held: usize,
}

/// The place of an answer.
#[derive(Debug, Default)]
struct Place {
    /// Pieces of the answer that have not left.
    pieces: VecDeque<Bytes>,
    /// Whether no more pieces come.
    is_whole: bool,
}

/// An answer has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReorderError {
    /// No request that waits has this number.
    #[error("request {0} does not wait")]
    Unknown(u64),
    /// The request has its answer.
    #[error("request {0} has its answer already")]
    Answered(u64),
}

impl Reorder {
    /// No requests yet. At most `most` requests have a place at a time. No request gets a place
    /// while answers of `most_held` bytes or more are held; those that have places may still be
    /// answered, so `most` answers of the greatest length are the bound on memory.
    pub fn new(most: usize, most_held: usize) -> Reorder {
        Reorder { places: VecDeque::new(), first: 0, most, held: 0, most_held }
    }

    /// Takes the next place and returns its number, from 0 on; `None` if the client has to wait.
    pub fn reserve(&mut self) -> Option<u64> {
        if self.is_full() {
            return None;
        }
        self.places.push_back(Place::default());
        Some(self.first + (self.places.len() as u64 - 1))
    }

    /// Whether the next request gets no place yet.
    pub fn is_full(&self) -> bool {
        self.places.len() >= self.most || (self.held > 0 && self.held >= self.most_held)
    }

    /// Bytes of answers that are held.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Number of requests that have a place.
    pub fn waiting(&self) -> usize {
        self.places.len()
    }

    /// Number of the first request whose answer has not left whole.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Puts an answer, or what is left of it, in its place.
    ///
    /// # Errors
    /// If no request waits for the answer. Nothing changes.
    pub fn fill(&mut self, number: u64, answer: Bytes) -> Result<(), ReorderError> {
        self.add(number, answer)?.is_whole = true;
        Ok(())
    }

    /// Puts a piece of an answer in its place, of which more comes.
    ///
    /// # Errors
    /// As [`Reorder::fill`].
    pub fn begin(&mut self, number: u64, piece: Bytes) -> Result<(), ReorderError> {
        self.add(number, piece).map(drop)
    }

    fn add(&mut self, number: u64, piece: Bytes) -> Result<&mut Place, ReorderError> {
        let unknown = ReorderError::Unknown(number);
        let index = number.checked_sub(self.first).ok_or(unknown)?;
        let index = usize::try_from(index).map_err(|_| unknown)?;
        let place = self.places.get_mut(index).ok_or(unknown)?;
        if place.is_whole {
            return Err(ReorderError::Answered(number));
        }
        self.held += piece.len();
        place.pieces.push_back(piece);
        Ok(place)
    }

    /// The next answer for the client, or piece of one, which may be empty; `None` if it is not
    /// there yet.
    pub fn pop(&mut self) -> Option<Bytes> {
        let place = self.places.front_mut()?;
        let piece = place.pieces.pop_front()?;
        if place.is_whole && place.pieces.is_empty() {
            self.places.pop_front();
            self.first += 1;
        }
        self.held -= piece.len();
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_leave_in_the_order_of_requests() {
        let mut reorder = Reorder::new(4, 100);
        let places: Vec<u64> = std::iter::from_fn(|| reorder.reserve()).collect();
        assert_eq!(places, [0, 1, 2, 3]);
        for (number, left) in [(2, ""), (0, "0"), (1, "12"), (3, "3")] {
            reorder.fill(number, number.to_string().into()).unwrap();
            let mut out = String::new();
            while let Some(answer) = reorder.pop() {
                out.push_str(std::str::from_utf8(&answer).unwrap());
            }
            assert_eq!(out, left, "after {number}");
        }
        assert_eq!((reorder.waiting(), reorder.reserve()), (0, Some(4)));
    }

    #[test]
    fn nothing_is_answered_twice_or_unasked() {
        let mut reorder = Reorder::new(4, 100);
        assert_eq!(reorder.fill(0, Bytes::new()), Err(ReorderError::Unknown(0)));
        reorder.reserve();
        reorder.reserve();
        assert_eq!(reorder.fill(1, Bytes::new()), Ok(()));
        assert_eq!(reorder.fill(1, Bytes::new()), Err(ReorderError::Answered(1)));
        assert_eq!(reorder.fill(0, Bytes::new()), Ok(()));
        assert_eq!(reorder.pop(), Some(Bytes::new()));
        assert_eq!(reorder.fill(0, Bytes::new()), Err(ReorderError::Unknown(0)));
        assert_eq!(reorder.fill(u64::MAX, Bytes::new()), Err(ReorderError::Unknown(u64::MAX)));
    }

    #[test]
    fn held_bytes_keep_further_requests_out() {
        let mut reorder = Reorder::new(10, 6);
        let places = [reorder.reserve(), reorder.reserve(), reorder.reserve()].map(Option::unwrap);
        reorder.fill(places[1], "123".into()).unwrap();
        assert!(!reorder.is_full());
        reorder.fill(places[2], "456".into()).unwrap();
        assert_eq!((reorder.is_full(), reorder.reserve()), (true, None));
        reorder.fill(places[0], "0".into()).unwrap();
        assert_eq!(reorder.pop().unwrap(), "0");
        assert_eq!(reorder.pop().unwrap(), "123");
        assert_eq!(reorder.reserve(), Some(3));
    }

    #[test]
    fn pieces_of_the_first_answer_leave_at_once() {
        let mut reorder = Reorder::new(4, 100);
        let (first, second) = (reorder.reserve().unwrap(), reorder.reserve().unwrap());
        reorder.begin(second, "c".into()).unwrap();
        assert_eq!(reorder.pop(), None);
        reorder.begin(first, "a".into()).unwrap();
        assert_eq!((reorder.pop(), reorder.pop()), (Some("a".into()), None));
        assert_eq!((reorder.first(), reorder.held()), (first, 1));
        reorder.fill(first, "b".into()).unwrap();
        assert_eq!(reorder.begin(first, "x".into()), Err(ReorderError::Answered(first)));
        assert_eq!((reorder.pop(), reorder.first()), (Some("b".into()), second));
        assert_eq!((reorder.pop(), reorder.pop()), (Some("c".into()), None));
        reorder.fill(second, "".into()).unwrap();
        assert_eq!((reorder.pop(), reorder.waiting()), (Some("".into()), 0));
    }
}
