// The cells of the papers' campaigns, from the files by which 'stillair paper' runs them: settings of scenarios by the papers' words.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "smol-toml";

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), "..", "python", "stillair", "papers", "data");

// As many as a person looks through in a list. Whole grids are run by 'stillair paper'.
const MOST_CELLS = 16;

// One cell for each combination of values, the first axis turned slowest.
function crossed(axes) {
  const first = [{ name: [], set: {} }];
  return axes.reduce(
    (cells, { values }) => cells.flatMap(({ name, set }) => Object.entries(values).map(([word, sets]) => ({ name: [...name, word], set: { ...set, ...sets } }))),
    first,
  );
}

function campaign(paper, name, { scenario, settings, axes = [], cell = [], set = {} }, table) {
  const shared = settings ? table.settings[settings] : {};
  const made = axes.length ? crossed(axes.map((axis) => table.axis[axis])).map((one) => ({ name: one.name.join(", "), set: { ...set, ...one.set } })) : [];
  const cells = [...cell.map((one) => ({ name: one.name, set: one.set })), ...made];
  return { paper, name, scenario, cells: cells.map((one) => ({ name: one.name, set: Object.entries({ ...shared, ...one.set }) })) };
}

// Campaigns whose scenario is one of `names`.
export function papers(names) {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((one) => one.isDirectory() && one.name !== "measurements");
  const all = folders.map(({ name }) => name).sort().flatMap((paper) => {
    const table = parse(readFileSync(join(FOLDER, paper, "experiments.toml"), "utf8"));
    return Object.entries(table.campaign ?? {}).map(([name, of]) => campaign(paper, name, of, table));
  });
  return all.filter(({ scenario, cells }) => names.has(scenario) && cells.length > 0 && cells.length <= MOST_CELLS);
}
