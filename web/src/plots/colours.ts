// Stations have the same colours as in Stillair's other plots, in both themes.
// paper: Okabe and Ito, Color Universal Design (2008) - distinguishable with any kind of colour vision.
const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5a6773", "#a39600"];
const DARK = ["#4ba3dc", "#f0883e", "#2fc79a", "#e39ac6", "#8accf5", "#f2b93b", "#a3aebb", "#e8dc58"];

export const dark = (): boolean => {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

export function colour(number: number): string {
  const all = dark() ? DARK : LIGHT;
  return all[number % all.length]!;
}

export const token = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Lines of the same colour have different dash patterns.
const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3]];
export const dash = (number: number): number[] => DASHES[Math.floor(number / LIGHT.length) % DASHES.length]!;
