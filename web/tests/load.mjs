// Shared by the tests: the page's modules for Node, the engine in this process, and the native engine.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { bundled, data, labs, path, paths } from "../build.mjs";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const PAGE = process.env.STILLAIR_PAGE ?? join(ROOT, "build", "page");
export const PYTHON = join(ROOT, ".venv", "bin", "python");
export { bundled, labs, path, paths };

// Bundles one module of web/src with its imports.
export async function load(entry) {
  const options = { bundle: true, format: "esm", write: false, platform: "browser", jsx: "automatic", jsxImportSource: "preact" };
  const { outputFiles } = await build({ ...options, entryPoints: [join(ROOT, "web", "src", entry)], plugins: [data] });
  const file = join(mkdtempSync(join(tmpdir(), "stillair-web-")), "module.mjs");
  writeFileSync(file, outputFiles[0].text);
  return import(pathToFileURL(file));
}

// Page modules query the document for data from `stillair explore`; here it has none.
globalThis.document ??= { getElementById: () => null };

// The page's engine, in this process.
export async function engine() {
  const { Module } = await load("engine/module.ts");
  const compiled = await WebAssembly.compile(readFileSync(join(ROOT, "build", "web", "engine.wasm")));
  const module = await Module.of(compiled);
  const decoder = new TextDecoder();
  return {
    place: "in Node",
    slots: 1,
    async ask(asked) {
      const [good, bytes] = module.ask(JSON.stringify(asked));
      if (!good) throw Object.assign(new Error("refused"), { told: JSON.parse(decoder.decode(bytes)) });
      return bytes;
    },
    async json(asked) {
      return JSON.parse(decoder.decode(await this.ask(asked)));
    },
  };
}

export const of = (text, overrides = [], more = {}) => ({ text, file: "x.toml", overrides, files: [], seed: null, run: 0, ...more });

// Runs a Python program with `input` as JSON, and parses its JSON output.
export function python(program, input) {
  const options = { input: JSON.stringify(input), maxBuffer: 1 << 29, cwd: ROOT };
  return JSON.parse(execFileSync(PYTHON, ["-c", program], options).toString());
}
