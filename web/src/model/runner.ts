// From state to plots: reads the scenario, shows its first measured second, then all runs in full.
import { type Engine, EngineError, type Of, type Override, type Result, type Survey, type Told, askJson } from "../engine/protocol.ts";
import { beside, sourceOf } from "./catalogue.ts";
import { type Tree, withSettings } from "./document.ts";
import { ELSEWHERE, MOST_BYTES, READ_MS, crowd, refusal, tooMany } from "./limits.ts";
import { type Outcome, outcome } from "./outcome.ts";
import type { State } from "./state.ts";
import { tails } from "./tail.ts";

export interface Progress {
  survey(survey: Survey, resolved: Resolved): void;
  outcome(outcome: Outcome): void;
}

// The parts of the resolved scenario that the page uses.
export interface Resolved {
  flows: { name: string; traffic: { kind: string; congestion_control?: string } }[];
  nodes: { name: string; profile: { tcp?: Record<string, unknown> } }[];
}

// Engine request for a state: its scenario with its settings.
export function asOf(state: State, run = 0, more: Override[] = []): Of {
  const source = sourceOf(state);
  if (!source) throw refused("input", `found no scenario "${state.scenario}" here; choose another one`);
  if (source.text.length > MOST_BYTES) throw refused("limit", `the scenario has more than ${MOST_BYTES} characters. ${ELSEWHERE}`);
  return { text: source.text, file: source.file, overrides: [...state.set, ...more], files: beside, seed: state.seed, run };
}

const refused = (kind: Told["kind"], message: string) => new EngineError({ kind, message });

// The scenario's tree; without nodes if the text is invalid, which the engine reports.
function treeOf({ text, overrides }: Of): Tree {
  try {
    return withSettings(text, overrides);
  } catch {
    return {};
  }
}

// Reads a scenario, or reports that it is too large.
export async function read(engine: Engine, of: Of, signal: AbortSignal): Promise<[Survey, Resolved]> {
  const many = tooMany(crowd(treeOf(of)));
  if (many) throw refused("limit", `${many}. ${ELSEWHERE}`);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(refused("limit", `the scenario takes longer than ${READ_MS / 1000} s to read. ${ELSEWHERE}`)), READ_MS);
  const both = AbortSignal.any([signal, late.signal]);
  try {
    const asked = [askJson<Survey>(engine, { do: "survey", of }, both), askJson<Resolved>(engine, { do: "resolve", of }, both)] as const;
    return await Promise.all(asked);
  } finally {
    clearTimeout(timer);
  }
}

// Keys that determine the duration of a run and its first measured second.
const LENGTHS = /^(duration|warm_up|cool_down|test)(\.|$)/;

// The scenario read last, with its settings at the time.
export type Before = [State, Survey, Resolved] | null;

// Returns true if the first measured second has not changed.
function sameSecond(state: State, before: State): boolean {
  const lengths = (of: State) => JSON.stringify(of.set.filter(([key]) => LENGTHS.test(key)));
  return state.scenario === before.scenario && state.text === before.text && lengths(state) === lengths(before);
}

// Throws an `EngineError` with the reason.
export async function run(engine: Engine, state: State, signal: AbortSignal, progress: Progress, before: Before = null): Promise<void> {
  // The first plot does not wait for the duration, which a knob is unlikely to change.
  const early = before && sameSecond(state, before[0]) && !tooMany(crowd(treeOf(asOf(state)))) ? second(engine, state, before[1], signal) : null;
  early?.catch(() => null);
  const [survey, resolved] = await read(engine, asOf(state), signal);
  const why = refusal(survey);
  if (why) {
    progress.survey(survey, resolved);
    throw refused("limit", `${why}. ${ELSEWHERE}`);
  }
  let complete = false;
  const known = early && before && survey.warm_up_s === before[1].warm_up_s && survey.duration_s === before[1].duration_s ? early : null;
  const picture = (known ?? second(engine, state, survey, signal)).then((found) => complete || !found || progress.outcome(found));
  // Draw the knobs after the plot.
  if (known) void picture.then(() => signal.aborted || progress.survey(survey, resolved), () => null);
  else progress.survey(survey, resolved);
  const whole = Promise.all(
    Array.from({ length: state.runs }, (_, n) => askJson<Result>(engine, { do: "run", of: asOf(state, n) }, signal)),
  ).then(async (results) => {
    complete = true;
    const found = outcome(results, survey.duration_s, true);
    progress.outcome(found);
    await where(engine, state, found, signal, progress);
  });
  await Promise.all([whole, picture]);
}

// Where packets waited: repeats the first run with all packets followed, after everything else is shown.
async function where(engine: Engine, state: State, found: Outcome, signal: AbortSignal, { outcome: show }: Progress): Promise<void> {
  const result = await askJson<Result>(engine, { do: "run", of: asOf(state, 0, [["record.sojourn", "true"]]) }, signal);
  const sojourn = result.runs[0]?.sojourn;
  if (sojourn) show({ ...found, tails: tails(sojourn), layers: sojourn.layers, slowest: sojourn.slowest });
}

// The first measured second; null if the scenario cannot be shortened, or would hardly become shorter.
async function second(engine: Engine, state: State, survey: Survey, signal: AbortSignal): Promise<Outcome | null> {
  const seconds = survey.warm_up_s + 1;
  if (survey.duration_s <= 2 * seconds) return null;
  const short: Override[] = [["duration", `${seconds} s`], ["cool_down", "0 s"]];
  try {
    const result = await askJson<Result>(engine, { do: "run", of: asOf(state, 0, short) }, signal);
    return outcome([result], seconds, false);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return null;
  }
}
