// Tables of runs and captures: columns of numbers and of text.
import type { Tables, Values } from "./protocol";

export class Table {
  readonly rows: number;

  constructor(private readonly columns: Record<string, Values>) {
    const first = Object.values(columns)[0];
    this.rows = first === undefined ? 0 : "codes" in first ? first.codes.length : first.length;
  }

  get names(): string[] {
    return Object.keys(this.columns);
  }

  has(name: string): boolean {
    return name in this.columns;
  }

  /** A column as numbers: counts are exact up to 2^53. A column that the table lacks has no values. */
  numbers(name: string): Float64Array {
    const column = this.columns[name];
    if (column === undefined || "codes" in column) return new Float64Array(this.rows).fill(NaN);
    return column instanceof Float64Array ? column : Float64Array.from(column as ArrayLike<number | bigint>, Number);
  }

  texts(name: string): string[] {
    const column = this.columns[name];
    if (column === undefined || !("codes" in column)) return Array<string>(this.rows).fill("");
    return Array.from(column.codes, (code) => column.names[code] ?? "");
  }

  /** One value: text, a number, or a boolean. */
  value(name: string, row: number): string | number | boolean {
    const column = this.columns[name];
    if (column === undefined) return NaN;
    if ("codes" in column) return column.names[column.codes[row] ?? -1] ?? "";
    return column instanceof Uint8Array ? column[row] === 1 : Number(column[row]);
  }

  /** The rows in which the text column `name` is `value`. */
  where(name: string, value: string): number[] {
    return this.texts(name).flatMap((text, row) => (text === value ? [row] : []));
  }

  /** The table as CSV, with an empty field for a missing value. */
  csv(): string {
    const columns = this.names.map((name) => {
      const column = this.columns[name]!;
      if ("codes" in column) return this.texts(name).map(quoted);
      return Array.from(column as ArrayLike<number | bigint>, (value) => (Number.isNaN(value) ? "" : String(value)));
    });
    const lines = Array.from({ length: this.rows }, (_, row) => columns.map((column) => column[row]).join(","));
    return [this.names.join(","), ...lines, ""].join("\n");
  }
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The table `name` of a run or capture; one without rows if there is none. */
export function table(output: Tables, name: string): Table {
  return new Table(output.tables[name] ?? {});
}

/** Values of `column` at `rows`. */
export function at(column: ArrayLike<number>, rows: number[]): number[] {
  return rows.map((row) => column[row] ?? NaN);
}
