// Graphs of the packets of one direction: sequence numbers, data outstanding and round-trip times.
import type { Table } from "../lab/tables";
import type { Data } from "../ui/chart";

const RETRANSMISSIONS = ["fast", "sack", "partial", "timeout", "tail"];

/** Rows of one direction, in the order of packets. */
class Direction {
  private readonly rows: number[];
  private readonly kinds: string[];
  private readonly times: Float64Array;

  constructor(
    private readonly series: Table,
    fromOpener: boolean,
  ) {
    const opener = series.numbers("from_opener");
    this.kinds = series.texts("kind");
    this.times = series.numbers("time_s");
    this.rows = Array.from(opener.keys()).filter((row) => (opener[row] === 1) === fromOpener);
  }

  of(...kinds: string[]): number[] {
    return this.rows.filter((row) => kinds.includes(this.kinds[row]!));
  }

  kind(row: number): string {
    return this.kinds[row]!;
  }

  at(rows: number[]): number[] {
    return rows.map((row) => this.times[row]!);
  }

  values(name: "low" | "high", rows: number[]): number[] {
    const column = this.series.numbers(name);
    return rows.map((row) => column[row]!);
  }
}

/** A unit of bytes in which `highest` has at most four digits. */
function scaled(highest: number): [factor: number, unit: string] {
  return highest < 1e4 ? [1, "bytes"] : highest < 1e7 ? [1e3, "kB"] : highest < 1e10 ? [1e6, "MB"] : [1e9, "GB"];
}

function highest(values: number[]): number {
  return values.reduce((a, b) => Math.max(a, b), 0);
}

function rug(direction: Direction, label: string, ...kinds: string[]): { label: string; times: number[] }[] {
  const times = direction.at(direction.of(...kinds));
  return times.length ? [{ label, times }] : [];
}

/** The last byte sent, the last acknowledged, and the end of the receive window, each as of the last packet that has it. */
function sequence(direction: Direction): Data {
  const rows = direction.of("data", ...RETRANSMISSIONS, "ack", "duplicate");
  const [low, high] = [direction.values("low", rows), direction.values("high", rows)];
  let [sent, acked, window] = [NaN, NaN, NaN];
  const points = rows.map((row, place) => {
    if (["ack", "duplicate"].includes(direction.kind(row))) {
      acked = Math.max(acked || 0, low[place]!);
      window = Math.max(window || 0, high[place]!);
    } else sent = Math.max(sent || 0, high[place]!);
    return [sent, acked, window];
  });
  // A window that is much larger than the data would press their lines to the ground.
  const [factor, unit] = scaled(highest([sent || 0, acked || 0]));
  const line = (label: string, place: number): { label: string; values: number[] } => ({ label, values: points.map((point) => point[place]! / factor) });
  return {
    title: "Sequence numbers",
    x: direction.at(rows),
    xLabel: "time (s)",
    yLabel: `offset (${unit})`,
    lines: [line("sent", 0), line("acknowledged", 1), line("end of the receive window", 2)],
    top: (1.25 * highest([sent || 0, acked || 0])) / factor,
    rugs: [...rug(direction, "retransmission", ...RETRANSMISSIONS), ...rug(direction, "CE", "ce")],
    stepped: true,
  };
}

function outstanding(direction: Direction): Data {
  const rows = direction.of("flight");
  const values = direction.values("high", rows);
  const [factor, unit] = scaled(highest(values));
  return {
    title: "Data outstanding: a lower bound of the congestion window",
    x: direction.at(rows),
    xLabel: "time (s)",
    yLabel: `outstanding (${unit})`,
    lines: [{ label: "outstanding", values: values.map((value) => value / factor) }],
    rugs: [...rug(direction, "ACK with ECE", "ece"), ...rug(direction, "data with CWR", "cwr")],
  };
}

function trips(direction: Direction): Data[] {
  const rows = direction.of("rtt");
  if (!rows.length) return [];
  const values = direction.values("high", rows).map((ns) => ns / 1e6);
  return [{ title: "Round-trip time", x: direction.at(rows), xLabel: "time (s)", yLabel: "RTT (ms)", lines: [{ label: "RTT", values }] }];
}

/** The graphs of the data of one end. */
export function graphs(series: Table, fromOpener: boolean): Data[] {
  const direction = new Direction(series, fromOpener);
  return [sequence(direction), outstanding(direction), ...trips(direction)];
}
