//! A pool of lists for packets to come.

/// Lists kept at most; further ones are freed.
const MOST: usize = 4096;
/// Elements of a list that is kept; a packet that waited in more places frees its list.
const LONGEST: usize = 64;

/// Empty lists that are used again. Bounded: packets may return more lists than new packets take.
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
    /// An empty list.
    #[inline]
    pub(super) fn take(&mut self) -> Vec<T> {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes a list back.
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
