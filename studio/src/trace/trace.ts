// Captures: a file that the reader chooses or drops is analysed in a worker. Nothing leaves the browser.
import type { App, Part } from "../app";
import { Cancelled } from "../lab/lab";
import type { Tables } from "../lab/protocol";
import { table } from "../lab/tables";
import { Chart } from "../ui/chart";
import { h } from "../ui/dom";
import { graphs } from "./graphs";
import { type Capture, first, numbers, report, size } from "./report";

/** Largest file that is read: a worker has it twice, in its own memory and in the module's, next to the connections. */
const LARGEST = 500e6;

class Captures {
  private file: File | undefined;
  private capture: Capture | undefined;
  private charts: Chart[] = [];
  private reading: AbortController | undefined;

  private readonly status = h("p", { class: "status", role: "status" });
  private readonly stop = h("button", { type: "button", hidden: true, onclick: () => this.reading?.abort() }, "Cancel");
  private readonly results = h("div", { class: "results" });
  private readonly choice = h("input", { type: "number", min: "0", step: "1", "aria-label": "Connection", class: "seed" });
  private readonly drawn = h("div", {});
  private readonly connection = h("section", { class: "connection", "aria-label": "One connection" });

  constructor(
    private readonly root: HTMLElement,
    private readonly app: App,
  ) {
    const input = h("input", { type: "file", "aria-label": "A capture: pcap or pcapng" });
    input.addEventListener("change", () => {
      const file = input.files?.[0];
      if (file) void this.open(file);
    });
    this.choice.addEventListener("change", () => void this.choose(this.choice.valueAsNumber));
    const words = "Choose a capture or drop it here: pcap or pcapng, also compressed with gzip or zstd. It stays in this browser.";
    root.append(
      h(
        "div",
        { class: "trace" },
        h("label", { class: "drop" }, h("span", {}, words), input),
        h("div", { class: "bar" }, this.stop, this.status),
        this.results,
      ),
    );
    root.addEventListener("dragover", this.over);
    root.addEventListener("drop", this.dropped);
  }

  private readonly over = (event: DragEvent): void => event.preventDefault();

  private readonly dropped = (event: DragEvent): void => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) void this.open(file);
  };

  destroy(): void {
    this.end();
    this.clear();
    this.root.removeEventListener("dragover", this.over);
    this.root.removeEventListener("drop", this.dropped);
  }

  /** Ends the reading and leaves the status. */
  private end(): void {
    this.reading?.abort();
    this.reading = undefined;
    this.stop.hidden = true;
  }

  private clear(): void {
    this.charts.forEach((chart) => chart.destroy());
    this.charts = [];
  }

  /** The result of `read`, which ends a reading before it; undefined if there is none, with the reason in the status. */
  private async read<T>(about: string, read: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    this.reading?.abort();
    const mine = (this.reading = new AbortController());
    this.stop.hidden = false;
    this.status.textContent = about;
    let end = "";
    try {
      return await read(mine.signal);
    } catch (error) {
      end = error instanceof Cancelled ? "Cancelled." : `${this.file?.name}: ${(error as Error).message}`;
      return undefined;
    } finally {
      if (this.reading === mine) {
        this.reading = undefined;
        this.stop.hidden = true;
        this.status.textContent = end;
      }
    }
  }

  private async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.file!.arrayBuffer());
  }

  private async open(file: File): Promise<void> {
    this.clear();
    this.results.replaceChildren();
    this.capture = undefined;
    if (file.size > LARGEST) {
      this.end();
      this.status.textContent = `${file.name} has ${size(file.size)}; a page reads at most ${size(LARGEST)}. Read it with the command: ecnlab trace ${file.name}`;
      return;
    }
    this.file = file;
    const found = await this.read(`Reading ${file.name}, ${size(file.size)}…`, async (signal) => this.app.lab.call("trace", { bytes: await this.bytes() }, { signal }));
    if (!found || this.file !== file) return;
    this.capture = { ...found, name: file.name };
    this.choice.max = String(found.about.listed - 1);
    const parts = report(this.capture, (connection) => void this.choose(connection, true));
    const [before, after] = [parts.slice(0, 5), parts.slice(5)];
    this.results.replaceChildren(...[...before, this.connection, ...after].filter((part) => part !== null));
    const start = first(this.capture);
    this.connection.hidden = start === undefined;
    this.connection.replaceChildren(h("div", { class: "bar" }, h("h2", {}, "One connection"), h("label", {}, "Connection ", this.choice)), this.drawn);
    this.drawn.replaceChildren();
    if (start !== undefined) await this.choose(start);
  }

  /** Draws a connection; `go` moves to it. */
  private async choose(connection: number, go = false): Promise<void> {
    const { capture } = this;
    if (!capture || !Number.isInteger(connection) || connection < 0 || connection >= capture.about.listed) return;
    this.choice.value = String(connection);
    const found = await this.read(`Reading connection ${connection}…`, async (signal) => this.app.lab.call("series", { bytes: await this.bytes(), connection }, { signal }));
    if (!found || this.capture !== capture) return;
    this.draw(capture, connection, found);
    if (go) {
      this.connection.scrollIntoView();
      this.choice.focus({ preventScroll: true });
    }
  }

  private draw(capture: Capture, connection: number, found: Tables): void {
    this.clear();
    const directions = table(capture, "directions");
    const parts = [true, false].flatMap((fromOpener, place) => {
      const row = 2 * connection + place;
      // Rows of the series have SYN and FIN as data, too.
      const shown = Number(directions.value("data_packets", row)) > 0 ? graphs(table(found, "series"), fromOpener) : [];
      const drawn = shown.map((data) => ({ data, chart: new Chart(data.title) }));
      this.charts.push(...drawn.map(({ chart }) => chart));
      const title = h("h3", {}, `${directions.value("from", row)} → ${directions.value("to", row)}`);
      const none = h("p", { class: "note" }, "This end sent no data.");
      const charts = h("div", { class: "charts" }, ...drawn.map(({ chart }) => chart.element));
      return [{ drawn, elements: [title, drawn.length ? charts : none, numbers(directions, row)] }];
    });
    const about = table(capture, "connections");
    const words = `Connection ${connection}: ${about.value("packets", connection).toLocaleString("en")} packets, ECN ${about.value("ecn", connection)}.`;
    this.drawn.replaceChildren(h("p", {}, words), ...parts.flatMap(({ elements }) => elements));
    parts.forEach(({ drawn }) => drawn.forEach(({ data, chart }) => chart.draw(data)));
  }
}

export const trace: Part = {
  name: "trace",
  title: "Trace",
  mount: (root, app) => {
    const mounted = new Captures(root, app);
    return () => mounted.destroy();
  },
};
