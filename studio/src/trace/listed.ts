// Tables of a capture as elements, each with its CSV.
import type { Table } from "../lab/tables";
import { download, h } from "../ui/dom";
import { number, rate, time } from "../ui/quantity";

/** Most rows that are shown. The CSV has all. */
export const MOST = 200;

/** Name of a column, and its head. */
export type Column = [name: string, head: string];

/** A value as a reader writes it, with the unit that the end of the column's name states. */
export function shown(name: string, value: string | number | boolean): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  if (!Number.isFinite(value)) return "–";
  if (name.endsWith("_s")) return time(value, /^(time|start)_s$/.test(name) ? 6 : 3);
  if (name.endsWith("_bps")) return rate(value);
  return Number.isInteger(value) ? value.toLocaleString("en") : number(value);
}

function csv(file: string, table: Table): HTMLElement {
  const act = (): void => download(file, table.csv(), "text/csv");
  return h("button", { type: "button", "aria-label": `Download ${file}`, onclick: act }, "CSV");
}

/** Rows of names and values. */
export function pairs(caption: string, rows: [string, string][]): HTMLElement {
  const body = rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)));
  return scroll(caption, h("table", {}, h("caption", {}, caption), h("tbody", {}, ...body)));
}

export function scroll(label: string, ...inside: HTMLElement[]): HTMLElement {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...inside);
}

export interface Listing {
  title: string;
  /** Name of the CSV file. */
  file: string;
  note?: string;
  table: Table;
  columns: Column[];
  /** Rows in the order in which they are shown; all without it. */
  order?: number[];
  /** Element in place of a value. */
  cell?: (name: string, row: number) => HTMLElement | undefined;
}

/** A section with at most MOST rows of a table, and its CSV. */
export function listing({ title, file, note, table, columns, order, cell }: Listing): HTMLElement {
  const rows = (order ?? Array.from({ length: table.rows }, (_, row) => row)).slice(0, MOST);
  const part = rows.length < table.rows ? `${rows.length} of ${table.rows.toLocaleString("en")} rows; the CSV has all.` : "";
  const one = (row: number, name: string): HTMLElement => {
    const value = table.value(name, row);
    return h("td", { class: typeof value === "string" && "text" }, cell?.(name, row) ?? shown(name, value));
  };
  const head = columns.map(([name, text]) => h("th", { scope: "col", class: typeof table.value(name, 0) === "string" && "text" }, text));
  const body = rows.map((row) => h("tr", {}, ...columns.map(([name]) => one(row, name))));
  const sentence = [note, part].filter(Boolean).join(" ");
  return h(
    "section",
    { "data-table": file.split(".").at(-2), "data-rows": String(table.rows) },
    h("div", { class: "bar" }, h("h2", {}, title), csv(file, table)),
    sentence ? h("p", { class: "note" }, sentence) : null,
    scroll(title, h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...body))),
  );
}
