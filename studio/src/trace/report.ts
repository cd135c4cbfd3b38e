// The analysis of a capture: verdicts on ECN, kinds of packets, connections, directions, packets that break rules, flows of UDP.
import type { Tables, Traced } from "../lab/protocol";
import { type Table, table } from "../lab/tables";
import { h } from "../ui/dom";
import { number, rate, time } from "../ui/quantity";
import { type Column, listing, pairs, shown } from "./listed";

export interface Capture extends Tables {
  name: string;
  about: Traced;
}

const KINDS: Record<string, string> = {
  packets: "packets",
  tcp: "TCP",
  udp: "UDP",
  icmp: "ICMP",
  other_ip: "other IP",
  other: "not IP",
  tunnelled: "in tunnels",
  fragments: "fragments",
  cut: "truncated within their headers",
  malformed: "malformed",
  unknown_link: "of an unknown link type",
  back_in_time: "with an earlier time than a packet before",
  untimed: "without a time",
};

const CONNECTIONS: Column[] = [
  ["connection", "connection"], ["violations", "rule breaks"], ["packets", "packets"], ["start_s", "start"], ["duration_s", "duration"],
  ["ecn", "ECN"], ["opener", "opener"], ["responder", "responder"], ["closed", "closed"],
];

const DIRECTIONS: Column[] = [
  ["connection", "connection"], ["from", "from"], ["to", "to"], ["ecn_verdict", "verdict on ECN"], ["data_packets", "data packets"], ["bytes", "bytes"],
  ["goodput_bps", "goodput"], ["retransmits", "retransmissions"], ["timeouts", "timeouts"], ["rtt_mean_s", "mean RTT"], ["rtt_p99_s", "99 % RTT"],
  ["ce", "CE"], ["ece_sent", "ECE sent"], ["cwr_sent", "CWR sent"], ["violations", "rule breaks"],
];

const VIOLATIONS: Column[] = [
  ["packet", "packet"], ["time_s", "time"], ["connection", "connection"], ["by", "by"], ["says", "rule"], ["section", "section"],
];

const DATAGRAMS: Column[] = [
  ["from", "from"], ["to", "to"], ["packets", "packets"], ["numbering", "numbering"], ["lost", "lost"], ["loss_share", "share lost"],
  ["jitter_s", "jitter"], ["ce", "CE"], ["not_ect", "Not-ECT"], ["ect0", "ECT(0)"], ["ect1", "ECT(1)"],
];

function count(number: number, of: string): string {
  return `${number.toLocaleString("en")} ${of}${number === 1 ? "" : "s"}`;
}

/** Connections and packets in one sentence, and why there are none. */
function answer({ about }: Capture): string {
  const [packets, broken] = [about.totals["packets"] ?? 0, about.sums["violations"] ?? 0];
  if (!packets) return "The capture has no packets.";
  if (!about.connections) return `There is no TCP connection among ${count(packets, "packet")}; their kinds are listed below.`;
  const rules = broken ? `${count(broken, "break")} of a rule of RFC 3168` : "no packet breaks a rule of RFC 3168";
  return `${count(about.connections, "TCP connection")} in ${count(packets, "packet")}, ${time(about.seconds)}; ${rules}.`;
}

/** A line for each verdict on ECN: whose data, the place of the capture, the evidence, and what to capture next. */
function verdicts(found: Table): HTMLElement | null {
  const text = (name: string, row: number): string => String(found.value(name, row));
  const one = (row: number): HTMLElement => {
    const [verdict, severity] = [text("verdict", row), text("severity", row)];
    const [ends, directions] = [found.value("from_opener", row) ? "opener" : "responder", Number(found.value("directions", row))];
    const whose = directions === 1 ? `data of the ${ends}` : `data of ${directions.toLocaleString("en")} ${ends}s`;
    const place = text("vantage", row) === "unknown" ? "place unknown" : `captured ${text("vantage", row)}`;
    const evidence = text("says", row).replace(`${verdict}: `, "");
    const step = text("capture", row);
    const head = `ECN ${{ problem: "PROBLEM", warning: "WARNING" }[severity] ?? verdict}:`;
    return h("li", { class: `verdict ${severity}` }, h("strong", {}, head), ` ${whose}, ${place}: ${evidence}${step && `; ${step}`}.`);
  };
  return found.rows ? h("ul", { class: "verdicts" }, ...Array.from({ length: found.rows }, (_, row) => one(row))) : null;
}

