// What the bench shows of a run: series for charts, and sums for its table.
import type { About, Output } from "../lab/protocol";
import { Table, at, table } from "../lab/tables";
import type { Data } from "../ui/chart";

export type Picture = "windows" | "queue" | "goodput" | "sojourn";

const TITLES: Record<Picture, string> = {
  windows: "Congestion windows",
  queue: "Queue of the link",
  goodput: "Goodput of each group",
  sojourn: "Time in the queue",
};

export const PICTURES = Object.entries(TITLES) as [Picture, string][];

/** The group and the class of rows that count all packets of a queue. */
const ALL = "all";
/** Most flows with a line of their own. */
const FLOWS = 6;

/** Times of all samples, and for each name its values at them: a flow that has not begun has none. */
function series(rows: Table, names: string[], key: string, value: Float64Array): { x: number[]; lines: { label: string; values: Float64Array }[] } {
  const time = rows.numbers("time_s");
  const x = [...new Set(time)].sort((a, b) => a - b);
  const place = new Map(x.map((one, index) => [one, index]));
  const of = rows.texts(key);
  const lines = names.map((label) => ({ label, values: new Float64Array(x.length).fill(NaN) }));
  const line = new Map(lines.map((one) => [one.label, one.values]));
  of.forEach((name, row) => {
    const values = line.get(name);
    if (values) values[place.get(time[row]!)!] = value[row]!;
  });
  return { x, lines };
}

function windows(output: Output, about: About): Data {
  const rows = table(output, "flow_series");
  const flows = about.names.flow.slice(0, FLOWS);
  const cwnd = rows.numbers("cwnd_bytes").map((bytes) => bytes / 1000);
  const { x, lines } = series(rows, flows, "flow", cwnd);
  const more = about.names.flow.length - flows.length;
  const title = more > 0 ? `${TITLES.windows}, without ${more} more flows` : TITLES.windows;
  return { title, x, lines, xLabel: "time (s)", yLabel: "cwnd (kB)", stepped: true };
}

/** The times at which a count of `rows` rises, at most once for each sample. */
function rises(rows: Table, picked: number[], counts: string[]): number[] {
  const time = rows.numbers("time_s");
  const sums = counts.map((name) => rows.numbers(name));
  const sum = (row: number): number => sums.reduce((all, one) => all + (one[row] ?? 0), 0);
  return picked.filter((row, index) => sum(row) > (index ? sum(picked[index - 1]!) : 0)).map((row) => time[row]!);
}

const DROPS = ["early_drops", "forced_drops", "tail_drops"];

function queue(output: Output, link: string): Data {
  const rows = table(output, "queue_series");
  const picked = rows.where("link", link);
  const x = at(rows.numbers("time_s"), picked);
  const lines = [{ label: "packets", values: at(rows.numbers("packets"), picked) }];
  const rugs = [
    { label: "marks", times: rises(rows, picked, ["marks"]) },
    { label: "drops", times: rises(rows, picked, DROPS) },
  ];
  return { title: `${TITLES.queue} ${link}`, x, lines, rugs, xLabel: "time (s)", yLabel: "packets", stepped: true };
}

/** Seconds over which a rate is averaged, at least. */
const WINDOW = 0.5;

function goodput(output: Output, about: About): Data {
  const rows = table(output, "flow_series");
  const { x, lines } = series(rows, about.names.flow, "flow", rows.numbers("delivered_bytes"));
  // A flow has no samples between its connections, and after the last.
  for (const { values } of lines) values.forEach((bytes, row) => (values[row] = Number.isNaN(bytes) ? (values[row - 1] ?? 0) : bytes));
  const groups = groupsOf(output);
  const back = Math.max(1, Math.round(WINDOW / ((x[1] ?? 1) - (x[0] ?? 0))));
  const rate = (name: string): number[] =>
    x.map((now, index) => {
      if (index < back) return NaN;
      const bytes = lines.filter((line) => groups.get(line.label) === name);
      const got = (at: number): number => bytes.reduce((all, line) => all + line.values[at]!, 0);
      return ((got(index) - got(index - back)) * 8) / (now - x[index - back]!) / 1e6;
    });
  const all = about.names.group.slice(0, FLOWS).map((label) => ({ label, values: rate(label) }));
  return { title: TITLES.goodput, x, lines: all, xLabel: "time (s)", yLabel: "Mbit/s" };
}

function groupsOf(output: Output): Map<string, string> {
  const flows = table(output, "flows");
  const groups = flows.texts("group");
  return new Map(flows.texts("name").map((name, row) => [name, groups[row]!]));
}

