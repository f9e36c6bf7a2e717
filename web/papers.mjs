// Settings of the papers' campaigns, under the papers' names. lab/scripts/page_settings.py generates the file from the experiments of
// 'stillair paper'.
import { readFileSync } from "node:fs";

const all = JSON.parse(readFileSync(new URL("papers.json", import.meta.url), "utf8"));

// Campaigns whose scenario is one of `names`.
export function papers(names) {
  const mine = all.filter(({ scenario }) => names.has(scenario));
  return mine.map(({ set, cells, ...of }) => ({ ...of, cells: cells.map((one) => ({ name: one.name, set: [...set, ...one.set] })) }));
}
