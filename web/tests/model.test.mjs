// The layer between page and engine: links, knobs, keys, labs, files.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bundled, engine, labs, load, of, python } from "./load.mjs";
import { papers } from "../papers.mjs";

const by = await engine();
const all = new Map(bundled());
const [{ fromLink, toLink }, { FIRST }, { Keys, search }, { knobs }, { inherited, tree }, { measure, stateOf }, { outcome }] = await Promise.all(
  ["model/link.ts", "model/state.ts", "model/keys.ts", "model/knobs.ts", "model/document.ts", "model/labs.ts", "model/outcome.ts"].map(load),
);
const { toToml } = await load("export/toml.ts");
const { tidy } = await load("export/csv.ts");
const { flentOf } = await load("export/flent.ts");
const { command } = await load("export/command.ts");
const keys = new Keys(await by.json({ do: "schema" }));

async function material(text, state) {
  const [survey, resolved] = [await by.json({ do: "survey", of: of(text) }), await by.json({ do: "resolve", of: of(text) })];
  return { state, document: inherited(tree(text)), survey, resolved, keys };
}

test("a state survives its link", async () => {
  const states = [
    FIRST,
    { ...FIRST, view: "air", scenario: "home", set: [["a.b", "x = \"y\" & z"], ["flow.0.rate", "5 Mbit/s"]], seed: 7, runs: 4 },
    { ...FIRST, scenario: "", text: "name = \"ü <b>\"\n".repeat(50), file: "own.toml" },
    { ...FIRST, view: "labs", lab: "anomaly" },
  ];
  for (const state of states) assert.deepEqual(await fromLink(await toLink(state)), state);
});

test("each knob of each scenario sets a valid key", async () => {
  // Scenarios with many stations have the same keys as those with few.
  for (const [name, text] of [...all].filter(([name]) => !/thirty|stations-|dormitory|office|campus|classroom/.test(name))) {
    const found = knobs(await material(text, { ...FIRST, scenario: name }));
    for (const knob of found) {
      const steps = knob.kind === "choice" ? knob.choices : knob.steps;
      for (const { value } of [steps.at(-1)]) {
        const overrides = Object.entries(knob.apply(value)).filter(([, to]) => to !== undefined);
        const told = await by.ask({ do: "survey", of: of(text, overrides) }).then(() => null, (error) => error.told);
        // A kernel may lack a congestion control, or a channel may be too narrow for a rate; but the key and its type are valid.
        for (const one of told?.mistakes ?? []) assert.doesNotMatch(`${one.found} ${one.expected}`, /unknown key|no such|expected a (time|rate|size|table)/, `${name}: ${knob.id} = ${value}: ${told.message}`);
      }
    }
  }
});

test("paper scenarios have the relevant knobs", async () => {
  const titles = async (name) => knobs(await material(all.get(name), { ...FIRST, scenario: name })).map(({ title }) => title);
  const anomaly = await titles("anomaly-tcp");
  for (const title of ["Queueing of ap", "Congestion control", "Small queues of server", "Rate of slow", "Loss of slow", "Delay of lan"]) assert.ok(anomaly.includes(title), `${title} of ${anomaly}`);
  assert.ok((await titles("anomaly-udp")).some((title) => title.startsWith("Load of")));
  assert.ok((await titles("cafe")).some((title) => title.startsWith("Number of")));
  assert.ok((await titles("bench/anomaly-tcp")).includes("Qdisc of ap.wlan0"));
});

test("each key found by the search is valid in the engine", async () => {
  for (const name of ["anomaly-tcp", "home", "microwave"]) {
    const found = keys.all(inherited(tree(all.get(name))));
    assert.ok(found.length > 200, `${found.length} keys`);
    assert.ok(found.every(({ about }) => about), found.find(({ about }) => !about)?.key);
    for (const { key } of found) {
      const told = await by.ask({ do: "survey", of: of(all.get(name), [[key, '"no such value"']]) }).then(() => null, (error) => error.told);
      assert.doesNotMatch(told?.message ?? "", /unknown key/, `${name}: ${key}`);
    }
  }
  assert.ok(search(keys.all(inherited(tree(all.get("anomaly-tcp")))), "rmem", 50).some(({ key }) => key.includes("tcp_rmem")));
});

