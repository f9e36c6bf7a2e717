//! View of a pool's queues by number.

use super::super::drr::{Drr, Member};
use super::super::longest::{self, Place};
use super::FlowQueue;

/// The queues of a pool that ever held a packet, by number, for the search of the longest.
pub(super) struct Numbered<'a> {
    pub(super) kept: &'a [u32],
    pub(super) queues: &'a mut Drr<FlowQueue>,
}

impl Numbered<'_> {
    #[inline]
    fn kept(&self, queue: usize) -> Member {
        Member(self.kept[queue] - 1)
    }
}

impl longest::Queues for Numbered<'_> {
    #[inline]
    fn bytes(&self, queue: usize) -> u64 {
        self.queues[self.kept(queue)].list.bytes()
    }
    #[inline]
    fn place(&mut self, queue: usize) -> &mut Place {
        let kept = self.kept(queue);
        &mut self.queues[kept].place
    }
}
