// Speed of the page (`make bench-web`): CPU time of a run in Chromium and in the native engine, and the time from a knob to a plot.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { browser, hosted, opened, whole } from "./browser.mjs";
import { PYTHON, ROOT } from "./load.mjs";

const NAMES = ["anomaly-tcp", "rrul", "upload-4"];
const TIMES = 7;

const NATIVE = `
import sys, time
from stillair import _native
text = open(sys.argv[1]).read()
def once():
    begun = time.process_time()
    _native.run(text, "x.toml", [("duration", "10 s")], None, 1, 0, 1, None, True)
    return time.process_time() - begun
once()
print(min(once() for _ in range(int(sys.argv[2]))) * 1000)
`;

// CPU time in ms of the workers in this program's browser, independent of other load on the machine.
function workersCpu() {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parents = new Map(processes.flatMap((pid) => {
    try {
      return [[pid, readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ")[1]]];
    } catch {
      return [];
    }
  }));
  const ours = (pid) => pid === String(process.pid) || (parents.has(pid) && ours(parents.get(pid)));
  let ns = 0;
  for (const pid of parents.keys()) {
    if (!ours(pid)) continue;
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const task = `/proc/${pid}/task/${thread}`;
        if (readFileSync(`${task}/comm`, "utf8").startsWith("DedicatedWorker")) ns += Number(readFileSync(`${task}/schedstat`, "utf8").split(" ")[0]);
      }
    } catch {
      // It has exited meanwhile.
    }
  }
  return ns / 1e6;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const by = await browser();
const host = await hosted();

console.log("scenario       native    in Chromium    times   | 1 s from the knob   10 s from the knob (medians)");
for (const name of NAMES) {
  const file = join(ROOT, "scenarios", "bench", `${name}.toml`);
  const native = Number(execFileSync(PYTHON, ["-c", NATIVE, file, String(TIMES)], { cwd: ROOT }).toString());
  const { page, close } = await opened(by, `${host.address}#scenario=bench/${name}&set=duration=10 s`);
  await whole(page);
  const text = readFileSync(file, "utf8");
  await page.evaluate(
    async (scenario) => {
      // Uses the page's own worker and module directly, and takes the minimum of several runs.
      const compiled = await WebAssembly.compile(await (await fetch("engine.wasm")).arrayBuffer());
      const worker = new Worker("worker.js");
      worker.postMessage({ compiled });
      const of = { text: scenario, file: "x.toml", overrides: [["duration", "10 s"]], files: [], seed: null, run: 0 };
      globalThis.once = () =>
        new Promise((done) => {
          worker.onmessage = () => done();
          worker.postMessage({ id: 0, request: JSON.stringify({ do: "run", of }) });
        });
    },
    text,
  );
  const took = [];
  for (let n = 0; n <= TIMES; n++) {
    const before = workersCpu();
    await page.evaluate(() => globalThis.once());
    took.push(workersCpu() - before);
  }
  const engine = Math.min(...took.slice(1));
  if (!(engine > 1)) throw new Error(`a run took ${engine} ms of CPU: the workers' threads were not found`);
  const knob = await page.evaluate(async (times) => {
    const input = document.querySelector('[id^="knob-link-lan-delay"]');
    const seen = (what) => new Promise((done) => {
      const look = () => (what() ? done(performance.now()) : requestAnimationFrame(look));
      look();
    });
    const found = [];
    for (let n = 0; n < times; n++) {
      await new Promise((done) => setTimeout(done, 1500));
      const shown = () => document.querySelector("[data-figure=Goodput]").textContent;
      const [before, hash] = [shown(), document.querySelector("[data-hash]").dataset.hash];
      input.value = String(2 + (n % 2) * 3);
      const begun = performance.now();
      input.dispatchEvent(new Event("input", { bubbles: true }));
      const first = seen(() => shown() !== before);
      const all = seen(() => document.querySelector("[data-hash]") && document.querySelector("[data-hash]").dataset.hash !== hash);
      found.push([(await first) - begun, (await all) - begun]);
    }
    return found;
  }, TIMES);
  const [first, all] = [0, 1].map((n) => median(knob.map((one) => one[n])));
  console.log(`${name.padEnd(12)} ${native.toFixed(1).padStart(6)} ms ${engine.toFixed(1).padStart(9)} ms ${(engine / native).toFixed(2).padStart(11)}   | ${first.toFixed(0).padStart(9)} ms ${all.toFixed(0).padStart(18)} ms`);
  await close();
}
console.log("\nuntil the page of a host is of use, and then (medians)");
const opening = [];
for (let n = 0; n < TIMES; n++) {
  const begun = performance.now();
  const { page, close } = await opened(by, `${host.address}#scenario=anomaly-tcp`);
  await page.waitForSelector("[data-figure=Goodput]");
  opening.push(performance.now() - begun);
  await close();
}
console.log(`${median(opening).toFixed(0).padStart(8)} ms  a first picture, with engine and page loaded anew`);

const { page, close } = await opened(by, `${host.address}#scenario=cafe`);
await whole(page);
const back = "#scenario=bench/anomaly-tcp&set=duration=2 s";
// Time from a link to the expected element, always starting from an idle page.
async function until(hash, what) {
  const took = [];
  for (let n = 0; n < TIMES; n++) {
    await page.evaluate((link) => (location.hash = link), back);
    await page.waitForFunction(() => !document.querySelector(".problem"));
    await whole(page);
    took.push(await page.evaluate(what, hash));
  }
  return median(took);
}
const refused = async (hash) => {
  const begun = performance.now();
  location.hash = hash;
  while (!document.querySelector(".problem")) await new Promise(requestAnimationFrame);
  return performance.now() - begun;
};
const stopped = async (hash) => {
  location.hash = hash;
  await new Promise((done) => setTimeout(done, 400));
  const begun = performance.now();
  document.querySelector(".status button").click();
  while (document.querySelector(".status button")) await new Promise(requestAnimationFrame);
  return performance.now() - begun;
};
for (const [hash, what, label] of [
  ["#scenario=cafe&set=node.guest.count=10000", refused, "10,000 stations are refused"],
  ["#scenario=cafe&set=duration=900000 s", refused, "900,000 s are refused"],
  ["#scenario=bench/anomaly-tcp&set=duration=2000 s", stopped, "a run of 2,000 s is stopped"],
]) console.log(`${(await until(hash, what)).toFixed(0).padStart(8)} ms  ${label}`);
await close();
await by.close();
host.server.close();
