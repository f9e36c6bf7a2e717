// Guided labs: a question, a prediction by the reader, then the measurement and the explanation.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import labs from "stillair:labs";
import { change, engine, problem, state, told } from "../model/app.ts";
import { type Lab, type Question, measure, stateOf } from "../model/labs.ts";
import type { Outcome } from "../model/outcome.ts";
import { run } from "../model/runner.ts";
import { Bars } from "../plots/bars.tsx";
import { colour } from "../plots/colours.ts";

export function Labs() {
  const lab = labs.find(({ id }) => id === state.value.lab);
  return lab ? <OneLab key={lab.id} lab={lab} /> : <Shelf />;
}

function Shelf() {
  return (
    <div class="shelf">
      <h2>Labs</h2>
      <p class="faint">Each lab asks a question. Make a prediction, then compare it with the measurement.</p>
      <div class="cards">
        {labs.map((lab) => (
          <section class="card" key={lab.id}>
            <h3>{lab.title}</h3>
            <p>{lab.about}</p>
            <button type="button" onClick={() => change({ ...state.value, lab: lab.id })}>Begin: {lab.title}</button>
          </section>
        ))}
      </div>
    </div>
  );
}

function OneLab({ lab }: { lab: Lab }) {
  const outcomes = useSignal<Map<string, Outcome>>(new Map());
  useEffect(() => {
    const under = new AbortController();
    for (const variant of lab.variants) {
      const show = (outcome: Outcome) => {
        if (outcome.whole) outcomes.value = new Map(outcomes.value).set(variant.name, outcome);
      };
      run(engine.value!, stateOf(lab, variant, state.value), under.signal, { survey: () => undefined, outcome: show }).catch((error: unknown) => {
        if (!under.signal.aborted) problem.value = told(error);
      });
    }
    return () => under.abort(new DOMException("left", "AbortError"));
  }, [lab]);
  return (
    <article class="lab">
      <p><button type="button" class="quiet" onClick={() => change({ ...state.value, lab: "" })}>← All labs</button></p>
      <h2>{lab.title}</h2>
      {lab.story.map((paragraph) => <p key={paragraph}>{paragraph}</p>)}
      {lab.questions.map((question, n) => <Asked key={n} number={n + 1} question={question} lab={lab} outcomes={outcomes.value} />)}
      <section class="card">
        <h3>Next steps</h3>
        <p>{lab.further}</p>
        <div class="buttons">
          {lab.variants.map((variant) => (
            <button type="button" key={variant.name} onClick={() => change({ ...stateOf(lab, variant, state.value), view: "explore", lab: "" })}>
              Explore: {variant.name}
            </button>
          ))}
        </div>
      </section>
    </article>
  );
}

function Asked({ number, question, lab, outcomes }: { number: number; question: Question; lab: Lab; outcomes: Map<string, Outcome> }) {
  const chosen = useSignal<number | null>(null);
  const shown = useSignal(false);
  const ready = lab.variants.every(({ name }) => outcomes.has(name));
  const right = chosen.value === question.right;
  return (
    <section class="card question">
      <fieldset disabled={shown.value}>
        <legend>Question {number}: {question.ask}</legend>
        {question.answers.map((answer, n) => (
          <label key={n} class={shown.value ? (n === question.right ? "right" : n === chosen.value ? "not-right" : "") : ""}>
            <input type="radio" name={`question-${number}`} checked={chosen.value === n} onChange={() => (chosen.value = n)} />
            {answer}
          </label>
        ))}
      </fieldset>
      {!shown.value && (
        <button type="button" disabled={chosen.value === null || !ready} onClick={() => (shown.value = true)}>
          {ready ? "Measure" : "Measuring …"}
        </button>
      )}
      {shown.value && (
        <div role="status">
          <p><b>{right ? "Correct." : `Your answer: ${question.answers[chosen.value!]} Correct answer: ${question.answers[question.right]}`}</b></p>
          <Bars
            bars={lab.variants.map(({ name }, n) => ({ name, value: measure(question.measure, outcomes.get(name)!), colour: colour(n) }))}
            unit={question.unit}
            label="Measured just now, on this machine"
          />
          <p>{question.because}</p>
        </div>
      )}
    </section>
  );
}
