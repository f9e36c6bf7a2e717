// The engine's WebAssembly module. crates/wasm exports these five names.

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
    // No imports: the module can access neither the page nor the network.
    const instance = await WebAssembly.instantiate(compiled, {});
    return new Module(instance.exports as Exports);
  }

  // Returns success and the bytes of the response. Throws a `Broken` if the engine panicked; the module must not be used afterwards.
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
