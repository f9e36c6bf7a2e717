// See the air: PPDUs, ACKs, collisions and beacons, from 10 s down to one slot; queue lengths below; the path of one packet.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Result, type Walk, askJson } from "../engine/protocol.ts";
import { engine, problem, state, survey, told } from "../model/app.ts";
import { asOf } from "../model/runner.ts";
import { sameRun } from "../model/state.ts";
import { type Scene, type Span, scene } from "../plots/timeline.ts";
import { colour } from "../plots/colours.ts";
import { Timeline } from "./timeline.tsx";
import { WalkTable, exchangesOf, instantsOf } from "./walk.tsx";

// Time recorded per request.
const MOST_S = 10;
const QUEUES = "5 ms";

export function Air() {
  const shown = useSignal<Scene | null>(null);
  const span = useSignal<Span>({ from: 0, to: 1e9 });
  const begin = useSignal<number | null>(null);
  const walk = useSignal<Walk | null>(null);
  const waits = useSignal(false);
  const read = survey.value;
  const ready = read && sameRun(read[0], state.value) ? read[1] : null;
  const radio = ready?.nodes.some(({ interfaces }) => interfaces.some(({ kind }) => kind !== "wired"));
  const from = ready ? Math.min(begin.value ?? ready.warm_up_s, Math.max(0, ready.duration_s - 0.1)) : 0;
  const until = ready ? Math.min(ready.duration_s, from + MOST_S) : 0;
  const asked = ready && radio ? JSON.stringify([asOf(state.value), from, until]) : "";
  const asker = useRef(new AbortController());

  useEffect(() => {
    asker.current.abort(new DOMException("another one", "AbortError"));
    const mine = (asker.current = new AbortController());
    walk.value = null;
    if (!asked) return void (shown.value = null);
    const of = asOf(state.value, 0, [["record.air", `${from} s..${until} s`], ["record.queues", QUEUES]]);
    void (async () => {
      try {
        const run = (await askJson<Result>(engine.value!, { do: "run", of }, mine.signal)).runs[0]!;
        if (!run.exchanges) return;
        shown.value = scene(run.exchanges, run.queues?.queues ?? [], run.queues?.interval_ns ?? 1e6);
        span.value = { from: from * 1e9, to: Math.min(until, from + 0.1) * 1e9 };
      } catch (error) {
        if (!mine.signal.aborted) problem.value = told(error);
      }
    })();
    return () => mine.abort(new DOMException("left", "AbortError"));
  }, [asked]);

  const follow = async (flow: string) => {
    waits.value = true;
    try {
      const at = `${Math.round((span.value.from + span.value.to) / 2)} ns`;
      const found = await askJson<Walk>(engine.value!, { do: "walk", of: asOf(state.value), flow, at }, asker.current.signal);
      walk.value = found;
      const [first, last] = [found.steps[0], found.steps.at(-1)];
      if (first && last) {
        const room = Math.max(200_000, (last.at_ns - first.at_ns) * 0.08);
        span.value = { from: first.at_ns - room, to: last.at_ns + room };
      }
    } catch (error) {
      problem.value = told(error);
    } finally {
      waits.value = false;
    }
  };

  if (ready && !radio) return <p class="faint waiting">This scenario has no Wi-Fi.</p>;
  if (!shown.value || !ready) return <p class="faint waiting">{problem.value ? "" : "Recording the frame exchanges …"}</p>;
  const flows = ready.flows.flatMap(({ name, to }) => to.map((one) => `${name}.${one}`));
  return (
    <div class="cards">
      <section class="card wide" aria-labelledby="air-title">
        <div class="card-head">
          <h2 id="air-title">The air</h2>
          {ready.duration_s > MOST_S && (
            <label class="small">
              {"from second "}
              <input class="short" type="number" min={0} max={Math.floor(ready.duration_s)} value={from} onChange={(event) => (begin.value = Math.max(0, Number(event.currentTarget.value) || 0))} />
              {` of ${ready.duration_s}`}
            </label>
          )}
        </div>
        <Timeline scene={shown.value} span={span} walk={exchangesOf(walk.value, shown.value)} instants={instantsOf(walk.value)} />
        <Legend scene={shown.value} />
      </section>
      <WalkTable flows={flows} walk={walk.value} waits={waits.value} follow={(flow) => void follow(flow)} />
    </div>
  );
}

function Legend({ scene }: { scene: Scene }) {
  return (
    <ul class="legend">
      <li><i class="box plain" /> PPDU in its station's colour, with its number of frames (received/sent if some were lost); r1: first retry</li>
      <li><i class="box ack" /> ACK or Block Ack</li>
      <li><i class="box retry" /> retry</li>
      <li><i class="box collided" /> collision</li>
      <li><i class="box control" /> management, Block Ack request</li>
      <li><i class="box beacon" /> beacon</li>
      {scene.queues.map(({ name }, n) => <li key={name}><i class="line" style={{ background: colour(n) }} /> waits in {name}</li>)}
    </ul>
  );
}
