// The page in a real Chromium.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { after, before, test } from "node:test";
import { CUT, browser, findings, hosted, opened, whole } from "./browser.mjs";
import { papers } from "../papers.mjs";
import { PAGE, bundled, engine, of } from "./load.mjs";

let by, host;
before(async () => {
  [by, host] = [await browser(), await hosted()];
});
after(async () => {
  await by.close();
  host.server.close();
});

const at = (hash = "") => `${host.address}${hash}`;
const SCHEME = "#knob-node-ap-interface-wlan0-scheme";

for (const [scheme, width] of ["light", "dark"].flatMap((scheme) => [1280, 390].map((width) => [scheme, width]))) {
  for (const [view, hash, ready] of [
    ["explore", "#scenario=anomaly-tcp", "[data-hash]"],
    ["a path", "#scenario=paths/home-cable-bloat&set=duration%3D4%20s", "[data-hash]"],
    ["a plan of the floor", "#scenario=examples/hidden-nodes", ".floor"],
    ["air", "#view=air&scenario=anomaly-tcp", ".timeline"],
    ["labs", "#view=labs", ".shelf"],
    ["a lab", "#view=labs&lab=anomaly", ".question"],
    ["a mistake", "#scenario=anomaly-tcp&set=duration=soon", ".problem"],
  ]) {
    test(`${view}, ${scheme}, ${width} pixels wide: axe-core finds nothing, and nothing is cut`, async () => {
      const { page, wrong, elsewhere, close } = await opened(by, at(hash), { width, scheme });
      await page.waitForSelector(ready);
      if (ready === "[data-hash]") await whole(page);
      await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
      await page.waitForFunction(() => document.querySelector(".notices")?.textContent.includes("preact"));
      assert.deepEqual(await findings(page), []);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width);
      assert.deepEqual(await page.evaluate(CUT), []);
      assert.deepEqual([wrong, elsewhere], [[], []]);
      await close();
    });
  }
}

test("a knob updates the plots, and the previous setting stays visible", async () => {
  const { page, wrong, close } = await opened(by, at("#scenario=bench/anomaly-tcp"));
  await whole(page);
  const hash = await page.getAttribute("[data-hash]", "data-hash");
  const text = readFileSync(join(PAGE, "..", "..", "scenarios", "bench", "anomaly-tcp.toml"), "utf8");
  assert.equal(hash, (await (await engine()).json({ do: "run", of: of(text) })).runs[0].trace_hash);
  const median = () => page.textContent('[data-figure="Median latency"]').then(Number.parseFloat);
  const before = await median();
  await page.selectOption(SCHEME, "fq_mac");
  await page.waitForFunction((old) => document.querySelector("[data-hash]")?.dataset.hash !== old, hash);
  await whole(page);
  assert.ok((await median()) < before / 5, `${await median()} and before ${before}`);
  assert.ok(await page.locator(".bar-ghost").count() > 0);
  assert.match(await page.textContent(".tiles"), /÷/);
  assert.match(page.url(), /set=node\.ap\.interface\.wlan0\.scheme%3Dfq_mac/);
  assert.deepEqual(wrong, []);
  await close();
});

test("a paper's experiment is selected by name and runs with its settings", async () => {
  const { page, wrong, close } = await opened(by, at("#scenario=anomaly-tcp"));
  await whole(page);
  const hash = await page.getAttribute("[data-hash]", "data-hash");
  await page.selectOption("#paper", "ending-the-anomaly/tcp/airtime");
  await page.waitForFunction((old) => document.querySelector("[data-hash]")?.dataset.hash !== old, hash);
  await whole(page);
  const { set } = papers(new Set(["anomaly-tcp"])).find(({ name }) => name === "tcp").cells.find(({ name }) => name === "airtime");
  const text = bundled().find(([name]) => name === "anomaly-tcp")[1];
  const alone = await (await engine()).json({ do: "run", of: of(text, set) });
  assert.equal(await page.getAttribute("[data-hash]", "data-hash"), alone.runs[0].trace_hash);
  assert.equal(await page.inputValue("#paper"), "ending-the-anomaly/tcp/airtime");
  assert.deepEqual(wrong, []);
  await close();
});

