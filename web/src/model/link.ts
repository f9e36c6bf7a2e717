// The state as a URL fragment: readable, and never sent to a server.
import { FIRST, MOST_RUNS, type State, VIEWS, type View } from "./state.ts";

// Chat and mail programs truncate longer links.
export const LONGEST = 30_000;

export async function toLink(state: State): Promise<string> {
  const link = new URLSearchParams();
  if (state.view !== FIRST.view) link.set("view", state.view);
  if (state.text === null) link.set("scenario", state.scenario);
  else {
    link.set("file", state.file);
    link.set("text", await packed(state.text));
  }
  for (const [key, value] of state.set) link.append("set", `${key}=${value}`);
  if (state.seed !== null) link.set("seed", String(state.seed));
  if (state.runs !== FIRST.runs) link.set("runs", String(state.runs));
  if (state.lab) link.set("lab", state.lab);
  return `#${link.toString()}`;
}

// Error for a link that is not a state: the value found and the value expected.
export class LinkError extends Error {}

export async function fromLink(hash: string, first: State = FIRST): Promise<State> {
  const text = hash.replace(/^#/, "");
  if (text.length > LONGEST) throw new LinkError(`the link is too long: ${text.length} characters, expected at most ${LONGEST}`);
  const link = new URLSearchParams(text);
  const known = ["view", "scenario", "file", "text", "set", "seed", "runs", "lab"];
  for (const key of link.keys()) {
    if (!known.includes(key)) throw new LinkError(`the link has "${key}", expected ${known.join(", ")}`);
  }
  const state: State = { ...first, set: [] };
  const view = link.get("view");
  if (view !== null) {
    if (!VIEWS.includes(view as View)) throw new LinkError(`the link has the view "${view}", expected ${VIEWS.join(", ")}`);
    state.view = view as View;
  }
  const own = link.get("text");
  if (own !== null) {
    state.text = await unpacked(own);
    state.file = link.get("file") || "scenario.toml";
    state.scenario = "";
  } else if (link.has("scenario")) {
    state.scenario = link.get("scenario")!;
  }
  for (const one of link.getAll("set")) {
    const at = one.indexOf("=");
    if (at < 1) throw new LinkError(`the link sets "${one}", expected KEY=VALUE`);
    state.set.push([one.slice(0, at), one.slice(at + 1)]);
  }
  state.seed = link.has("seed") ? whole(link, "seed", 0, Number.MAX_SAFE_INTEGER) : null;
  if (link.has("runs")) state.runs = whole(link, "runs", 1, MOST_RUNS);
  state.lab = link.get("lab") ?? "";
  return state;
}

function whole(link: URLSearchParams, key: string, least: number, most: number): number {
  const text = link.get(key)!;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least || number > most) {
    throw new LinkError(`the link has ${key} "${text}", expected a whole number from ${least} to ${most}`);
  }
  return number;
}

async function through(bytes: Uint8Array<ArrayBuffer>, by: GenericTransformStream, most = Infinity): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(by).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) throw new LinkError("the scenario in the link is too large");
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

// Deflated text, encoded in URL-safe characters.
async function packed(text: string): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const MOST_TEXT = 1 << 20;

async function unpacked(text: string): Promise<string> {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(await through(bytes, new DecompressionStream("deflate-raw"), MOST_TEXT));
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError("the scenario in the link is damaged: part of the link is missing or altered");
  }
}
