// The knobs of a scenario, and a search over all possible keys.
import { useComputed, useSignal } from "@preact/signals";
import { allKeys, change, shownKnobs, state } from "../model/app.ts";
import { type Key, search } from "../model/keys.ts";
import type { Knob } from "../model/knobs.ts";
import { MOST_RUNS, value, withSet } from "../model/state.ts";

const set = (values: Record<string, string | undefined>) => change(withSet(state.value, values));

export function KnobPanel() {
  const groups = useComputed(() => [...Map.groupBy(shownKnobs.value, ({ group }) => group)]);
  return (
    <section class="panel" aria-labelledby="knobs-title">
      <h2 id="knobs-title">Knobs</h2>
      {groups.value.length === 0 && <p class="faint">This scenario has no knobs; use the search below for all keys.</p>}
      {groups.value.map(([group, knobs]) => (
        <fieldset key={group}>
          <legend>{group}</legend>
          {knobs.map((knob) => <KnobRow key={knob.id} knob={knob} />)}
        </fieldset>
      ))}
      <Repeats />
      <Search />
      <Changes />
    </section>
  );
}

function KnobRow({ knob }: { knob: Knob }) {
  const id = `knob-${knob.id.replace(/[^A-Za-z0-9]/g, "-")}`;
  const back = knob.set && (
    <button type="button" class="quiet" title="Reset to the scenario's value" onClick={() => set(knob.apply(undefined))}>
      undo<span class="sr"> {knob.title}</span>
    </button>
  );
  return (
    <div class={`knob ${knob.set ? "is-set" : ""}`}>
      <div class="knob-head">
        <label for={id} title={`${knob.about}\n${knob.keys.join("\n")}`}>{knob.title}</label>
        {knob.kind === "ladder" && <output for={id}>{knob.steps[knob.index]?.label}</output>}
        {back}
      </div>
      {knob.kind === "choice" ? (
        <select id={id} value={knob.now} onChange={(event) => set(knob.apply(event.currentTarget.value))}>
          {!knob.choices.some((one) => one.value === knob.now) && <option value={knob.now}>{knob.now}</option>}
          {knob.choices.map((one) => <option key={one.value} value={one.value}>{one.label}</option>)}
        </select>
      ) : (
        <input
          id={id}
          type="range"
          min={0}
          max={knob.steps.length - 1}
          step={1}
          value={knob.index}
          aria-valuetext={knob.steps[knob.index]?.label}
          onInput={(event) => set(knob.apply(knob.steps[Number(event.currentTarget.value)]!.value))}
        />
      )}
    </div>
  );
}

function Repeats() {
  const { seed, runs } = state.value;
  const number = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : null);
  return (
    <fieldset>
      <legend>Chance</legend>
      <div class="knob">
        <div class="knob-head">
          <label for="runs" title="repetitions with independent random numbers">Repetitions</label>
          <output for="runs">{runs}</output>
        </div>
        <input id="runs" type="range" min={1} max={MOST_RUNS} value={runs} onInput={(event) => change({ ...state.value, runs: Number(event.currentTarget.value) })} />
      </div>
      <div class="knob row">
        <label for="seed">Seed</label>
        <input id="seed" class="short" inputMode="numeric" placeholder="default" value={seed ?? ""} onChange={(event) => change({ ...state.value, seed: number(event.currentTarget.value) })} />
      </div>
    </fieldset>
  );
}

const SHOWN = 30;

function Search() {
  const words = useSignal("");
  const hits = useComputed(() => (words.value.trim().length < 2 ? [] : search(allKeys.value, words.value, SHOWN + 1)));
  return (
    <fieldset>
      <legend>All keys</legend>
      <label for="search" class="sr">Search all keys of the scenario</label>
      <input id="search" type="search" placeholder="Search: codel target, beacon, rmem …" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} />
      <p class="sr" role="status">{words.value.trim().length < 2 ? "" : `${Math.min(hits.value.length, SHOWN)} keys found`}</p>
      {words.value.trim().length >= 2 && hits.value.length === 0 && <p class="faint">No key has these words in its name or meaning.</p>}
      <ul class="hits">{hits.value.slice(0, SHOWN).map((hit) => <Hit key={hit.key} hit={hit} />)}</ul>
      {hits.value.length > SHOWN && <p class="faint">More keys match; add a word.</p>}
    </fieldset>
  );
}

function Hit({ hit }: { hit: Key }) {
  const now = value(state.value, hit.key) ?? hit.now;
  const id = `key-${hit.key.replace(/[^A-Za-z0-9]/g, "-")}`;
  const put = (text: string) => set({ [hit.key]: text === "" ? undefined : text });
  return (
    <li>
      <label for={id}><code>{hit.key}</code></label>
      <p>{hit.about}</p>
      {hit.choices.length > 0 && (
        <datalist id={`${id}-list`}>{hit.choices.map((one) => <option key={one} value={one} />)}</datalist>
      )}
      <input id={id} list={`${id}-list`} value={now} placeholder={hit.otherwise} spellcheck={false} onChange={(event) => put(event.currentTarget.value.trim())} />
    </li>
  );
}

function Changes() {
  const { set: made } = state.value;
  if (!made.length) return null;
  return (
    <fieldset>
      <legend>Changed</legend>
      <ul class="changes">
        {made.map(([key, to]) => (
          <li key={key}>
            <code>{key} = {to}</code>
            <button type="button" class="quiet" onClick={() => set({ [key]: undefined })}>undo<span class="sr"> {key}</span></button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => change({ ...state.value, set: [] })}>Undo all</button>
    </fieldset>
  );
}
