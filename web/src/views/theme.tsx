// Light or dark: as the system has it, or as chosen here.
import { signal } from "@preact/signals";

export const theme = signal(chosen());

// A page opened as a file may have no storage.
function chosen(): string {
  try {
    return localStorage.getItem("theme") ?? "";
  } catch {
    return "";
  }
}

export function setTheme(to: string): void {
  if (to) document.documentElement.dataset["theme"] = to;
  else delete document.documentElement.dataset["theme"];
  theme.value = to;
  try {
    localStorage.setItem("theme", to);
  } catch {
    // It is not kept then.
  }
}

export function startTheme(): void {
  setTheme(theme.value);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    const now = theme.value;
    theme.value = `${now} `;
    theme.value = now;
  });
}

const NEXT: Record<string, [to: string, label: string]> = { "": ["dark", "Dark"], dark: ["light", "Light"], light: ["", "As the system"] };

export function ThemeButton() {
  const [to, label] = NEXT[theme.value.trim()] ?? ["", "As the system"];
  return <button type="button" class="quiet" onClick={() => setTheme(to)} title={`Colours: ${label}`}>{label}</button>;
}
