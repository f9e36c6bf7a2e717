//! The queues of a pool by their numbers.

use super::super::drr::{Drr, Member};
use super::super::longest::{self, Place};
use super::FlowQueue;

/// The queues by their numbers, as who looks for the longest sees them: those that ever held a packet.
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