test("the delay of the slowest packets is shown by layer, and of the slowest one by step", async () => {
  const { page, wrong, close } = await opened(by, at("#scenario=bench/anomaly-tcp"));
  await whole(page);
  await page.waitForSelector("[data-slowest]", { state: "attached" });
  const text = bundled().find(([name]) => name === "bench/anomaly-tcp")[1];
  const { sojourn } = (await (await engine()).json({ do: "run", of: of(text, [["record.sojourn", "true"]]) })).runs[0];
  const shown = await page.getAttribute("[data-slowest]", "data-slowest");
  assert.ok(Object.values(sojourn.slowest).some(({ delay_ns }) => String(delay_ns) === shown), shown);
  for (const layer of ["qdisc", "driver", "air", "wire"]) assert.ok((await page.textContent(".legend:has(.box)")).includes(layer), layer);
  assert.deepEqual(wrong, []);
  await close();
});

test("the page works with only the keyboard", async () => {
  const { page, close } = await opened(by, at("#scenario=bench/anomaly-tcp"));
  await whole(page);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.className"), "skip");
  const reached = new Set();
  for (let n = 0; n < 60; n++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate("document.activeElement.id || document.activeElement.textContent.trim().slice(0, 20)"));
  }
  for (const id of ["scenario", "knob-node-ap-interface-wlan0-scheme", "runs", "seed", "search", "Copy link", "CSV"]) assert.ok(reached.has(id), `${id} of ${[...reached].join(", ")}`);
  const hash = await page.getAttribute("[data-hash]", "data-hash");
  await page.focus("#knob-link-lan-delay");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((old) => document.querySelector("[data-hash]")?.dataset.hash !== old, hash);
  await close();
});

test("all keys can be found and set", async () => {
  const { page, close } = await opened(by, at("#scenario=bench/anomaly-tcp"));
  await whole(page);
  await page.fill("#search", "beacon interval");
  const input = page.locator(".hits li", { hasText: "channel.wifi.beacon_interval" }).locator("input");
  const hash = await page.getAttribute("[data-hash]", "data-hash");
  await input.fill("204.8 ms");
  await input.press("Enter");
  await page.waitForFunction((old) => document.querySelector("[data-hash]")?.dataset.hash !== old, hash);
  await close();
});

test("the air: zoom to one slot, frame details, a followed packet", async () => {
  const { page, wrong, close } = await opened(by, at("#view=air&scenario=anomaly-tcp"));
  await page.waitForSelector(".timeline");
  const span = () => page.getAttribute("[data-span]", "data-span").then(Number);
  await page.getByRole("button", { name: "All", exact: true }).click();
  assert.equal(await span(), 10e9);
  await page.focus(".timeline");
  for (let n = 0; n < 24; n++) await page.keyboard.press("+");
  assert.equal(await span(), 9_000);
  await page.keyboard.press("n");
  assert.match(await page.textContent(".told"), /^\d+\.\d{3} ms: an? .* from .* to .* Mbit\/s, .* on the air/);
  for (let n = 0; n < 12; n++) await page.keyboard.press("-");
  await page.selectOption("#walk-flow", "down.slow");
  await page.click("text=Follow the packet");
  await page.waitForSelector("[data-walk]");
  const walk = await page.textContent("[data-walk]");
  for (const word of ["created by the sender", "passed to the device", "at the end of the wire", "on the air for", "delivered, "]) assert.ok(walk.includes(word), `${word}: ${walk}`);
  const ink = await page.evaluate(() => {
    const canvas = document.querySelector(".timeline");
    return new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, 200).data).size;
  });
  assert.ok(ink > 20, "the canvas is empty");
  assert.deepEqual(wrong, []);
  await close();
});

test("a lab asks before it explains", async () => {
  const { page, close } = await opened(by, at("#view=labs&lab=bufferbloat"));
  const question = page.locator(".question").first();
  await question.locator("button:not([disabled])").waitFor({ state: "detached" });
  assert.equal(await question.locator(".bars").count(), 0);
  await question.locator("input").first().check();
  await question.getByRole("button", { name: "Measure" }).click();
  assert.match(await question.textContent(), /Correct answer: /);
  assert.ok((await question.locator(".bars li").count()) === 3);
  await close();
});

