// The page's store: the state and its results.
import { computed, signal } from "@preact/signals";
import { type Engine, EngineError, type Survey, type Told } from "../engine/protocol.ts";
import { openEngine } from "../engine/open.ts";
import { served } from "../engine/served.ts";
import { sourceOf } from "./catalogue.ts";
import { inherited, tree } from "./document.ts";
import { type Key, Keys, type Schema } from "./keys.ts";
import { type Knob, knobs } from "./knobs.ts";
import { LinkError, fromLink, toLink } from "./link.ts";
import type { Outcome } from "./outcome.ts";
import { type Resolved, run } from "./runner.ts";
import { FIRST, type State, sameRun } from "./state.ts";

export const state = signal<State>(FIRST);
export const engine = signal<Engine | null>(null);
export const problem = signal<Told | null>(null);
export const busy = signal(false);
export const survey = signal<[State, Survey, Resolved] | null>(null);
export const found = signal<Outcome | null>(null);
// The previous results, drawn as a ghost, with their settings.
export const ghost = signal<{ state: State; outcome: Outcome } | null>(null);
const schema = signal<Keys | null>(null);

const document_ = computed(() => inherited(tree(sourceOf(state.value)?.text ?? "")));
export const shownKnobs = computed<Knob[]>(() => {
  const read = survey.value;
  if (!read || !schema.value) return [];
  return knobs({ state: state.value, document: document_.value, survey: read[1], resolved: read[2], keys: schema.value });
});
// Computed on the first search: a scenario of thirty stations has thousands of keys.
export const allKeys = computed<Key[]>(() => schema.value?.all(document_.value) ?? []);

// A gesture ends after this time without a change. The ghost shows the results before the gesture.
const GESTURE_MS = 900;
let settled: { state: State; outcome: Outcome } | null = null;
let changed = -Infinity;
let under = new AbortController();

export function change(next: State): void {
  const before = state.value;
  state.value = next;
  if (sameRun(before, next)) return void remember();
  const now = performance.now();
  const sameScenario = before.scenario === next.scenario && before.text === next.text;
  if (!sameScenario) {
    ghost.value = settled = found.value = survey.value = null;
  } else if (now - changed > GESTURE_MS && settled) {
    ghost.value = settled;
  }
  changed = now;
  void remember();
  void start();
}

export async function start(): Promise<void> {
  under.abort(new DOMException("another setting", "AbortError"));
  const mine = (under = new AbortController());
  const of = state.value;
  const by = engine.value;
  if (!by) return;
  busy.value = true;
  try {
    await run(by, of, mine.signal, {
      survey: (read, resolved) => {
        survey.value = [of, read, resolved];
        problem.value = null;
      },
      outcome: (outcome) => {
        if (under !== mine) return;
        found.value = outcome;
        problem.value = null;
        if (outcome.whole) settled = { state: of, outcome };
      },
    }, survey.value);
  } catch (error) {
    if (under === mine) problem.value = told(error);
  } finally {
    if (under === mine) busy.value = false;
  }
}

export function stop(): void {
  under.abort(new DOMException("stopped", "AbortError"));
  under = new AbortController();
  busy.value = false;
}

export function told(error: unknown): Told {
  if (error instanceof EngineError) return error.told;
  if (error instanceof LinkError) return { kind: "input", message: error.message };
  return { kind: "broken", message: error instanceof Error ? error.message : String(error) };
}

let written = "";

// The URL follows the state. Turning a knob adds no history entries.
async function remember(): Promise<void> {
  const of = state.value;
  const link = await toLink(of);
  if (of !== state.value) return;
  written = link;
  history.replaceState(null, "", link);
}

async function follow(): Promise<void> {
  if (location.hash === written) return;
  try {
    const next = await fromLink(location.hash, initial());
    state.value = next;
    ghost.value = settled = found.value = survey.value = null;
    written = location.hash;
    await start();
  } catch (error) {
    stop();
    // So that the previous link can be opened again.
    written = "";
    problem.value = told(error);
  }
}

function initial(): State {
  const named = served()?.files[0];
  return named ? { ...FIRST, scenario: named[0] } : FIRST;
}

export async function open(): Promise<void> {
  addEventListener("hashchange", () => void follow());
  state.value = initial();
  try {
    engine.value = await openEngine();
  } catch (error) {
    problem.value = told(error);
    return;
  }
  try {
    state.value = await fromLink(location.hash, initial());
    void start();
  } catch (error) {
    problem.value = told(error);
  }
  const bytes = await engine.value.ask({ do: "schema" }, new AbortController().signal);
  schema.value = new Keys(JSON.parse(new TextDecoder().decode(bytes)) as Schema);
}
