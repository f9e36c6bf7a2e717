//! Pool of lists for later packets.

/// Maximum number of pooled lists; further ones are freed.
const MOST: usize = 4096;
/// Maximum capacity of a pooled list; longer lists are freed.
const LONGEST: usize = 64;

/// Pool of empty lists. Bounded, because packets may return more lists than new packets take.
#[derive(Debug)]
pub(super) struct Pool<T> {
    spare: Vec<Vec<T>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { spare: Vec::new() }
    }
}

impl<T> Pool<T> {
    /// Returns an empty list.
    #[inline]
    pub(super) fn take(&mut self) -> Vec<T> {
        self.spare.pop().unwrap_or_default()
    }

    /// Returns a list to the pool.
    #[inline]
    pub(super) fn put(&mut self, mut list: Vec<T>) {
        if self.spare.len() < MOST && list.capacity() <= LONGEST {
            list.clear();
            self.spare.push(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_is_bounded_and_gives_empty_lists() {
        let mut pool = Pool::default();
        for n in 0..3 * MOST {
            pool.put(vec![n]);
        }
        assert_eq!(pool.spare.len(), MOST);
        let list = pool.take();
        assert!(list.is_empty() && list.capacity() > 0);
        assert_eq!(pool.spare.len(), MOST - 1);
        pool.put(Vec::with_capacity(LONGEST + 1));
        assert_eq!(pool.spare.len(), MOST - 1);
    }
}
