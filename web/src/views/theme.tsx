// Light or dark theme: the system's, or chosen here.
import { signal } from "@preact/signals";

export const theme = signal(chosen());

// A page opened as a file may lack storage.
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
    // The choice is then not saved.
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

const NEXT: Record<string, [to: string, label: string]> = { "": ["dark", "Dark"], dark: ["light", "Light"], light: ["", "System"] };

export function ThemeButton() {
  const [to, label] = NEXT[theme.value.trim()] ?? ["", "System"];
  return <button type="button" class="quiet" onClick={() => setTheme(to)} title={`Colours: ${label}`}>{label}</button>;
}
