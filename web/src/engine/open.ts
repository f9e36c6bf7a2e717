// Which engine this page has: the native one if `stillair explore` serves it, else the module, from beside the page or from within it.
import { XzReadableStream } from "xz-decompress";
import { NativeEngine } from "./native.ts";
import { WorkerPool } from "./pool.ts";
import type { Engine } from "./protocol.ts";
import { served } from "./served.ts";

export async function openEngine(): Promise<Engine> {
  const native = served();
  if (native) return new NativeEngine(native.token, native.slots);
  if (typeof WebAssembly === "undefined") throw new Error("this browser has no WebAssembly, or it is turned off");
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
  const hint = location.protocol === "file:" ? "; opened as a file only stillair.html works, which is one file" : "";
  throw new Error(`engine.wasm.xz, which belongs beside this page, cannot be loaded${hint}`);
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
