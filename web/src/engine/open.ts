// Selects the engine: native if served by `stillair explore`, else the module, from its own file or embedded in the page.
import { XzReadableStream } from "xz-decompress";
import { NativeEngine } from "./native.ts";
import { WorkerPool } from "./pool.ts";
import type { Engine } from "./protocol.ts";
import { served } from "./served.ts";

export async function openEngine(): Promise<Engine> {
  const native = served();
  if (native) return new NativeEngine(native.token, native.slots);
  if (typeof WebAssembly === "undefined") throw new Error("WebAssembly is not available or disabled in this browser");
  const within = document.getElementById("engine")?.textContent;
  const bytes = within ? decoded(within.trim()) : await beside();
  const compiled = await WebAssembly.compile(await unpacked(bytes));
  const source = document.getElementById("worker")?.textContent;
  const url = source ? URL.createObjectURL(new Blob([source], { type: "text/javascript" })) : "worker.js";
  return new WorkerPool(compiled, () => new Worker(url));
}

async function beside(): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch("engine.wasm.xz").catch(() => null);
  if (response?.ok) return new Uint8Array(await response.arrayBuffer());
  const hint = location.protocol === "file:" ? "; to open the page as a file, use stillair.html" : "";
  throw new Error(`cannot load engine.wasm.xz from the folder of this page${hint}`);
}

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++) bytes[n] = text.charCodeAt(n);
  return bytes;
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  return new Response(new XzReadableStream(new Blob([bytes]).stream())).arrayBuffer();
}
