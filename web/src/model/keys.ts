// All possible keys of a scenario, from the engine's JSON Schema: dotted key, meaning, permitted values.
import { type Tree, type Value, isTree, part, table, written } from "./document.ts";

export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  definitions?: Record<string, Schema>;
  enum?: (string | number)[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  description?: string;
  type?: string;
  minimum?: number;
  maximum?: number;
}

export interface Key {
  key: string;
  about: string;
  // Value in the text, and the default.
  now: string;
  otherwise: string;
  choices: string[];
}

export class Keys {
  constructor(private readonly root: Schema) {}

  private seen(schema: Schema): Schema {
    let here = schema;
    for (let n = 0; n < 8 && (here.$ref || here.allOf?.length === 1); n++) {
      const { description } = here;
      const inner = here.$ref ? this.root.definitions?.[here.$ref.replace("#/definitions/", "")] : here.allOf![0];
      here = { ...(inner ?? {}), ...(description ? { description } : {}) };
    }
    return here;
  }

  // Names that may replace a value.
  choices(schema: Schema | undefined): string[] {
    if (!schema) return [];
    const of = this.seen(schema);
    if (of.type === "boolean") return ["true", "false"];
    return [...(of.enum ?? []).map(String), ...(of.anyOf ?? []).flatMap((one) => this.choices(one))];
  }

  definition(name: string): Schema | undefined {
    return this.root.definitions?.[name];
  }

  all(document: Tree): Key[] {
    const found: Key[] = [];
    for (const [name, schema] of Object.entries(this.root.properties ?? {})) {
      if (name !== "sweep") this.walk(schema, document[name], part(name), 0, found);
    }
    return found;
  }

  private walk(schema: Schema, value: Value | undefined, key: string, deep: number, found: Key[]): void {
    const of = this.seen(schema);
    if (deep > 8) return;
    if (of.properties || (isTree(value) && (of.anyOf || of.additionalProperties))) {
      const shape = of.properties ? of : this.alternative(of, table(value));
      for (const [name, inner] of Object.entries(shape?.properties ?? {})) {
        if (name !== "count" || deep > 0) this.walk(inner, isTree(value) ? value[name] : undefined, `${key}.${part(name)}`, deep + 1, found);
      }
      const others = shape?.additionalProperties ?? of.additionalProperties;
      if (typeof others === "object" && !shape?.properties) {
        for (const [name, inner] of Object.entries(table(value))) this.walk(others, inner, `${key}.${part(name)}`, deep + 1, found);
      }
      return;
    }
    if (of.additionalProperties && !of.properties) return;
    if (Array.isArray(value) && of.items && value.some(isTree)) {
      value.forEach((one, n) => this.walk(of.items!, one, `${key}.${n}`, deep + 1, found));
      return;
    }
    const about = of.description ?? "";
    const without = /\(default: ([^)]*)\)/.exec(about)?.[1] ?? (of.default === undefined ? "" : String(of.default));
    found.push({ key, about: about.replace(/ \(default: .*\)$/, ""), now: written(value), otherwise: without, choices: this.choices(of) });
  }

  // Selects the alternative table whose fixed keys (`kind`, `role`) match.
  private alternative(of: Schema, value: Tree): Schema | undefined {
    const tables = this.tables(of);
    const fits = (one: Schema) => {
      const fixed = Object.entries(one.properties ?? {}).filter(([, inner]) => this.seen(inner).const !== undefined);
      return fixed.every(([name, inner]) => value[name] === this.seen(inner).const) && Object.keys(value).every((name) => one.properties?.[name]);
    };
    return tables.find(fits) ?? tables.find((one) => Object.keys(value).every((name) => one.properties?.[name])) ?? (tables.length ? tables[0] : of);
  }

  private tables(of: Schema): Schema[] {
    const here = this.seen(of);
    return here.properties ? [here] : (here.anyOf ?? []).flatMap((one) => this.tables(one));
  }
}

// Keys with all these words in their name or meaning; matches in the name come first.
export function search(keys: Key[], words: string, most: number): Key[] {
  const all = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!all.length) return [];
  const inName = ({ key }: Key) => all.every((word) => key.toLowerCase().includes(word));
  const inText = ({ key, about }: Key) => all.every((word) => `${key} ${about}`.toLowerCase().includes(word));
  const named = keys.filter(inName);
  return [...named, ...keys.filter((one) => !inName(one) && inText(one))].slice(0, most);
}
