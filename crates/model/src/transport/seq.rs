//! Sequence numbers of TCP: a circle of 2^32, compared by the shorter way round.
// spec: rfc9293 3.4.

/// Whether `a` comes before `b`.
#[inline]
pub const fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Whether `a` comes after `b`.
#[inline]
pub const fn after(a: u32, b: u32) -> bool {
    before(b, a)
}

/// The later of two.
#[inline]
pub const fn latest(a: u32, b: u32) -> u32 {
    if before(a, b) { b } else { a }
}

/// Bytes from `a` on to `b`, which must not come before it.
#[inline]
pub const fn distance(a: u32, b: u32) -> u32 {
    b.wrapping_sub(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_holds_across_the_wrap() {
        // a, b, before, after
        let table = [
            (0, 0, false, false),
            (0, 1, true, false),
            (u32::MAX, 0, true, false),
            (5, u32::MAX - 5, false, true),
            (0, 0x7fff_ffff, true, false),
        ];
        for (a, b, is_before, is_after) in table {
            assert_eq!((before(a, b), after(a, b)), (is_before, is_after), "{a} {b}");
        }
        assert_eq!((latest(u32::MAX, 3), distance(u32::MAX, 3)), (3, 4));
    }
}
