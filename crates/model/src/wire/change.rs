//! Changes of a wire's rate and delay, which also apply to queued packets.

use super::line::{Line, LineStep};
use super::retime::{Retimer, earliest, pace};
use super::{FrameSize, Wire, WireParams, wire_bytes};
use crate::types::{Ctx, Duration, Instant, Reason, Sink, Step, WireTimes};

impl Wire {
    /// Changes rate and delay; all other fields of `params` must be unchanged. Frames whose last bit has left
    /// keep their arrival times. The rest of the frame being sent and all frames behind it leave at the new
    /// rate, and arrive after the new delay.
    // deviation: no packet overtakes another: a wire with a shorter delay pauses until the last packet in
    // flight cannot be overtaken - in Linux's netem, a packet with less delay leaves first.
    pub fn change<S: Sink>(&mut self, now: Instant, params: WireParams, ctx: &mut Ctx<'_, S>) {
        let (WireParams::Ethernet(ethernet) | WireParams::Access(ethernet, _)) = params else { return };
        let (old, rate) = (self.params, pace(ethernet.rate));
        (self.params.rate, self.params.delay) = (rate, ethernet.delay);
        self.last_frame = FrameSize::of(self.last_frame.len, rate);
        let gone = self.kept.max(now + old.delay);
        let gone = self.flight.partition_point(|(arrives, _)| arrives <= gone);
        let mut from = now;
        if let Some(last) = gone.checked_sub(1).and_then(|last| self.flight.nth(last)) {
            self.kept = last.0;
            from = from.max(Instant::from_nanos(last.0.nanos().saturating_sub(ethernet.delay.nanos())));
        }
        ctx.step(now, &Step::WireChanged { from: self.from });
        let rates = [old.rate, rate];
        if let (Some(mut line), WireParams::Access(_, new)) = (self.line.take(), params) {
            let port = Retimer::new(now, rates, None, now);
            let (from, new) = (earliest(new.rate, from), pace(new.rate));
            let retimer = Retimer::new(now, [line.rate(), new], self.cut, from);
            let mut step = line.step(now, new, retimer);
            self.retime_line(now, (gone, old.delay), &port, (&mut line, &mut step), ctx);
            (self.line, self.cut) = (Some(line), step.retimer.new_cut);
        } else {
            let mut retimer = Retimer::new(now, rates, self.cut, earliest(ethernet.rate, from));
            let mut report = self.ring.partition_point(|sending| sending.sent <= now);
            for n in gone..self.flight.len() {
                let Some((arrives, p)) = self.flight.nth_mut(n) else { break };
                let sent = arrives.before(old.delay);
                let (begins, now_sent) = retimer.frame(sent, wire_bytes(ctx.packets.get(*p).len));
                // A packet of several segments is sent once its last segment is.
                if let Some(sending) = self.ring.nth_mut(report).filter(|sending| sending.sent == sent) {
                    sending.sent = now_sent;
                    report += 1;
                }
                *arrives = now_sent + ethernet.delay;
                let times = WireTimes { begins, sent: now_sent, line: None, arrives: *arrives };
                ctx.step(now, &Step::Wired { p: *p, from: self.from, times });
            }
            (self.busy_until, self.cut) = (retimer.next, retimer.new_cut);
        }
    }

    /// Recomputes the times of an access line's frames from index `gone` on. `delay` is the old delay after
    /// the line. A frame that has not reached the modem yet may find its buffer full.
    // deviation: frames dropped before the change stay dropped, even if they had not reached the modem yet.
    fn retime_line<S: Sink>(
        &mut self,
        now: Instant,
        (gone, delay): (usize, Duration),
        port: &Retimer,
        (line, step): (&mut Line, &mut LineStep),
        ctx: &mut Ctx<'_, S>,
    ) {
        for n in self.ring.partition_point(|sending| sending.sent <= now)..self.ring.len() {
            self.ring.nth_mut(n).into_iter().for_each(|sending| sending.sent = port.scaled(sending.sent));
        }
        self.busy_until = port.scaled(self.busy_until);
        let mut frames = core::mem::take(&mut self.flight);
        for n in 0.. {
            let Some((arrives, p)) = frames.pop() else { break };
            if n < gone {
                self.flight.push((arrives, p));
                continue;
            }
            let len = ctx.packets.get(p).len;
            let (at, line_times) = line.again(now, step, (arrives.before(delay), len), port);
            let Some((begins, sent)) = line_times else {
                ctx.drop(now, p, Reason::Overlimit, line.place);
                continue;
            };
            let arrives = sent + self.params.delay;
            let begun = at.before(self.params.rate.time_for(wire_bytes(len)));
            let times = WireTimes { begins: begun, sent: at, line: Some((begins, sent)), arrives };
            ctx.step(now, &Step::Wired { p, from: self.from, times });
            self.flight.push((arrives, p));
        }
    }
}
