// The page of `stillair explore`, with the native engine.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, findings, opened, whole } from "./browser.mjs";
import { PYTHON, ROOT } from "./load.mjs";

let by, serving, address;
before(async () => {
  const own = join(mkdtempSync(join(tmpdir(), "stillair-explore-")), "own.toml");
  writeFileSync(own, readFileSync(join(ROOT, "scenarios", "bench", "anomaly-tcp.toml"), "utf8").replace("30 s", "10 s"));
  serving = spawn(PYTHON, ["-m", "stillair", "explore", own], { cwd: ROOT });
  [by, address] = await Promise.all([browser(), new Promise((done) => serving.stdout.once("data", (text) => done(text.toString().trim())))]);
});
after(async () => {
  await by.close();
  serving.kill("SIGINT");
});

test("the file from the command line is shown and run by the native engine, and its knobs work", async () => {
  const { page, wrong, elsewhere, close } = await opened(by, address);
  await whole(page);
  assert.match(await page.textContent(".status"), /10 s, one run, native/);
  const hash = await page.getAttribute("[data-hash]", "data-hash");
  await page.selectOption("#knob-node-ap-interface-wlan0-scheme", "airtime");
  await page.waitForFunction((old) => document.querySelector("[data-hash]")?.dataset.hash !== old, hash);
  await whole(page);
  assert.deepEqual(await findings(page), []);
  assert.deepEqual([wrong, elsewhere], [[], []]);
  await close();
});

test("another page in the same browser gets no response", async () => {
  const context = await by.newContext();
  const page = await context.newPage();
  await page.goto("data:text/html,<p>elsewhere");
  const outcome = await page.evaluate(async (url) => {
    const asks = [["GET", {}], ["POST", { body: "{}" }], ["POST", { body: "{}", headers: { "Content-Type": "application/json" } }]];
    return Promise.all(asks.map(([method, more]) => fetch(`${url}ask`, { method, ...more }).then((r) => `read ${r.status}`, () => "refused")));
  }, address);
  assert.deepEqual(outcome, ["refused", "refused", "refused"]);
  await context.close();
});
