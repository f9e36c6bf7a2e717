// Shared by the page's tests: Debian's Chromium, the page on loopback, axe-core.
import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { PAGE } from "./load.mjs";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
// Chromium's sandbox does not start as root, as in containers. It opens no external connection.
const OPTIONS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-gpu"];
const PATIENCE_MS = 120_000;
const KINDS = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", xz: "application/x-xz" };

export async function browser() {
  const program = PROGRAMS.find(existsSync);
  if (!program) throw new Error("Chromium is missing; install it with: sudo apt-get install chromium");
  return chromium.launch({ executablePath: program, args: OPTIONS });
}

// Serves the folder like any static host.
export async function hosted() {
  const server = createServer(async (request, response) => {
    const name = request.url.split("?")[0].slice(1) || "index.html";
    try {
      // The uncompressed module is only for the benchmark.
      const bytes = await readFile(name === "engine.wasm" ? join(PAGE, "..", "web", name) : join(PAGE, name.replaceAll("..", "")));
      response.writeHead(200, { "Content-Type": KINDS[name.split(".").at(-1)] ?? "text/plain" }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { server, address: `http://127.0.0.1:${server.address().port}/` };
}

// Opens a page, and records its errors and its requests to other hosts.
export async function opened(by, address, { width = 1280, height = 900, scheme = "light", ...more } = {}) {
  const context = await by.newContext({ viewport: { width, height }, colorScheme: scheme, acceptDownloads: true, ...more });
  const page = await context.newPage();
  // Generous, for machines under load.
  page.setDefaultTimeout(PATIENCE_MS);
  const wrong = [];
  const elsewhere = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  const here = new URL(address);
  page.on("request", (request) => {
    const url = new URL(request.url());
    const own = url.protocol === here.protocol && url.host === here.host;
    if (!own && !["data:", "blob:"].includes(url.protocol)) elsewhere.push(request.url());
  });
  await page.goto(address);
  return { page, wrong, elsewhere, close: () => context.close() };
}

export const whole = (page) => page.waitForFunction(() => document.querySelector("[data-hash]") && !document.querySelector(".status button"));

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function findings(page) {
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => window.axe.run());
  if (passes.length < 5) throw new Error("axe-core has looked at nothing");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

// Elements beyond the right edge, except in scrolling containers.
export const CUT = `[...document.querySelectorAll("body *")].filter((of) => !of.closest(".scroll, pre, .editor, .bars, .sr, .skip") && of.getBoundingClientRect().right > innerWidth + 0.5).map((of) => of.outerHTML.slice(0, 160))`;
