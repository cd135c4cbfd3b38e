// Messages between the page and its workers.

/** Texts of files by the names that scenarios have for them. */
export type Files = Record<string, string>;

/** A value in TOML for a dotted key; null removes the key. */
export type Change = [key: string, value: string | null];

/** A scenario as a reader has it: its text, the files it names, and values in place of the text's. */
export interface Source {
  text: string;
  files: Files;
  overrides?: Record<string, unknown>;
}

/** One error in a scenario: place, key, problem and remedy. */
export interface Diagnostic {
  line: number;
  column: number;
  width: number;
  key: string;
  message: string;
  help: string;
}

/** What the simulator refuses: single errors if they have places, and all as text. */
export interface Refusal {
  text: string;
  diagnostics: Diagnostic[];
}

export interface Law {
  label: string;
  summary: string;
  reference: string;
  columns: Record<string, Record<string, { unit: string; meaning: string }>>;
  queue: { uses_ecn: boolean } | null;
  marks: string | null;
}

/** Laws by family and name, profiles of TCP. */
export interface Facts {
  laws: Record<string, Record<string, Law>>;
  profiles: Record<string, string>;
  version: string;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Table = Record<string, Json>;

/** A scenario with all defaults. */
export interface Resolved {
  title?: string;
  duration: string;
  warmup?: string;
  sample?: string;
  profile: string;
  link: Record<string, Table>;
  queue: Record<string, Table>;
  tcp: Record<string, Table>;
  flow: Record<string, Table>;
  node: Record<string, Table>;
}

export interface About {
  title: string;
  hash: string;
  resolved: Resolved;
  in_force: Record<string, Table>;
  drawn: Json;
  departures: Json;
  volume: Record<string, number | null>;
  memory: number;
  names: { node: string[]; link: string[]; flow: string[]; group: string[] };
}

/** Values of a column. Text is stored as codes. */
export type Values = Float64Array | Uint32Array | BigUint64Array | Uint8Array | { codes: Uint32Array; names: string[] };

export interface Tables {
  tables: Record<string, Record<string, Values>>;
}

export interface Output extends Tables {
  captures: Record<string, Uint8Array<ArrayBuffer>>;
}

/** The numbers of an analysed capture. Tables have rows for the first `listed` of its connections. */
export interface Traced {
  connections: number;
  listed: number;
  /** The error that ended the reading before the end of the capture. */
  damage: string | null;
  seconds: number;
  totals: Record<string, number>;
  sums: Record<string, number>;
}

export interface Calls {
  facts: { in: Record<string, never>; out: Facts };
  edit: { in: { text: string; changes: Change[] }; out: string };
  about: { in: Source & { seed: number }; out: About };
  run: { in: Source & { seed: number; events: boolean }; out: Output };
  /** The bytes of captures move to the worker: the page has them no more. */
  trace: { in: { bytes: Uint8Array<ArrayBuffer> }; out: Tables & { about: Traced } };
  series: { in: { bytes: Uint8Array<ArrayBuffer>; connection: number }; out: Tables };
}

export type Call = keyof Calls;
export type Ask = { id: number } & { [C in Call]: { call: C; input: Calls[C]["in"] } }[Call];
export type Reply =
  | { id: number; kind: "done"; output: unknown }
  | { id: number; kind: "refused"; refusal: Refusal }
  | { id: number; kind: "progress"; part: number };
