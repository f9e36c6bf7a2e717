// The native engine of `stillair explore`, on loopback: the same requests over HTTP, with the token from the page's address.
import { type Asked, EngineError, type Engine, type Told } from "./protocol.ts";

export class NativeEngine implements Engine {
  readonly place = "native";

  constructor(
    private readonly token: string,
    readonly slots: number,
  ) {}

  async ask(asked: Asked, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    let response: Response;
    try {
      response = await fetch("ask", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Stillair-Token": this.token },
        body: JSON.stringify(asked),
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new EngineError({ kind: "broken", message: `'stillair explore' no longer responds: ${String(error)}` });
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.ok) return bytes;
    const text = new TextDecoder().decode(bytes);
    let told: Told;
    try {
      told = JSON.parse(text) as Told;
    } catch {
      told = { kind: "request", message: `${response.status}: ${text}` };
    }
    throw new EngineError(told);
  }
}
