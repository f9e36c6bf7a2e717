// The module gives the same responses as the native engine for every scenario without quinn.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, bundled, engine, of, path, paths, python } from "./load.mjs";

const HASHES = `
import json, sys
from stillair import _native
found = {}
for name, text in json.load(sys.stdin):
    run = json.loads(_native.run(text, "x.toml", [], None, 1, 0, 1, None))["runs"][0]
    found[name] = [run["trace_hash"], run["goodput_total_mbps"]]
print(json.dumps(found))
`;

const by = await engine();
const all = [...bundled(), ...paths()];
const native = python(HASHES, all);

test("all scenarios are included except those that need quinn or real hosts", () => {
  const files = readdirSync(join(ROOT, "scenarios"), { recursive: true }).filter((name) => name.endsWith(".toml"));
  const names = new Set(all.map(([name]) => `${name}.toml`));
  const left = files.filter((name) => !names.has(name));
  assert.deepEqual(left.filter((name) => !name.startsWith("live/")), ["quic-quinn.toml"]);
});

test("a path has modelled hosts, and a download between them", async () => {
  assert.equal(paths().length, readdirSync(join(ROOT, "crates", "sim", "paths")).length);
  for (const [name, text] of paths()) {
    const survey = await by.json({ do: "survey", of: of(text) });
    const flows = survey.flows.map(({ name: flow }) => flow);
    assert.ok(["download", "ping"].every((own) => flows.some((flow) => flow.startsWith(own))), `${name}: ${flows}`);
  }
  assert.throws(() => path('name = "x"\nwarm_up = "1 s"\n'), /0 external hosts in a path/);
});

for (const [name, text] of all) {
  test(`${name}: every event equals the native run`, async () => {
    const run = (await by.json({ do: "run", of: of(text) })).runs[0];
    assert.deepEqual([run.trace_hash, run.goodput_total_mbps], native[name]);
  });
}

test("a scenario that needs quinn is rejected with its key", async () => {
  const text = readFileSync(join(ROOT, "scenarios", "quic-quinn.toml"), "utf8");
  const refused = await by.ask({ do: "survey", of: of(text) }).catch((error) => error.told);
  assert.equal(refused.kind, "scenario");
  assert.match(refused.mistakes[0].key, /stack/);
});

test("the module has no imports, and so no clock or network", () => {
  const module = new WebAssembly.Module(readFileSync(join(ROOT, "build", "web", "engine.wasm")));
  assert.deepEqual(WebAssembly.Module.imports(module), []);
});

test("a capture equals the native engine's, byte for byte", async () => {
  const [, text] = all.find(([name]) => name === "anomaly-tcp");
  const bytes = await by.ask({ do: "capture", of: of(text, [["duration", "6 s"]]), points: [], from: "5 s", until: "6 s" });
  const NATIVE = `
import json, sys, tempfile, hashlib, pathlib
from stillair import _native
text = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as folder:
    part = str(pathlib.Path(folder) / "x.pcapng")
    _native.capture(text, "x.toml", [("duration", "6 s")], None, 0, part, part, [], ("5 s", "6 s"), 0)
    print(json.dumps(list(pathlib.Path(part).read_bytes()[:100000])))
`;
  assert.deepEqual([...bytes.subarray(0, 100_000)], python(NATIVE, text));
});