function sums({ about }: Capture): HTMLElement {
  const of = (name: string): string => (about.sums[name] ?? 0).toLocaleString("en");
  const goodput = (8 * (about.sums["unique_bytes"] ?? 0)) / about.seconds;
  const rows: [string, string][] = [
    ["data", `${of("data_packets")} packets, ${of("bytes")} bytes`],
    ...(Number.isFinite(goodput) && !about.damage ? ([["goodput", rate(goodput)]] as [string, string][]) : []),
    ...(about.sums["missing_bytes"] ? ([["missing in the capture", `${of("missing_bytes")} bytes`]] as [string, string][]) : []),
    ["retransmissions", `${of("retransmits")}, timeouts ${of("timeouts")}`],
    ["out of order, duplicate ACKs", `${of("out_of_order")}, ${of("duplicate_acks")}`],
    ["CE, ECE, CWR", `${of("ce")}, ${of("ece_sent")}, ${of("cwr_sent")}`],
  ];
  return pairs("All connections", rows);
}

function kinds({ about }: Capture): HTMLElement {
  const rows = Object.entries(KINDS).filter(([kind]) => about.totals[kind]);
  return pairs("Packets by kind", rows.map(([kind, name]) => [name, about.totals[kind]!.toLocaleString("en")]));
}

/** The connections, those that break most rules first, then the largest. */
function order(connections: Table): number[] {
  const [broken, packets] = [connections.numbers("violations"), connections.numbers("packets")];
  const rows = Array.from({ length: connections.rows }, (_, row) => row);
  return rows.sort((a, b) => broken[b]! - broken[a]! || packets[b]! - packets[a]! || a - b);
}

/** The connection that is chosen first: the first of the list. */
export function first(capture: Capture): number | undefined {
  const connections = table(capture, "connections");
  const row = order(connections)[0];
  return row === undefined ? undefined : Number(connections.value("connection", row));
}

/** Everything of a capture but its graphs; `choose` is called with the number of a connection. */
export function report(capture: Capture, choose: (connection: number) => void): (HTMLElement | null)[] {
  const { about, name } = capture;
  const of = (name: string): Table => table(capture, name);
  const cell = (table: Table) => (column: string, row: number): HTMLElement | undefined => {
    if (column !== "connection") return undefined;
    const connection = Number(table.value(column, row));
    return h("button", { type: "button", "aria-label": `Show connection ${connection}`, onclick: () => choose(connection) }, String(connection));
  };
  const list = (table: string, title: string, columns: Column[], note = "", rows?: number[]): HTMLElement | null => {
    const all = of(table);
    const file = `${name}.${table}.csv`;
    return all.rows ? listing({ title, file, note, table: all, columns, cell: cell(all), ...(rows ? { order: rows } : {}) }) : null;
  };
  const listed = about.listed < about.connections ? `The tables have the first ${count(about.listed, "connection")}.` : "";
  return [
    h("p", { class: "answer" }, answer(capture)),
    about.damage ? h("p", { class: "damage", role: "alert" }, `The capture was not read to its end: ${about.damage}. What follows is from the packets before.`) : null,
    verdicts(of("verdicts")),
    h("div", { class: "summary" }, kinds(capture), about.connections ? sums(capture) : null),
    list("connections", "Connections", CONNECTIONS, `Those that break most rules first. ${listed}`, order(of("connections"))),
    list("violations", "Packets that break a rule", VIOLATIONS, "Numbers of packets are those of Wireshark."),
    list("directions", "Directions", DIRECTIONS),
    list("datagrams", "Datagrams", DATAGRAMS, "Loss and jitter are those at this place; flows without sequence numbers have none."),
  ];
}

/** All numbers of the direction in `row`. */
export function numbers(directions: Table, row: number): HTMLElement {
  const known = directions.names.map((name) => [name, shown(name, directions.value(name, row))] as [string, string]);
  const title = `All numbers of ${directions.value("from", row)}`;
  return h("details", {}, h("summary", {}, title), pairs(title, known.filter(([, value]) => value !== "–" && value !== "")));
}

/** The size of a file: "12 MB". */
export function size(bytes: number): string {
  return bytes < 1e6 ? `${number(bytes / 1e3)} kB` : `${number(bytes / 1e6)} MB`;
}
