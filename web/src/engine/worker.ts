// A worker: receives the compiled module once, then answers requests one at a time.
import { Broken, Module } from "./module.ts";

type Sent = { compiled: WebAssembly.Module } | { id: number; request: string };

const scope = self as unknown as { onmessage: (event: MessageEvent<Sent>) => void; postMessage(m: unknown, t?: Transferable[]): void };
let module: Promise<Module>;

scope.onmessage = async ({ data }) => {
  if ("compiled" in data) {
    module = Module.of(data.compiled);
    return;
  }
  const { id, request } = data;
  try {
    const [good, answer] = (await module).ask(request);
    scope.postMessage({ id, good, answer }, [answer.buffer]);
  } catch (error) {
    const out = error instanceof RangeError || /memory/i.test(String(error));
    const message = out ? `the engine ran out of memory: ${String(error)}` : `the engine failed: ${String(error)}`;
    scope.postMessage({ id, broken: error instanceof Broken ? `the engine failed: ${error.message}` : message });
  }
};
