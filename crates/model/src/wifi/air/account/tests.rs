use proptest::prelude::*;

use super::*;

#[test]
fn each_nanosecond_is_booked_once() {
    let mut account = AirAccount::default();
    let table = [
        // use                     until   idle  contention  data  ack
        (AirUse::Idle, 100, [100, 0, 0, 0]),
        (AirUse::Contention, 143, [100, 43, 0, 0]),
        (AirUse::Data, 143, [100, 43, 0, 0]),
        (AirUse::Data, 1_143, [100, 43, 1_000, 0]),
        // Time already counted does not count again.
        (AirUse::Idle, 900, [100, 43, 1_000, 0]),
        (AirUse::Ack, 1_150, [100, 43, 1_000, 7]),
    ];
    for (what, until, want) in table {
        account.book(what, Instant::from_nanos(until));
        let used =
            [AirUse::Idle, AirUse::Contention, AirUse::Data, AirUse::Ack].map(|u| account.used(u).nanos());
        assert_eq!(used, want, "{what:?} until {until}");
        assert_eq!(account.total().nanos(), account.until().nanos());
    }
}

proptest! {
    #[test]
    fn the_account_closes(bookings in prop::collection::vec((0_usize..AirUse::COUNT, 0_u64..1_000), 1..50)) {
        let mut account = AirAccount::default();
        for &(what, until) in &bookings {
            account.book(AirUse::ALL[what], Instant::from_nanos(until));
        }
        let last = bookings.iter().map(|b| b.1).max().unwrap();
        prop_assert_eq!((account.total().nanos(), account.until().nanos()), (last, last));
    }
}
