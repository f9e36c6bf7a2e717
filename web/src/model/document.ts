// A scenario's text as a tree, to find its keys. Only the engine interprets it. Text that is not TOML has no tree here, and the
// engine reports the error.
import { parse } from "smol-toml";

export type Tree = { [key: string]: Value };
export type Value = Tree | Value[] | string | number | boolean | bigint | Date;

export function tree(text: string): Tree {
  try {
    return parse(text) as Tree;
  } catch {
    return {};
  }
}

export const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

export function table(of: Value | undefined): Tree {
  return isTree(of) ? of : {};
}

// Adds keys that nodes inherit through `inherits`. A node's own keys win, table by table.
export function inherited(document: Tree): Tree {
  const nodes = table(document["node"]);
  const whole = (name: string, deep: number): Tree => {
    const own = table(nodes[name]);
    const like = own["inherits"];
    return typeof like === "string" && deep < 8 ? merged(whole(like, deep + 1), own) : own;
  };
  return { ...document, node: Object.fromEntries(Object.keys(nodes).map((name) => [name, whole(name, 0)])) };
}

function merged(under: Tree, over: Tree): Tree {
  const both = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = both[key];
    both[key] = isTree(below) && isTree(value) ? merged(below, value) : value;
  }
  return both;
}

// Part of a dotted key, as a TOML key.
export function part(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
}

// The parts of a dotted key.
export function parts(key: string): string[] {
  return [...key.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|([^.]+)/g)].map(([, quoted, plain, bare]) => quoted ?? plain ?? bare ?? "");
}

export function at(of: Tree, key: string): Value | undefined {
  let here: Value | undefined = of;
  for (const name of parts(key)) {
    if (Array.isArray(here)) here = here[Number(name)];
    else if (isTree(here)) here = here[name];
    else return undefined;
  }
  return here;
}

// A value as written after `--set KEY=`.
export function written(value: Value | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  return isTree(value) ? inline(value) : String(value);
}

function inline(value: Value): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (isTree(value)) return `{ ${Object.entries(value).map(([key, one]) => `${part(key)} = ${inline(one)}`).join(", ")} }`;
  return String(value);
}

// A setting's text as the engine reads it: a TOML value, or else a string.
function valueOf(text: string): Value {
  try {
    return (parse(`x = ${text}`) as Tree)["x"]!;
  } catch {
    return text;
  }
}

function put(tree: Tree, key: string, value: Value): void {
  const names = parts(key);
  // Not a scenario key: it would allow prototype pollution.
  if (names.includes("__proto__")) return;
  let here: Tree | Value[] = tree;
  for (const [n, name] of names.entries()) {
    const last = n === names.length - 1;
    if (Array.isArray(here)) {
      const at = Number(name);
      if (last) here[at] = value;
      else here = here[at] as Tree | Value[];
    } else if (last) {
      here[name] = value;
    } else {
      const next: Value | undefined = here[name];
      if (!isTree(next) && !Array.isArray(next)) {
        // A name used as shorthand for a table becomes the table: `scheme = "airtime"` and `scheme.target`.
        here[name] = typeof next === "string" ? { kind: next } : {};
      }
      here = here[name] as Tree | Value[];
    }
  }
}

// A scenario's tree with the settings applied. Throws if the text is not TOML.
export function withSettings(text: string, set: readonly (readonly [string, string])[]): Tree {
  const all = parse(text) as Tree;
  for (const [key, value] of set) put(all, key, valueOf(value));
  return all;
}