test("files are real: TOML, CSV, PNG, pcapng, Flent", async () => {
  const { page, wrong, close } = await opened(by, at("#scenario=bench/anomaly-tcp&set=duration=5 s"));
  await whole(page);
  const saved = async (label) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`.share button:has-text("${label}")`)]);
    return [download.suggestedFilename(), readFileSync(await download.path())];
  };
  const [, toml] = await saved("TOML");
  assert.match(toml.toString(), /^duration = "5 s"$/m);
  const [, csv] = await saved("CSV");
  assert.match(csv.toString(), /^run,scenario,seed,t,station,flow,ac,metric,value,unit\n0,bench-anomaly-tcp,1,0\.2,fast1,/);
  const [, png] = await saved("PNG");
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  const [, pcapng] = await saved("pcapng");
  assert.equal(pcapng.readUInt32LE(0), 0x0a0d0d0a);
  const [name, flent] = await saved("Flent");
  assert.match(name, /^rtt_fair_var_down-.*\.flent\.gz$/);
  assert.equal(JSON.parse(gunzipSync(flent).toString()).version, 4);
  assert.deepEqual(wrong, []);
  await close();
});

test("stillair.html works from file:// with workers, and requests nothing else", async () => {
  const { page, wrong, elsewhere, close } = await opened(by, `file://${join(PAGE, "stillair.html")}#scenario=bench/anomaly-tcp`);
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await whole(page);
  await page.selectOption(SCHEME, "fifo");
  await whole(page);
  assert.deepEqual([wrong, elsewhere, requests.filter((url) => !/^(data|blob):/.test(url))], [[], [], []]);
  await close();
});

test("a copied link restores the page", async () => {
  const first = await opened(by, at("#scenario=bench/rrul&set=duration=3 s&seed=9&runs=2"));
  await whole(first.page);
  const hashes = (page) => page.$$eval("[data-hash]", (all) => all.map((one) => one.dataset.hash));
  const [link, seen] = [first.page.url(), await hashes(first.page)];
  assert.equal(seen.length, 2);
  await first.close();
  const second = await opened(by, link);
  await whole(second.page);
  assert.deepEqual(await hashes(second.page), seen);
  await second.close();
});

// Appearance of a page with an error: a message, and the scenario menu.
async function told(page) {
  await page.waitForSelector(".problem");
  const text = await page.textContent(".problem");
  assert.ok(text.length > 30, text);
  assert.ok(await page.locator("nav button").count() === 3);
  return text;
}

const good = bundled().find(([name]) => name === "bench/anomaly-tcp")[1];

