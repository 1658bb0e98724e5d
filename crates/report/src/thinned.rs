//! A list of bounded length: it keeps every k-th item, k a power of two that grows as needed.

/// Every k-th item of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Thinned<T> {
    most: usize,
    pub(crate) kept: Vec<T>,
    /// Number of items in the stream.
    pub(crate) total: u64,
    /// The k of every k-th item.
    pub(crate) stride: u64,
}

impl<T> Thinned<T> {
    /// A list of at most `most` items, and at least one.
    pub(crate) fn new(most: usize) -> Thinned<T> {
        Thinned { most: most.max(1), kept: Vec::new(), total: 0, stride: 1 }
    }

    pub(crate) fn push(&mut self, new: T) {
        if self.total.is_multiple_of(self.stride) && self.kept.len() >= self.most {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.stride *= 2;
        }
        if self.total.is_multiple_of(self.stride) {
            self.kept.push(new);
        }
        self.total += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_spread_evenly() {
        let mut thinned = Thinned::new(4);
        (0..1000).for_each(|i| thinned.push(i));
        assert_eq!(
            (thinned.kept, thinned.total, thinned.stride),
            (vec![0, 256, 512, 768], 1000, 256)
        );
        let mut one = Thinned::new(0);
        (0..5).for_each(|i| one.push(i));
        assert_eq!(one.kept, [0]);
    }
}
