// The page: scenario menu, tabs, error message, and the view.
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { busy, change, engine, found, problem, start, state, stop, survey } from "../model/app.ts";
import { campaignsOf, catalogue, groups, sourceOf } from "../model/catalogue.ts";
import { MOST_BYTES } from "../model/limits.ts";
import { VIEWS, type View } from "../model/state.ts";
import { Air } from "./air.tsx";
import { Explore } from "./explore.tsx";
import { KnobPanel } from "./knobs.tsx";
import { Labs } from "./labs.tsx";
import { SharePanel } from "./share.tsx";
import { TextPanel } from "./text.tsx";
import { ThemeButton } from "./theme.tsx";

const TITLES: Record<View, string> = { explore: "Explore", air: "See the air", labs: "Labs" };

export function Shell() {
  const over = useSignal(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    over.value = false;
    const file = event.dataTransfer?.files[0];
    if (file) void take(file);
  };
  return (
    <div
      class={`page ${over.value ? "drop" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={() => (over.value = false)}
      onDrop={drop}
    >
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to results</a>
      <Header />
      <main id="main" tabIndex={-1}>
        <Problem />
        <View />
      </main>
      <Footer />
    </div>
  );
}

function Header() {
  const { view } = state.value;
  return (
    <header>
      <div class="brand">
        <h1>Stillair</h1>
        <nav aria-label="Views">
          {VIEWS.map((one) => (
            <button type="button" key={one} aria-current={one === view ? "page" : undefined} onClick={() => change({ ...state.value, view: one })}>
              {TITLES[one]}
            </button>
          ))}
        </nav>
        <ThemeButton />
      </div>
      {view !== "labs" && <Chooser />}
    </header>
  );
}

export async function take(file: File): Promise<void> {
  // Cancel pending runs: their results would remove the message.
  const wrong = (message: string) => {
    stop();
    problem.value = { kind: "input", message };
  };
  if (file.size > MOST_BYTES) return void wrong(`${file.name}: found ${file.size} bytes, expected at most ${MOST_BYTES}`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return void wrong(`${file.name}: not UTF-8 text, expected a scenario (TOML)`);
  }
  change({ ...state.value, view: state.value.view === "labs" ? "explore" : state.value.view, scenario: "", text, file: file.name, set: [] });
}

function Chooser() {
  const { scenario, text, file } = state.value;
  const source = sourceOf(state.value);
  return (
    <div class="chooser">
      <label for="scenario">Scenario</label>
      <select
        id="scenario"
        value={text === null ? scenario : ""}
        onChange={(event) => change({ ...state.value, scenario: event.currentTarget.value, text: null, file: "", set: [] })}
      >
        {text !== null && <option value="">{file}</option>}
        {groups.map((group) => (
          <optgroup key={group} label={group}>
            {catalogue.filter((one) => one.group === group).map(({ id }) => <option key={id} value={id}>{id}</option>)}
          </optgroup>
        ))}
      </select>
      <AsInPaper />
      <label class="button">
        Open a file
        <input type="file" class="sr" accept=".toml,text/plain" onChange={(event) => { const one = event.currentTarget.files?.[0]; if (one) void take(one); }} />
      </label>
      <p class="about">{source?.about}</p>
      <Status />
    </div>
  );
}

// Settings of a paper's experiment, if the scenario is one of those.
function AsInPaper() {
  const of = campaignsOf(state.value);
  if (!of.length) return null;
  const cells = of.flatMap((one) => one.cells);
  const now = JSON.stringify(state.value.set);
  const chosen = cells.find(({ set }) => JSON.stringify(set) === now)?.id ?? "";
  return (
    <>
      <label for="paper">Paper settings</label>
      <select id="paper" value={chosen} onChange={(event) => change({ ...state.value, set: cells.find(({ id }) => id === event.currentTarget.value)?.set ?? [] })}>
        <option value="">{chosen || !state.value.set.length ? "scenario defaults" : "custom settings"}</option>
        {of.map(({ title, cells: its }) => (
          <optgroup key={title} label={title}>
            {its.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
          </optgroup>
        ))}
      </select>
    </>
  );
}

function Status() {
  const words = useComputed(() => {
    const now = found.value;
    if (busy.value) return now && !now.whole ? `${now.seconds} s of ${survey.value?.[1].duration_s ?? "?"} s, continuing …` : "running …";
    if (!now) return "";
    return `${now.seconds} s, ${now.runs.length === 1 ? "one run" : `${now.runs.length} runs`}, ${engine.value?.place ?? ""}`;
  });
  return (
    <p class="status">
      <span role="status">{words.value}</span>
      {busy.value && <button type="button" class="quiet" onClick={stop}>Stop</button>}
    </p>
  );
}

export function Problem() {
  const told = problem.value;
  if (!told) return null;
  const mistakes = told.mistakes ?? [];
  return (
    <section class="problem" role="alert" data-kind={told.kind}>
      <h2>{told.kind === "broken" ? "Internal error" : told.kind === "limit" ? "Too large for this page" : "Invalid scenario or setting"}</h2>
      {mistakes.length === 0 ? <p>{told.message}</p> : (
        <ul>
          {mistakes.map((one) => (
            <li key={`${one.line} ${one.key}`}>
              {one.line !== null && <b>line {one.line}: </b>}
              {one.key && <code>{one.key}</code>} {one.key && "– "}found {one.found}, expected {one.expected}
            </li>
          ))}
          {told.more ? <li>and {told.more} more</li> : null}
        </ul>
      )}
      <div class="buttons">
        {state.value.set.length > 0 && <button type="button" onClick={() => change({ ...state.value, set: state.value.set.slice(0, -1) })}>Undo last change</button>}
        <button type="button" onClick={() => { problem.value = null; void start(); }}>Run again</button>
      </div>
    </section>
  );
}

function View() {
  if (!engine.value && !problem.value) return <p class="faint waiting">Loading the engine …</p>;
  if (state.value.view === "labs") return <Labs />;
  const inner: ComponentChildren = state.value.view === "air" ? <Air /> : <Explore />;
  return (
    <div class="columns">
      <aside aria-label="Settings">
        <KnobPanel />
      </aside>
      <div class="results">
        {inner}
        <Notes />
        <SharePanel />
        <TextPanel />
      </div>
    </div>
  );
}

function Notes() {
  const notes = found.value?.notes ?? [];
  if (!notes.length) return null;
  return (
    <section class="card">
      <details>
        <summary>{notes.length === 1 ? "1 note" : `${notes.length} notes`} on this scenario</summary>
        <ul class="notes">{notes.map((note) => <li key={note}>{note}</li>)}</ul>
      </details>
    </section>
  );
}

function Footer() {
  const open = useSignal(false);
  return (
    <footer>
      <p>
        Stillair {found.value?.version ?? ""}: stations, access point, server and air in virtual time. Everything runs on this machine; nothing is sent anywhere.
      </p>
      <details onToggle={(event) => (open.value = event.currentTarget.open)}>
        <summary>Third-party notices and licences</summary>
        {open.value && <pre class="notices" tabIndex={0} aria-label="Notices">{document.getElementById("notices")?.textContent}</pre>}
      </details>
    </footer>
  );
}
