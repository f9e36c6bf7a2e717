// The engine in Web Workers: one concurrent request per core, and a spare worker.
import { type Asked, EngineError, type Engine, type Told } from "./protocol.ts";

interface Job {
  id: number;
  request: string;
  done(bytes: Uint8Array<ArrayBuffer>): void;
  fail(error: Error): void;
}

interface Answer {
  id: number;
  good?: boolean;
  answer?: Uint8Array<ArrayBuffer>;
  broken?: string;
}

const MOST_SLOTS = 8;

export class WorkerPool implements Engine {
  readonly place = "in this browser";
  readonly slots = Math.max(1, Math.min(MOST_SLOTS, navigator.hardwareConcurrency || 2));
  private readonly idle: Worker[] = [];
  private readonly busy = new Map<Worker, Job>();
  private readonly waiting: Job[] = [];
  private next = 0;

  constructor(
    private readonly compiled: WebAssembly.Module,
    private readonly start: () => Worker,
  ) {
    for (let n = 0; n <= this.slots; n++) this.hire();
  }

  ask(asked: Asked, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    return new Promise((done, fail) => {
      if (signal.aborted) return fail(signal.reason as Error);
      const job: Job = { id: this.next++, request: JSON.stringify(asked), done, fail };
      signal.addEventListener("abort", () => this.abandon(job, signal.reason as Error), { once: true });
      this.waiting.push(job);
      this.assign();
    });
  }

  private hire(): void {
    const worker = this.start();
    worker.onmessage = ({ data }: MessageEvent<Answer>) => this.answered(worker, data);
    worker.onerror = (event) => this.answered(worker, { id: -1, broken: `a worker failed: ${event.message}` });
    worker.postMessage({ compiled: this.compiled });
    this.idle.push(worker);
  }

  private assign(): void {
    while (this.waiting.length && this.busy.size < this.slots) {
      const worker = this.idle.shift();
      if (!worker) return;
      const job = this.waiting.shift()!;
      this.busy.set(worker, job);
      worker.postMessage({ id: job.id, request: job.request });
    }
  }

  private answered(worker: Worker, { good, answer, broken }: Answer): void {
    const job = this.busy.get(worker);
    if (!job) return;
    this.busy.delete(worker);
    if (broken !== undefined || !answer) {
      this.dismiss(worker);
      job.fail(new EngineError({ kind: "broken", message: broken ?? "no response from the worker" }));
    } else {
      this.idle.push(worker);
      if (good) job.done(answer);
      else job.fail(new EngineError(JSON.parse(new TextDecoder().decode(answer)) as Told));
    }
    this.assign();
  }

  private abandon(job: Job, why: Error): void {
    const at = this.waiting.indexOf(job);
    if (at >= 0) this.waiting.splice(at, 1);
    for (const [worker, its] of this.busy) {
      if (its !== job) continue;
      this.busy.delete(worker);
      this.dismiss(worker);
    }
    job.fail(why);
    this.assign();
  }

  // A run cannot be interrupted, so its worker is terminated and replaced.
  private dismiss(worker: Worker): void {
    worker.terminate();
    this.hire();
  }
}
