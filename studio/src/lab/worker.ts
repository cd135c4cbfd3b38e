// A worker with the simulator. Its first message is the compiled module, all others are calls.
import init, { Scenario, edit, facts, series, trace } from "../../build/wasm/ecnlab_studio";
import type { Ask, Output, Refusal, Reply, Source, Tables } from "./protocol";

let ready: Promise<unknown> | undefined;

function scenario(source: Source): Scenario {
  const parsed = new Scenario("scenario.toml", source.text, JSON.stringify(source.files));
  if (!source.overrides) return parsed;
  try {
    return parsed.with(JSON.stringify(source.overrides));
  } finally {
    parsed.free();
  }
}

function answer(ask: Ask): unknown {
  switch (ask.call) {
    case "facts":
      return facts();
    case "edit":
      return edit(ask.input.text, JSON.stringify(ask.input.changes));
    case "trace":
      return trace(ask.input.bytes);
    case "series":
      return series(ask.input.bytes, ask.input.connection);
    case "about":
    case "run": {
      const parsed = scenario(ask.input);
      try {
        if (ask.call === "about") return parsed.about(BigInt(ask.input.seed));
        const progress = (part: number): void => post({ id: ask.id, kind: "progress", part });
        return parsed.run(BigInt(ask.input.seed), ask.input.events, progress);
      } finally {
        parsed.free();
      }
    }
  }
}

function post(reply: Reply, transfer: Transferable[] = []): void {
  self.postMessage(reply, { transfer });
}

/** The memory of tables and captures, which moves to the page without copies. */
function buffers(output: Tables | Output): ArrayBuffer[] {
  const columns = Object.values(output.tables).flatMap((table) => Object.values(table));
  const values = columns.map((column) => ("codes" in column ? column.codes : column));
  const captures = "captures" in output ? Object.values(output.captures) : [];
  return [...values, ...captures].map((array) => array.buffer as ArrayBuffer);
}

self.onmessage = async (event: MessageEvent<WebAssembly.Module | Ask>): Promise<void> => {
  if (event.data instanceof WebAssembly.Module) {
    ready = init({ module_or_path: event.data });
    return;
  }
  const ask = event.data;
  await ready;
  try {
    const output = answer(ask);
    const moved = output instanceof Object && "tables" in output ? buffers(output as Tables) : [];
    post({ id: ask.id, kind: "done", output }, moved);
  } catch (thrown) {
    // A panic ends the module: the page replaces this worker.
    if (thrown instanceof WebAssembly.RuntimeError) throw thrown;
    post({ id: ask.id, kind: "refused", refusal: thrown as Refusal });
  }
};
