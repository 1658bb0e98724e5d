//! The numbers in use within a window that moves upwards.

const WORD: usize = u64::BITS as usize;

/// A set of numbers within a range of `WORDS` times 64, at most 4096.
#[derive(Debug)]
pub(super) struct Bits<const WORDS: usize> {
    words: [u64; WORDS],
    /// The words that are not empty, as bits.
    summary: u64,
}

impl<const WORDS: usize> Bits<WORDS> {
    pub(super) const SLOTS: u64 = (WORDS * WORD) as u64;

    pub(super) fn new() -> Bits<WORDS> {
        const { assert!(WORDS <= WORD) }
        Bits { words: [0; WORDS], summary: 0 }
    }

    /// Slot of a number.
    #[inline]
    pub(super) fn slot(number: u64) -> usize {
        (number % Self::SLOTS) as usize
    }

    #[inline]
    pub(super) fn has(&self, number: u64) -> bool {
        let slot = Self::slot(number);
        self.words[slot / WORD] >> (slot % WORD) & 1 != 0
    }

    #[inline]
    pub(super) fn insert(&mut self, number: u64) {
        let slot = Self::slot(number);
        self.words[slot / WORD] |= 1 << (slot % WORD);
        self.summary |= 1 << (slot / WORD);
    }

    #[inline]
    pub(super) fn remove(&mut self, number: u64) {
        let slot = Self::slot(number);
        let word = &mut self.words[slot / WORD];
        *word &= !(1 << (slot % WORD));
        self.summary &= !(u64::from(*word == 0) << (slot / WORD));
    }

    /// The first number in the set that is not below this one.
    #[inline]
    pub(super) fn next_from(&self, number: u64) -> Option<u64> {
        let from = Self::slot(number);
        let (start, bit) = (from / WORD, from % WORD);
        let here = self.words[start] >> bit;
        if here != 0 {
            return Some(number + u64::from(here.trailing_zeros()));
        }
        if self.summary == 0 {
            return None;
        }
        let later = self.summary >> start >> 1 << start << 1;
        let word = if later != 0 { later } else { self.summary }.trailing_zeros() as usize;
        let slot = word * WORD + self.words[word].trailing_zeros() as usize;
        let ahead = (slot as u64).wrapping_sub(from as u64) % Self::SLOTS;
        Some(number + ahead)
    }
}