test("the answers of labs are correct", async () => {
  assert.ok(labs().length >= 3);
  for (const lab of labs()) {
    const outcomes = new Map();
    for (const variant of lab.variants) {
      const state = stateOf(lab, variant, FIRST);
      const result = await by.json({ do: "run", of: of(all.get(lab.scenario), state.set) });
      outcomes.set(variant.name, outcome([result], 1, true));
    }
    for (const question of lab.questions) {
      assert.ok(question.answers[question.right], `${lab.id}: the right answer`);
      assert.ok(question.holds.length > 0);
      for (const { variant, than, times } of question.holds) {
        const [a, b] = [variant, than].map((name) => measure(question.measure, outcomes.get(name)));
        assert.ok(a > times * b, `${lab.id}: ${question.ask} ${variant} has ${a}, ${than} has ${b}`);
      }
    }
  }
});

test("exported TOML gives the same run as the knobs", async () => {
  const cases = [
    ["anomaly-tcp", [["node.ap.interface.wlan0.scheme", "fifo"], ["node.slow.interface.wlan0.rate", "ht20-mcs7-sgi"], ["node.slow.interface.wlan0.retry_chain", "[]"]]],
    ["anomaly-udp", [["flow.0.rate", "20 Mbit/s"], ["duration", "10 s"]]],
    ["anomaly-udp", [["duration", "8 s"], ["node.ap.interface.wlan0.scheme.target", "5 ms"]]],
    ["tsq-wifi", [["node.client.tcp.tsq_period", "8 ms"], ["duration", "5 s"]]],
  ];
  for (const [name, set] of cases) {
    const state = { ...FIRST, scenario: name, set, seed: 5 };
    const hash = async (asked) => (await by.json({ do: "run", of: asked })).runs[0].trace_hash;
    assert.equal(await hash(of(toToml(state))), await hash(of(all.get(name), set, { seed: 5 })), `${name}\n${toToml(state)}`);
  }
});

test("the command line repeats the run, whatever characters a value has", () => {
  const state = { ...FIRST, set: [["a.b", "it's 5 ms; rm -rf /"]], seed: 3, runs: 2 };
  assert.equal(command(state, "x.toml"), `stillair run anomaly-tcp --set 'a.b=it'\\''s 5 ms; rm -rf /' --seed 3 --runs 2`);
  const path = { ...state, scenario: "paths/hotel-hidden", set: [] };
  assert.equal(command(path, "hotel-hidden.toml"), "stillair run paths-hotel-hidden.toml --seed 3 --runs 2");
});

test("the parts of the slowest packets' delay add up, and following packets changes nothing", async () => {
  const { tails } = await load("model/tail.ts");
  const text = all.get("anomaly-tcp");
  const [plain, followed] = [await by.json({ do: "run", of: of(text) }), await by.json({ do: "run", of: of(text, [["record.sojourn", "true"]]) })];
  assert.equal(followed.runs[0].trace_hash, plain.runs[0].trace_hash);
  const found = tails(followed.runs[0].sojourn);
  assert.ok(found.length >= 6);
  for (const { name, ms, parts } of found) {
    const sum = parts.reduce((all, part) => all + part.ms, 0);
    assert.ok(Math.abs(sum - ms) < 1e-6 * ms, `${name}: ${sum} and ${ms}`);
  }
  for (const [name, { sent_ns, delay_ns, steps }] of Object.entries(followed.runs[0].sojourn.slowest)) {
    // Layers are contiguous, and the delay is the time outside the socket.
    for (const [n, step] of steps.entries()) if (n > 0) assert.equal(step.from_ns, steps[n - 1].until_ns, name);
    const sum = steps.filter(({ from_ns }) => from_ns >= sent_ns).reduce((all, { from_ns, until_ns }) => all + until_ns - from_ns, 0);
    assert.equal(sum, delay_ns, name);
  }
  const p99 = plain.runs[0].flows["down.slow"].delay_p99_ms;
  const slow = found.find(({ name }) => name === "down.slow").ms;
  assert.ok(slow > 0.95 * p99 && slow < 3 * p99, `${slow} and ${p99}`);
});

