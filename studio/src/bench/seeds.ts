// Many seeds of each arm: means with intervals, and paired differences.
import type { App } from "../app";
import type { About } from "../lab/protocol";
import { h } from "../ui/dom";
import { number } from "../ui/quantity";
import { measures } from "./measures";

export const SEEDS = 20;
/** The 97.5 % quantile of Student's t distribution with SEEDS - 1 = 19 degrees of freedom. */
const T = 2.093;

export interface Interval {
  mean: number;
  half: number;
}

/** Mean of `values` and half of its 95 % interval; values that are missing make both missing. */
export function interval(values: number[]): Interval {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, half: T * Math.sqrt(variance / values.length) };
}

function shown({ mean, half }: Interval): string {
  return Number.isFinite(mean) ? `${number(mean)} ± ${number(half, 2)}` : "-";
}

/** Runs SEEDS seeds of each arm, and returns the table of their numbers. `part` is called with the part that is done. */
export async function replicates(
  app: App,
  abouts: About[],
  link: string,
  part: (done: number) => void,
  signal: AbortSignal,
): Promise<HTMLElement> {
  const { arms, seed, files } = app.document;
  let done = 0;
  const one = async (text: string, about: About, offset: number): Promise<ReturnType<typeof measures>> => {
    const output = await app.lab.call("run", { text, files, seed: seed + offset, events: false }, { signal });
    part(++done / (SEEDS * arms.length));
    return measures(output, about, link);
  };
  const offsets = Array.from({ length: SEEDS }, (_, offset) => offset);
  const runs = await Promise.all(arms.map((text, arm) => Promise.all(offsets.map((offset) => one(text, abouts[arm]!, offset)))));
  return listed(runs);
}

function listed(runs: ReturnType<typeof measures>[][]): HTMLElement {
  const labels = [...new Set(runs.flatMap((arm) => arm[0]!.map((measure) => measure.label)))];
  const values = (arm: ReturnType<typeof measures>[], label: string): number[] => arm.map((run) => run.find((one) => one.label === label)?.value ?? NaN);
  const rows = labels.map((label) => {
    const arms = runs.map((arm) => values(arm, label));
    const cells = arms.map((arm) => shown(interval(arm)));
    if (arms.length === 2) cells.push(shown(interval(arms[1]!.map((value, index) => value - arms[0]![index]!))));
    return h("tr", {}, h("th", { scope: "row" }, label), ...cells.map((cell) => h("td", {}, cell)));
  });
  const heads = runs.length === 2 ? ["A", "B", "B − A, paired by seed"] : ["mean"];
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Results of all seeds" },
    h(
      "table",
      {},
      h("caption", {}, `${SEEDS} seeds: mean and 95 % interval (Student's t)`),
      h("thead", {}, h("tr", {}, h("td"), ...heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, ...rows),
    ),
  );
}
