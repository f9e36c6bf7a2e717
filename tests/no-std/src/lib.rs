//! The model in a program without std, with an allocator and a panic handler of its own; `main.c` is that
//! program.

#![no_std]

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;
use core::panic::PanicInfo;

use stillair_ip::parse;
use stillair_model::qdisc::fq_codel::FqCodelParams;
use stillair_model::qdisc::{Enqueue, Qdisc, QdiscConfig};
use stillair_model::types::{Ctx, Duration, Fate, FlowId, Instant, NewPacket, NoSink, Packets, PlaceId, Seed};

unsafe extern "C" {
    fn aligned_alloc(align: usize, size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn abort() -> !;
}

/// The allocator of the C library.
struct OfC;

// SAFETY: `aligned_alloc` gives blocks of that size and alignment, or null; `free` takes any of them.
unsafe impl GlobalAlloc for OfC {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let align = layout.align().max(size_of::<usize>());
        unsafe { aligned_alloc(align, layout.size().next_multiple_of(align)).cast() }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        unsafe { free(block.cast()) }
    }
}

#[global_allocator]
static ALLOCATOR: OfC = OfC;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe { abort() }
}

/// Sends so many packets of two flows through fq_codel, one each 50 us, and takes one out each 100 us;
/// returns how many came through.
#[unsafe(no_mangle)]
pub extern "C" fn through_fq_codel(packets: u32) -> u32 {
    let config = QdiscConfig::FqCodel(FqCodelParams { limit: 1_000_000, ..FqCodelParams::default() });
    let mut stream = Seed { seed: 1, run: 0 }.stream("no std");
    let mut qdisc = Qdisc::new(&config, PlaceId(0), &mut stream).expect("a discipline");
    let (mut all, mut sink) = (Packets::new(), NoSink);
    let mut through = 0;
    for nth in 0..packets {
        let now = Instant::ZERO + Duration::from_micros(50) * u64::from(nth);
        let flow = nth % 2;
        let p = all.create(NewPacket { now, flow: FlowId(flow), flow_hash: flow, ..NewPacket::PLAIN });
        let mut ctx = Ctx { packets: &mut all, trace: &mut sink };
        assert_eq!(qdisc.enqueue(now, p, &mut ctx), Enqueue::Queued);
        if flow == 1
            && let Some(p) = qdisc.dequeue(now, &mut ctx)
        {
            ctx.packets.free(p, Fate::Delivered);
            through += 1;
        }
    }
    through
}

/// The DSCP of an IP packet, or -1 if these bytes are none.
///
/// # Safety
/// `bytes` points at `length` bytes that nobody changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dscp(bytes: *const u8, length: usize) -> i32 {
    let packet = unsafe { core::slice::from_raw_parts(bytes, length) };
    parse(packet).map_or(-1, |view| i32::from(view.tos >> 2))
}
