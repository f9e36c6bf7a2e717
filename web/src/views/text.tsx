// The scenario's text, editable, with errors marked at their lines.
import { useComputed, useSignal } from "@preact/signals";
import { change, problem, state } from "../model/app.ts";
import { sourceOf } from "../model/catalogue.ts";

export function TextPanel() {
  const source = sourceOf(state.value);
  const lines = useComputed(() => new Set((problem.value?.mistakes ?? []).map(({ line }) => line).filter((line) => line !== null)));
  const open = useSignal(false);
  if (!source) return null;
  const put = (text: string) => change({ ...state.value, text, file: source.file, scenario: "" });
  const count = source.text.split("\n").length;
  return (
    <section class="card">
      <details open={open.value || lines.value.size > 0} onToggle={(event) => (open.value = event.currentTarget.open)}>
        <summary>The scenario's text: {source.file}</summary>
        <div class="editor">
          <pre class="gutter" aria-hidden="true">
            {Array.from({ length: count }, (_, n) => <span key={n} class={lines.value.has(n + 1) ? "wrong" : ""}>{n + 1}{"\n"}</span>)}
          </pre>
          <textarea
            aria-label={`Text of ${source.file}`}
            aria-invalid={lines.value.size > 0}
            spellcheck={false}
            wrap="off"
            rows={count + 1}
            value={source.text}
            onInput={(event) => put(event.currentTarget.value)}
          />
        </div>
        <p class="faint small">Changes run immediately. Knob settings override this text.</p>
      </details>
    </section>
  );
}
