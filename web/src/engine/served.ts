// Data that `stillair explore` adds to the page.
export interface Served {
  token: string;
  slots: number;
  // Name and text of the files named on the command line.
  files: [string, string][];
  // Files referenced by those: traces.
  beside: [string, string][];
}

export function served(): Served | null {
  const text = document.getElementById("served")?.textContent;
  return text ? (JSON.parse(text) as Served) : null;
}
