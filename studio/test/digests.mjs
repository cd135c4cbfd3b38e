// Runs scenarios in the WebAssembly module, in Node: reads a list of {name, text, files, seed} from standard input as JSON, and writes
// {name: {"table.column": SHA-256} or {error}} to standard output. Counts and codes are hashed as 64-bit integers, all else as 64-bit floats.
// A scenario whose seed is null is read and not run: {}.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { initSync, Scenario } from "../build/wasm/ecnlab_studio.js";

initSync({ module: readFileSync(new URL("../build/wasm/ecnlab_studio_bg.wasm", import.meta.url)) });

function bytes(column) {
  if (column.codes) return JSON.stringify(Array.from(column.codes, (code) => column.names[code]));
  if (column instanceof BigUint64Array || column instanceof Float64Array) return canonical(column);
  return BigUint64Array.from(column, BigInt);
}

/** NaN has many bit patterns, which WebAssembly does not fix; JavaScript writes one. */
function canonical(column) {
  return column instanceof Float64Array ? Float64Array.from(column, (value) => (Number.isNaN(value) ? NaN : value)) : column;
}

function digests(output) {
  const columns = Object.entries(output.tables).flatMap(([table, columns]) => Object.entries(columns).map(([name, column]) => [`${table}.${name}`, column]));
  return Object.fromEntries(columns.map(([name, column]) => {
    const content = bytes(column);
    const hash = createHash("sha256").update(typeof content === "string" ? content : new Uint8Array(content.buffer));
    return [name, hash.digest("hex")];
  }));
}

const results = {};
for (const { name, text, files, seed } of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    const scenario = new Scenario(name, text, JSON.stringify(files));
    if (seed === null) {
      results[name] = {};
      scenario.free();
      continue;
    }
    const begun = performance.now();
    const output = scenario.run(BigInt(seed), false, () => {});
    results[name] = { digests: digests(output), hash: scenario.about(BigInt(seed)).hash, ms: performance.now() - begun };
    scenario.free();
  } catch (error) {
    results[name] = { error: error.text ?? String(error) };
  }
}
process.stdout.write(JSON.stringify(results));
