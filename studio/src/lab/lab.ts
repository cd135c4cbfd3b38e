// The simulator in workers: calls as promises, of which runs can be cancelled.
import wasm from "../../build/wasm/ecnlab_studio_bg.wasm?url";
import type { Ask, Call, Calls, Refusal, Reply } from "./protocol";

/** A scenario or an edit that the simulator refuses. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.text);
  }
}

/** A call that was cancelled. */
export class Cancelled extends Error {}

export interface Options {
  /** Called with the simulated part of the duration, from 0 to 1. */
  progress?: (part: number) => void;
  signal?: AbortSignal;
}

interface Job {
  ask: Ask;
  options: Options;
  resolve: (output: unknown) => void;
  reject: (reason: Error) => void;
}

/** Workers for runs: as many as processors, of which a phone has many and little memory. */
const RUNNERS = Math.max(1, Math.min(4, navigator.hardwareConcurrency || 2));

/** A worker and the job that it does. */
class Seat {
  private worker: Worker;
  job: Job | undefined;

  constructor(
    private readonly module: WebAssembly.Module,
    private readonly free: () => void,
  ) {
    this.worker = this.hire();
  }

  private hire(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.postMessage(this.module);
    worker.onmessage = (event: MessageEvent<Reply>) => this.hear(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.end(new Error(`the simulator stopped: ${event.message || "its memory is exhausted"}`));
    };
    return worker;
  }

  private hear(reply: Reply): void {
    const job = this.job;
    if (!job || reply.id !== job.ask.id) return;
    if (reply.kind === "progress") return job.options.progress?.(reply.part);
    this.job = undefined;
    // The memory of a module never shrinks: a worker that has read a capture is replaced.
    if ("bytes" in job.ask.input) this.replace();
    if (reply.kind === "done") job.resolve(reply.output);
    else job.reject(new Refused(reply.refusal));
    this.free();
  }

  /** Ends the job with `reason`; a worker in the middle of a call can only be replaced. */
  end(reason: Error): void {
    const job = this.job;
    this.job = undefined;
    this.replace();
    job?.reject(reason);
    this.free();
  }

  private replace(): void {
    this.worker.terminate();
    this.worker = this.hire();
  }

  begin(job: Job): void {
    this.job = job;
    const { input } = job.ask;
    this.worker.postMessage(job.ask, "bytes" in input ? [input.bytes.buffer] : []);
  }
}

export class Lab {
  private readonly desk: Seat[];
  private readonly runners: Seat[];
  private readonly waiting: { desk: Job[]; runners: Job[] } = { desk: [], runners: [] };
  private next = 0;

  private constructor(module: WebAssembly.Module) {
    this.desk = [new Seat(module, () => this.serve("desk"))];
    this.runners = Array.from({ length: RUNNERS }, () => new Seat(module, () => this.serve("runners")));
  }

  /** Loads and compiles the simulator. */
  static async open(): Promise<Lab> {
    return new Lab(await WebAssembly.compileStreaming(fetch(wasm)));
  }

  /** Does a call: runs and captures in workers of their own, so that edits never wait for them. Throws Refused or Cancelled. */
  call<C extends Call>(call: C, input: Calls[C]["in"], options: Options = {}): Promise<Calls[C]["out"]> {
    const group = call === "run" || "bytes" in input ? "runners" : "desk";
    return new Promise((resolve, reject) => {
      const ask = { id: this.next++, call, input } as unknown as Ask;
      const job: Job = { ask, options, resolve: resolve as (output: unknown) => void, reject };
      if (options.signal?.aborted) return reject(new Cancelled());
      options.signal?.addEventListener("abort", () => this.cancel(job), { once: true });
      this.waiting[group].push(job);
      this.serve(group);
    });
  }

  private serve(group: "desk" | "runners"): void {
    const seats = group === "desk" ? this.desk : this.runners;
    for (const seat of seats) {
      if (seat.job) continue;
      const job = this.waiting[group].shift();
      if (!job) return;
      seat.begin(job);
    }
  }

  private cancel(job: Job): void {
    for (const waiting of [this.waiting.desk, this.waiting.runners]) {
      const place = waiting.indexOf(job);
      if (place >= 0) {
        waiting.splice(place, 1);
        job.reject(new Cancelled());
      }
    }
    [...this.desk, ...this.runners].find((seat) => seat.job === job)?.end(new Cancelled());
  }
}
