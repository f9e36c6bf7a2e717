// Builds the page into OUT: the folder (index.html, app.js, worker.js, engine.wasm.xz) and stillair.html, which is all of it in one file.
// Usage: node build.mjs ENGINE.wasm OUT
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { parse } from "smol-toml";
import { papers } from "./papers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const scenarios = join(here, "..", "scenarios");

// Files whose engine the module does not have: quinn-proto reads a clock and the system's random numbers.
const NEEDS_QUINN = /^\s*stack\s*=.*quinn/m;

// Hosts that are no part of the model: a run in virtual time has none of them.
function hasRealHosts(text) {
  return Object.values(parse(text).node ?? {}).some(({ host }) => host !== undefined && host !== "model");
}

function toml(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? toml(path) : entry.name.endsWith(".toml") ? [path] : [];
  });
}

export function bundled() {
  const all = toml(scenarios).sort();
  const texts = all.map((path) => [relative(scenarios, path).replace(/\.toml$/, ""), readFileSync(path, "utf8")]);
  return texts.filter(([, text]) => !NEEDS_QUINN.test(text) && !hasRealHosts(text));
}

const presets = join(here, "..", "crates", "sim", "paths");

// A transport's paths (`stillair link`), which have a host outside at either end: here both are modelled, and a download and pings go between them.
export function path(text) {
  const [modelled, hosts] = [text.replace(/^host = "external"\n|host = "external", /gm, ""), [...text.matchAll(/host = "external"/g)].length];
  if (hosts !== 2) throw new Error(`a path has two hosts outside, and this one ${hosts}`);
  // What changes on its way is seen too.
  const length = /\bat = "/.test(text) ? "30 s" : "10 s";
  const flows = ['kind = "tcp"\nname = "download"', 'kind = "ping"\nname = "ping"\ninterval = "20 ms"'];
  const own = flows.map((flow) => `[[flow]]\n${flow}\nfrom = "server"\nto = "client"\n`);
  return `${modelled.replace(/^warm_up = /m, `duration = "${length}"\n$&`).trimEnd()}\n${own.join("")}`;
}

export function paths() {
  const files = readdirSync(presets).filter((name) => name.endsWith(".toml")).sort();
  return files.map((name) => [`paths/${basename(name, ".toml")}`, path(readFileSync(join(presets, name), "utf8"))]);
}

export function labs() {
  const folder = join(here, "labs");
  const files = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();
  return files.map((name) => ({ id: basename(name, ".json").replace(/^\d+-/, ""), ...JSON.parse(readFileSync(join(folder, name), "utf8")) }));
}

// Modules that are data, for the page and for its tests.
const DATA = {
  "stillair:labs": labs,
  "stillair:scenarios": () => [...bundled(), ...paths()],
  "stillair:papers": () => papers(new Set(bundled().map(([name]) => name))),
};
export const data = {
  name: "stillair",
  setup(of) {
    of.onResolve({ filter: /^stillair:/ }, ({ path }) => ({ path, namespace: "stillair" }));
    of.onLoad({ filter: /.*/, namespace: "stillair" }, ({ path }) => {
      return { contents: JSON.stringify(DATA[path]()), loader: "json" };
    });
  },
};

const common = { bundle: true, minify: true, format: "iife", target: "es2022", write: false, legalComments: "none", logLevel: "warning" };

async function script(entry, more = {}) {
  const { outputFiles } = await build({ ...common, ...more, entryPoints: [join(here, entry)], outdir: "out" });
  const of = (end) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "";
  return { js: of(".js"), css: of(".css") };
}

// What a script's text may not have in it, within a page.
const inline = (js) => js.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");

// With the notices of what others have written, as most of their licences ask for.
const notices = readFileSync(join(here, "..", "THIRD-PARTY-NOTICES.txt"), "utf8");

function page(head, body) {
  const template = readFileSync(join(here, "src", "index.html"), "utf8");
  const others = `<script type="text/plain" id="notices">${inline(notices)}</script>`;
  return template.replace("<!-- head -->", () => head).replace("<!-- body -->", () => `${others}\n${body}`);
}

// Only what is part of the page may be loaded. `wasm-unsafe-eval` lets the module be compiled, and no text be run as a script.
const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:";
const FOLDER = `${POLICY}; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; worker-src 'self'`;
const ONE_FILE = `${POLICY}; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'; worker-src blob:`;
const meta = (policy) => `<meta http-equiv="Content-Security-Policy" content="${policy}">`;

async function main([engine, out]) {
  // Code for WebAssembly has no alignment, which `pb` is about.
  const packed = execFileSync("xz", ["--lzma2=preset=9e,lc=4,pb=0", "--check=crc32", "--stdout", engine], { maxBuffer: 1 << 26 });
  const app = await script("src/main.tsx", { plugins: [data], jsx: "automatic", jsxImportSource: "preact" });
  const worker = await script("src/engine/worker.ts");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const files = {
    "index.html": page(`${meta(FOLDER)}\n<link rel="stylesheet" href="app.css">`, '<script src="app.js"></script>'),
    "app.js": app.js,
    "app.css": app.css,
    "worker.js": worker.js,
    "engine.wasm.xz": packed,
  };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(out, name), bytes);
  const parts = [
    `<script type="application/octet-stream" id="engine">${packed.toString("base64")}</script>`,
    `<script type="text/plain" id="worker">${inline(worker.js)}</script>`,
    `<script>${inline(app.js)}</script>`,
  ];
  writeFileSync(join(out, "stillair.html"), page(`${meta(ONE_FILE)}\n<style>${app.css}</style>`, parts.join("\n")));
  const sizes = Object.entries(files).map(([name, bytes]) => [name, Math.min(gzipSync(bytes, { level: 9 }).length, Buffer.byteLength(bytes))]);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  const one = readFileSync(join(out, "stillair.html"));
  sizes.push(["the folder", total], ["stillair.html, gzip", gzipSync(one, { level: 9 }).length], ["stillair.html, brotli", brotliCompressSync(one).length]);
  console.log(sizes.map(([name, size]) => `${(size / 1000).toFixed(1).padStart(7)} kB  ${name}`).join("\n"));
  const MOST = 940_000;
  if (total > MOST) throw new Error(`the folder has ${total} bytes compressed, ${MOST} at most`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