// Each line of the scenario, corrupted in some way.
function damaged() {
  const lines = good.split("\n");
  const made = [];
  lines.forEach((line, n) => {
    if (!line.includes("=") || line.startsWith("#")) return;
    const put = (text) => made.push([n + 1, lines.map((one, at) => (at === n ? text : one)).join("\n")]);
    put(line.replace("=", "= ="));
    put(line.replace(/=.*/, "= { nosuch = true }"));
    put(line.replace(/^\s*"?([a-z_])/, "nosuchkey_$1"));
  });
  return made.slice(0, 60);
}

const LINKS = [
  "#nonsense", "#view=nowhere", "#scenario=", "#scenario=../../etc/passwd", "#scenario=no-such-scenario", "#set=", "#set=x", "#set==y", "#seed=-1", "#seed=1e99", "#seed=abc",
  "#runs=0", "#runs=100000", "#runs=two", "#text=%%%", "#text=AAAA", "#text=!!!!", "#scenario=anomaly-tcp&scenari=2", "#set=duration=forever", "#set=node.ap.interface.wlan0.scheme=<img src=x onerror=alert(1)>",
  "#set=nosuch.key=1", "#set=flow.99.rate=1 Mbit/s", "#set=duration=-1 s", "#set=node={}", "#set=flow=7", "#set=__proto__.x=1", "#set=constructor=1", `#${"x".repeat(40_000)}`,
];
const FILES = [
  ["empty.toml", ""], ["binary.toml", Buffer.from([0xff, 0xfe, 0, 1, 2, 0x80])], ["page.toml", "<script>alert(1)</script>"], ["large.toml", Buffer.alloc(3_000_000, "a")],
  ["json.toml", "{\"name\": 1}"], ["deep.toml", `x = ${"[".repeat(3000)}${"]".repeat(3000)}`], ["zero.toml", "\0\0\0"], ["<img src=x onerror=alert(1)>.toml", "name = 1"], ["bom.toml", "\uFEFFname = "],
  ["long.toml", `name = "${"a".repeat(100_000)}"`], ["more.toml", `${good}\n[nosuch]\nkey = 1`], ["quinn.toml", readFileSync(join(PAGE, "..", "..", "scenarios", "quic-quinn.toml"))],
];

const SHORT = "#scenario=bench/anomaly-tcp&set=duration=200 ms&set=warm_up=0 s";

test("a hundred malformed scenarios, links and files each give a message, never a blank page", async () => {
  const texts = damaged();
  assert.ok(texts.length + LINKS.length + FILES.length >= 100, `${texts.length + LINKS.length + FILES.length}`);
  const { page, wrong, close } = await opened(by, at(SHORT));
  await whole(page);
  page.on("dialog", (dialog) => wrong.push(`a dialog: ${dialog.message()}`));
  // A rejected file changes nothing; the current results stay.
  const recover = async (name) => {
    if (["binary.toml", "large.toml"].includes(name)) await page.click("text=Run again");
    else await page.evaluate((hash) => (location.hash = hash), SHORT);
    await page.waitForFunction(() => !document.querySelector(".problem"));
  };
  for (const [name, buffer, line] of [...texts.map(([line, text], n) => [`damaged-${n}.toml`, text, line]), ...FILES]) {
    await page.setInputFiles("input[type=file]", { name, mimeType: "text/plain", buffer: Buffer.from(buffer) });
    const text = await told(page).catch((error) => assert.fail(`${name}: ${error.message}\n${buffer.toString().slice(0, 300)}`));
    if (line) assert.match(text, /line \d+:/, `${name}: ${text}`);
    // A TOML syntax error is reported at its place; other errors may refer to the enclosing table.
    if (line && buffer.includes("= =")) assert.match(text, new RegExp(`line ${line}:`), `${name}: ${text}`);
    await recover(name);
  }
  for (const link of LINKS) {
    await page.evaluate((hash) => (location.hash = hash), link);
    await told(page).catch((error) => assert.fail(`${link}: ${error.message}`));
    await page.evaluate((hash) => (location.hash = hash), SHORT);
    await page.waitForFunction(() => !document.querySelector(".problem"));
  }
  assert.deepEqual(wrong, []);
  await close();
});

test("markup in names stays text", async () => {
  const { page, wrong, close } = await opened(by, at("#scenario=bench/anomaly-tcp"));
  await whole(page);
  page.on("dialog", (dialog) => wrong.push(dialog.message()));
  const evil = `<img src=x onerror=alert(1)><script>alert(2)</script>`;
  const text = good.replace(/name = ".*"/, `name = ${JSON.stringify(evil)}`).replace('kind = "ping"', `kind = "ping"\nname = ${JSON.stringify(evil)}`).replace(/^#.*\n/, `# ${evil}\n`);
  await page.setInputFiles("input[type=file]", { name: `${evil.replaceAll("/", "")}.toml`, mimeType: "text/plain", buffer: Buffer.from(text) });
  await page.waitForFunction(() => document.querySelector(".bars")?.textContent.includes("<img"), null);
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.deepEqual(wrong, []);
  await close();
});

// `make bench-web` measures the time.
test("ten thousand stations or a year are rejected", async () => {
  const { page, close } = await opened(by, at("#scenario=cafe"));
  await whole(page);
  for (const set of ["node.guest.count=10000", "duration=31536000 s", "duration=900000 s", "node.guest.count=200&set=duration=3000 s"]) {
    await page.evaluate((hash) => (location.hash = hash), `#scenario=cafe&set=${set}`);
    await page.waitForSelector(".problem");
    // More than a million seconds is not a valid duration.
    const kind = set.includes("31536000") ? "scenario" : "limit";
    assert.equal(await page.getAttribute(".problem", "data-kind"), kind, await page.textContent(".problem"));
    await page.evaluate(() => (location.hash = "#scenario=cafe&set=duration=6 s"));
    await page.waitForFunction(() => !document.querySelector(".problem"));
  }
  await close();
});

test("a long run can be stopped, and the page stays usable", async () => {
  const { page, wrong, close } = await opened(by, at("#scenario=bench/anomaly-tcp"));
  await whole(page);
  await page.evaluate(() => (location.hash = "#scenario=bench/anomaly-tcp&set=duration=2000 s"));
  await page.getByRole("button", { name: "Stop" }).click();
  await page.waitForSelector(".status button", { state: "detached" });
  assert.equal(await page.locator("[data-hash]").count(), 0, "the run had already ended");
  await page.evaluate(() => (location.hash = "#scenario=bench/anomaly-tcp&set=duration=3 s"));
  await whole(page);
  assert.deepEqual(wrong, []);
  await close();
});
