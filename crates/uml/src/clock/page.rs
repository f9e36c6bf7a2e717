//! The clock page shared by a guest and its driver, version 2.

// linux: include/uapi/linux/um_timetravel.h um_timetravel_schedshm, um_timetravel_schedshm_client (6.12) -
// fields, and which side may write each.

use std::os::fd::OwnedFd;

use crate::sys::{Mapping, SysError, memory_file};

const VERSION: u32 = 2;
/// Offset of the client entries, and the size of one entry.
const CLIENTS: usize = 4096;
const CLIENT: usize = 128;
const LEN: usize = CLIENTS + 2 * CLIENT;
/// Client index of the driver.
const DRIVER: u16 = 0;
/// Index of the guest among the clients of the page.
pub const GUEST: u16 = 1;
const SHARES_TIME: u32 = 1;
const WANTS_TO_RUN: u32 = 1;

/// The page of one guest.
#[derive(Debug)]
pub struct Page {
    file: OwnedFd,
    map: Mapping,
}

impl Page {
    /// Creates a page at time zero, for a guest that runs and may continue until `free_until`.
    pub fn new(free_until: u64) -> Result<Self, SysError> {
        let file = memory_file("clock", LEN)?;
        let page = Self { map: Mapping::new(&file, LEN)?, file };
        page.put(0, &VERSION.to_le_bytes());
        page.put(4, &(LEN as u32).to_le_bytes());
        page.put(26, &2_u16.to_le_bytes());
        // The guest's requests are also in the page during the driver's turn.
        page.put(CLIENTS, &SHARES_TIME.to_le_bytes());
        page.free_until(free_until);
        page.running(GUEST);
        Ok(page)
    }

    fn put(&self, at: usize, bytes: &[u8]) {
        assert!(self.map.write(at, bytes), "a field beyond the page");
    }

    fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        assert!(self.map.read(at, &mut bytes), "a field beyond the page");
        bytes
    }

    /// The file to pass to the guest.
    pub fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Returns true if the guest has found the page and uses it.
    pub fn is_shared(&self) -> bool {
        u32::from_le_bytes(self.get(CLIENTS + CLIENT * usize::from(GUEST))) & SHARES_TIME != 0
    }

    fn running(&self, who: u16) {
        self.put(24, &who.to_le_bytes());
    }

    /// Sets the time until which the guest may continue without asking.
    pub fn free_until(&self, at: u64) {
        self.put(8, &at.to_le_bytes());
    }

    /// Time of the guest's last notification or the driver's last change.
    pub fn now(&self) -> u64 {
        u64::from_le_bytes(self.get(16))
    }

    /// Gives the turn to the driver at this time.
    pub fn stop_at(&self, now: u64) {
        self.put(16, &now.to_le_bytes());
        self.running(DRIVER);
    }

    /// Gives the turn to the guest from this time on.
    pub fn run_at(&self, now: u64, free_until: u64) {
        self.put(16, &now.to_le_bytes());
        self.free_until(free_until);
        self.running(GUEST);
    }

    /// Time at which the guest wants to run next; `None` if it does not.
    pub fn request(&self) -> Option<u64> {
        let client = CLIENTS + CLIENT * usize::from(GUEST);
        let wants = u32::from_le_bytes(self.get(client + 4)) & WANTS_TO_RUN != 0;
        wants.then(|| u64::from_le_bytes(self.get(client + 8)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_fields_are_at_the_kernel_offsets() {
        let page = Page::new(77).expect("a page");
        let other = Mapping::new(page.file(), LEN).expect("the same");
        let word = |at: usize| {
            let mut bytes = [0; 8];
            assert!(other.read(at, &mut bytes));
            u64::from_le_bytes(bytes)
        };
        assert_eq!((word(0), word(8), word(16)), (2 | (LEN as u64) << 32, 77, 0));
        assert_eq!(word(24) & 0xffff_ffff, 1 | 2 << 16);
        assert!(!page.is_shared() && page.request().is_none());
        // The guest starts sharing, and requests a turn.
        assert!(other.write(CLIENTS + CLIENT, &1_u32.to_le_bytes()));
        assert!(other.write(CLIENTS + CLIENT + 4, &1_u32.to_le_bytes()));
        assert!(other.write(CLIENTS + CLIENT + 8, &4242_u64.to_le_bytes()));
        assert!(page.is_shared());
        assert_eq!(page.request(), Some(4242));
        page.stop_at(500);
        assert_eq!((page.now(), word(24) & 0xffff), (500, 0));
        page.run_at(600, 700);
        assert_eq!((word(8), word(16), word(24) & 0xffff), (700, 600, 1));
    }
}