const PYTHON_FILES = `
import csv, io, json, sys
from stillair.results import tidy
from stillair.results.flent import file as flent
from stillair.results.series import Series
from stillair.results.tidy import Measured
out = {}
for name, result, resolved in json.load(sys.stdin):
    run = result["runs"][0]
    measured = Measured(result["scenario"], run, Series(run["series"]))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\\n")
    writer.writerow(tidy.Row._fields)
    writer.writerows(tidy.rows(measured))
    try:
        told = flent.to_dict(measured, resolved, "a title")
    except Exception as error:
        told = str(error)
    out[name] = [text.getvalue(), told]
print(json.dumps(out))
`;

// Sums may differ in the last digits, because Python's \`fsum\` rounds once. Everything else is equal.
function near(a, b, path = "") {
  if (typeof a === "number" && typeof b === "number") return assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b)), `${path}: ${a} and ${b}`);
  if (typeof a !== "object" || a === null || b === null) return assert.equal(a, b, path);
  assert.deepEqual(Object.keys(a).sort(), Object.keys(b ?? {}).sort(), path);
  for (const key of Object.keys(a)) near(a[key], b[key], `${path}.${key}`);
}

test("CSV and Flent files equal those of 'stillair export'", async () => {
  const cases = [
    ["anomaly-udp", []], ["anomaly-tcp", []], ["anomaly-voip", []], ["anomaly-web", [["duration", "40 s"]]], ["one-ms", []], ["tsq-wifi", [["record.ss", "100 ms"], ["duration", "5 s"]]],
    ["bench/rrul", [["duration", "5 s"]]], ["bench/upload-4", [["duration", "5 s"]]], ["home", []], ["laptop-scan", []], ["hidden", []],
  ];
  const runs = [];
  for (const [name, set] of cases) {
    const asked = of(all.get(name), set);
    const resolved = await by.ask({ do: "resolve", of: asked });
    runs.push([name, await by.json({ do: "run", of: asked }), new TextDecoder().decode(resolved)]);
  }
  const theirs = python(PYTHON_FILES, runs);
  for (const [name, result, resolved] of runs) {
    const [table, told] = theirs[name];
    assert.equal(tidy(result.scenario, result.runs), table, `${name}: CSV`);
    if (typeof told === "string") assert.throws(() => flentOf(result.version, result.scenario, result.runs[0], JSON.parse(resolved), "a title"), name);
    else near(JSON.parse(flentOf(result.version, result.scenario, result.runs[0], JSON.parse(resolved), "a title").json), told, name);
  }
});

const CAMPAIGNS = `
import json, sys
from stillair_lab.papers.runs.plan import plan
out = {}
for paper in json.load(sys.stdin):
    for experiment in plan(paper).experiments.values():
        for campaign in experiment.campaigns:
            out[f"{paper}/{campaign.id}"] = [campaign.scenario, [[cell.name, dict(cell.overrides)] for cell in campaign.cells]]
print(json.dumps(out))
`;

test("the papers' settings equal those of 'stillair paper', and each runs here", async () => {
  const campaigns = papers(new Set(all.keys()));
  assert.ok(campaigns.length >= 8, `${campaigns.length} campaigns`);
  const theirs = python(CAMPAIGNS, [...new Set(campaigns.map(({ paper }) => paper))]);
  for (const { paper, name, scenario, cells } of campaigns) {
    const [where, wanted] = theirs[`${paper}/${name}`];
    assert.equal(scenario, where);
    assert.deepEqual(cells.map(({ set }) => Object.fromEntries(set)), wanted.map(([, set]) => set), `${paper}/${name}`);
    for (const { name: cell, set } of cells) await by.ask({ do: "survey", of: of(all.get(scenario), set) }).catch(({ told }) => assert.fail(`${paper}/${name}/${cell}: ${told.message}`));
  }
});