function sojourn(output: Output, link: string): Data {
  const rows = table(output, "sojourn_bins");
  const classes = rows.texts("class");
  const groups = rows.texts("group");
  const mine = rows.where("link", link).filter((row) => classes[row] === ALL);
  const names = [...new Set(mine.map((row) => groups[row]!))];
  const kept = names.length > 1 ? names.filter((name) => name !== ALL) : names;
  const upper = rows.numbers("to_s");
  const x = [...new Set(mine.length ? [0, ...at(upper, mine)] : [])].sort((a, b) => a - b);
  const packets = rows.numbers("packets");
  const lines = kept.slice(0, FLOWS).map((name) => {
    const own = mine.filter((row) => groups[row] === name);
    const count = new Map(own.map((row) => [upper[row]!, packets[row]!]));
    const total = own.reduce((sum, row) => sum + packets[row]!, 0);
    let below = 0;
    return { label: name === ALL ? "all packets" : name, values: x.map((to) => (100 * (below += count.get(to) ?? 0)) / total) };
  });
  const title = `${TITLES.sojourn} of ${link}: percentage of packets that waited at most so long`;
  return { title, x: x.map((to) => to * 1000), lines, xLabel: "time in the queue (ms)", yLabel: "% of packets", top: 100, stepped: true };
}

/** The data of `picture` for the queue of `link`. */
export function data(picture: Picture, output: Output, about: About, link: string): Data {
  switch (picture) {
    case "windows":
      return windows(output, about);
    case "queue":
      return queue(output, link);
    case "goodput":
      return goodput(output, about);
    case "sojourn":
      return sojourn(output, link);
  }
}

/** A number of a run: its label with its unit, and the value. */
export interface Measure {
  label: string;
  value: number;
}

/** How long the transfers of a group took, if it has transfers with an end. */
function transfers(output: Output, group: string): Measure[] {
  const rows = table(output, "transactions");
  const measured = rows.numbers("measured");
  const own = rows.where("group", group).filter((row) => measured[row]);
  const took = at(rows.numbers("latency_s"), own).filter(Number.isFinite).sort((a, b) => a - b);
  if (took.length === 0) return [];
  const below = (part: number): number => took[Math.ceil(part * took.length) - 1]! * 1000;
  return [
    { label: `${group}: median transfer time (ms)`, value: below(0.5) },
    { label: `${group}: 90th percentile of it (ms)`, value: below(0.9) },
  ];
}

/** The median time in the queue of `link` of each group's packets, if the queue has several groups. */
function waits(output: Output, link: string): Measure[] {
  const rows = table(output, "sojourns");
  const groups = rows.texts("group");
  const median = rows.numbers("sojourn_p50_s");
  const own = rows.where("link", link).filter((row) => groups[row] !== ALL && Number.isFinite(median[row]));
  return own.length < 2 ? [] : own.map((row) => ({ label: `${groups[row]}: median time in the queue (ms)`, value: median[row]! * 1000 }));
}

/** The numbers that the bench lists: of each group, then of the queue of `link`. All are of the time after the warm-up. */
export function measures(output: Output, about: About, link: string): Measure[] {
  const flows = table(output, "flows");
  const ofGroup = about.names.group.flatMap((group) => {
    const rows = flows.where("group", group);
    const sum = (name: string): number => at(flows.numbers(name), rows).reduce((a, b) => a + (b || 0), 0);
    return [
      { label: `${group}: goodput (Mbit/s)`, value: sum("goodput_bps") / 1e6 },
      { label: `${group}: retransmissions`, value: sum("retransmits") },
      { label: `${group}: reductions by ECN`, value: sum("ecn_reductions") },
      ...transfers(output, group),
    ];
  });
  const links = table(output, "links");
  const row = links.where("link", link)[0] ?? -1;
  const queues = table(output, "queues");
  const groups = queues.texts("group");
  const whole = queues.where("link", link).find((one) => groups[one] === ALL) ?? -1;
  const count = (name: string): number => queues.numbers(name)[whole] ?? NaN;
  const ms = (name: string): number => (links.numbers(name)[row] ?? NaN) * 1000;
  return [
    ...ofGroup,
    ...waits(output, link),
    { label: `${link}: utilisation (%)`, value: (links.numbers("utilisation")[row] ?? NaN) * 100 },
    { label: `${link}: median time in the queue (ms)`, value: ms("sojourn_p50_s") },
    { label: `${link}: 99th percentile of it (ms)`, value: ms("sojourn_p99_s") },
    { label: `${link}: packets marked`, value: count("marks") },
    { label: `${link}: packets dropped`, value: count("dropped") },
  ];
}
