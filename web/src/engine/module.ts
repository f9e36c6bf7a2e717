// The engine's WebAssembly module: crates/wasm has the other side of these five names.

interface Exports extends WebAssembly.Exports {
  memory: WebAssembly.Memory;
  room(bytes: number): number;
  ask(): number;
  answer(): number;
  answer_bytes(): number;
}

const encoder = new TextEncoder();

export class Module {
  private constructor(private readonly exports: Exports) {}

  static async of(compiled: WebAssembly.Module): Promise<Module> {
    // It imports nothing: it can reach neither the page nor the network.
    const instance = await WebAssembly.instantiate(compiled, {});
    return new Module(instance.exports as Exports);
  }

  // Whether the answer is what was asked for, and its bytes. Throws a `Broken` if the engine panicked: then it is not to be asked again.
  ask(request: string): [boolean, Uint8Array<ArrayBuffer>] {
    const bytes = encoder.encode(request);
    const { room, memory, ask } = this.exports;
    try {
      const at = room(bytes.length) >>> 0;
      new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
      const good = ask() === 0;
      return [good, this.answer()];
    } catch (trap) {
      const said = new TextDecoder().decode(this.answer());
      throw new Broken(said || String(trap));
    }
  }

  private answer(): Uint8Array<ArrayBuffer> {
    const { answer, answer_bytes, memory } = this.exports;
    const at = answer() >>> 0;
    return new Uint8Array(memory.buffer as ArrayBuffer).slice(at, at + (answer_bytes() >>> 0));
  }
}

export class Broken extends Error {}
