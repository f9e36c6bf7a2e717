// Share: the link, the trace hash for comparison with a native run, the equivalent command, and files.
import { useSignal } from "@preact/signals";
import { engine, found, problem, state, told } from "../model/app.ts";
import { sourceOf } from "../model/catalogue.ts";
import { LONGEST } from "../model/link.ts";
import { command } from "../export/command.ts";
import { FILES, type FileKind, fileOf } from "../export/files.ts";

export function SharePanel() {
  const now = found.value;
  const copied = useSignal("");
  const making = useSignal("");
  const source = sourceOf(state.value);
  if (!now || !source) return null;
  const line = command(state.value, source.file);
  const copy = async (what: string, text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      copied.value = `${what} copied`;
    } catch {
      copied.value = `${what} not copied: select and copy it by hand`;
    }
  };
  const save = async (kind: FileKind) => {
    making.value = kind;
    try {
      const { name, blob } = await fileOf(kind, state.value, now, engine.value!);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    } catch (error) {
      problem.value = told(error);
    } finally {
      making.value = "";
    }
  };
  const long = location.hash.length > LONGEST;
  return (
    <section class="card share" aria-labelledby="share-title">
      <h2 id="share-title">Share and export</h2>
      <div class="buttons">
        <button type="button" disabled={long} onClick={() => void copy("Link", location.href)}>Copy link</button>
        {FILES.map(({ kind, label, about }) => (
          <button type="button" key={kind} title={about} disabled={!now.whole || making.value !== ""} onClick={() => void save(kind)}>
            {making.value === kind ? "…" : label}
          </button>
        ))}
      </div>
      {long && <p class="faint">This scenario is too long for a link; export it as a file.</p>}
      <p class="small">Command line for this run:</p>
      <div class="command">
        <pre tabIndex={0} aria-label="Command line"><code>{line}</code></pre>
        <button type="button" class="quiet" onClick={() => void copy("Command", line)}>Copy</button>
      </div>
      <p class="small">
        Trace hash{now.runs.length > 1 ? "es" : ""}:{" "}
        {now.whole ? now.runs.map((run) => <code key={run.run} class="hash" data-hash={run.trace_hash}>{run.trace_hash} </code>) : <span class="faint">after the complete run</span>}
      </p>
      <p class="faint small">
        A native run of the same version has the same hash: every event is equal, to the nanosecond. {`'stillair run ... --json' prints the hash as "trace_hash".`}
      </p>
      <p role="status" class="small">{copied.value}</p>
    </section>
  );
}
