//! TCP sequence numbers: arithmetic modulo 2^32, ordered by the shorter distance.
// spec: rfc9293 3.4.

/// Returns true if `a` precedes `b`.
#[inline]
pub const fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Returns true if `a` follows `b`.
#[inline]
pub const fn after(a: u32, b: u32) -> bool {
    before(b, a)
}

/// Returns the later of two sequence numbers.
#[inline]
pub const fn latest(a: u32, b: u32) -> u32 {
    if before(a, b) { b } else { a }
}

/// Returns the number of bytes from `a` to `b`. `b` must not precede `a`.
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
