// Builds the page into OUT: a folder (index.html, app.js, worker.js, engine.wasm.xz), and stillair.html with everything in one file.
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

// Scenarios whose engine is not in the module: quinn-proto reads a clock and the system's random numbers.
const NEEDS_QUINN = /^\s*stack\s*=.*quinn/m;

// Hosts outside the model; a run in virtual time has none.
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

// Transport paths (`stillair link`) have an external host at each end. Here both ends are modelled, with a download and pings between them.
export function path(text) {
  const [modelled, hosts] = [text.replace(/^host = "external"\n|host = "external", /gm, ""), [...text.matchAll(/host = "external"/g)].length];
  if (hosts !== 2) throw new Error(`found ${hosts} external hosts in a path, expected two`);
  // Include changes along the path.
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

// Data modules, for the page and its tests.
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

// Text that an inline script must not contain.
const inline = (js) => js.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");

// Includes third-party notices, as most of their licences require.
const notices = readFileSync(join(here, "..", "THIRD-PARTY-NOTICES.txt"), "utf8");

function page(head, body) {
  const template = readFileSync(join(here, "src", "index.html"), "utf8");
  const others = `<script type="text/plain" id="notices">${inline(notices)}</script>`;
  return template.replace("<!-- head -->", () => head).replace("<!-- body -->", () => `${others}\n${body}`);
}

// Only parts of the page may be loaded. `wasm-unsafe-eval` permits compiling the module, but not evaluating strings as scripts.
const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:";
const FOLDER = `${POLICY}; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; worker-src 'self'`;
const ONE_FILE = `${POLICY}; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'; worker-src blob:`;
const meta = (policy) => `<meta http-equiv="Content-Security-Policy" content="${policy}">`;

async function main([engine, out]) {
  // Without `pb`, the alignment filter: WebAssembly code is not aligned.
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
