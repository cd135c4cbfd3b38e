// The bench: scenarios with controls, and what a run of each shows, again at each change.
import type { App, Part } from "../app";
import { Cancelled, Refused } from "../lab/lab";
import type { About, Change, Output } from "../lab/protocol";
import { seedOf } from "../share";
import { Chart, alike } from "../ui/chart";
import { h } from "../ui/dom";
import { number, value } from "../ui/quantity";
import { topology } from "../ui/topology";
import { controls } from "./controls";
import { Editor } from "./editor";
import { PICTURES, data, measures } from "./measures";
import { type Shown, outputs } from "./outputs";
import { SEEDS, replicates } from "./seeds";

/** Milliseconds after the last key before a text is run. */
const PAUSE = 250;

/** One scenario with its last run. */
interface Arm {
  editor: Editor;
  charts: Chart[];
  about: About | undefined;
  output: Output | undefined;
  cancel: AbortController | undefined;
  /** The text to run after the present run. */
  next: boolean;
}

/** The link with a queue of its own; the slowest of them, or the first link of all. */
function bottleneck(about: About): string {
  const links = Object.entries(about.resolved.link);
  const slow = links.filter(([, link]) => link["queue"] !== "default").sort(([, a], [, b]) => (value(a["rate"]) || 0) - (value(b["rate"]) || 0));
  return (slow[0] ?? links[0]!)[0];
}

class Bench {
  private readonly arms: Arm[] = [];
  private chosen = 0;
  private link = "";
  private typing: ReturnType<typeof setTimeout> | undefined;
  private many: AbortController | undefined;

  private readonly tabs = h("div", { class: "tabs", role: "group", "aria-label": "Scenarios" });
  private readonly picture = h("div", { class: "picture" });
  private readonly panel = h("form", { class: "controls", "aria-label": "Controls" });
  private readonly editors = h("div", { class: "editors" });
  private readonly charts = h("div", { class: "charts" });
  private readonly numbers = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Results" });
  private readonly seeds = h("div", { class: "seeds" });
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly progress = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Simulated" });
  private readonly stop = h("button", { type: "button", hidden: true, onclick: () => this.cancel() }, "Cancel");
  private readonly out: HTMLElement;

  constructor(
    root: HTMLElement,
    private readonly app: App,
  ) {
    this.out = outputs(app, () => this.shown(), (text) => this.say(text));
    this.panel.addEventListener("submit", (event) => event.preventDefault());
    const seed = h("input", { type: "number", min: "0", step: "1", value: String(app.document.seed), "aria-label": "Seed", class: "seed" });
    seed.addEventListener("change", () => {
      app.document.seed = seedOf(seed.value) ?? app.document.seed;
      seed.value = String(app.document.seed);
      this.arms.forEach((_, arm) => void this.run(arm));
    });
    const all = h("button", { type: "button", onclick: () => void this.replicate() }, `${SEEDS} seeds`);
    root.append(
      h("h1", { class: "unseen" }, "Bench"),
      h(
        "div",
        { class: "bench" },
        h("section", { class: "left", "aria-label": "Scenario" }, this.tabs, this.panel, this.editors),
        h(
          "section",
          { class: "right", "aria-label": "What happens" },
          this.picture,
          h("div", { class: "bar" }, h("label", {}, "Seed ", seed), all, this.out),
          h("div", { class: "bar" }, this.progress, this.stop, this.status),
          this.charts,
          this.numbers,
          this.seeds,
        ),
      ),
    );
    app.document.arms.forEach(() => this.addArm());
    this.choose(0);
    this.arms.forEach((_, arm) => void this.run(arm));
  }

  destroy(): void {
    this.cancel();
    clearTimeout(this.typing);
    this.arms.flatMap((arm) => arm.charts).forEach((chart) => chart.destroy());
  }

  private addArm(): void {
    const index = this.arms.length;
    const editor = new Editor(`Scenario ${"AB"[index]} in TOML`, (text) => {
      this.app.document.arms[index] = text;
      clearTimeout(this.typing);
      this.typing = setTimeout(() => void this.run(index), PAUSE);
    });
    editor.text = this.app.document.arms[index]!;
    const charts = PICTURES.map(([, title]) => new Chart(title));
    this.arms.push({ editor, charts, about: undefined, output: undefined, cancel: undefined, next: false });
    this.layOut();
  }

  /** Places charts of the same picture side by side. */
  private layOut(): void {
    this.charts.className = `charts arms-${this.arms.length}`;
    this.charts.replaceChildren(...PICTURES.flatMap((_, picture) => this.arms.map((arm) => arm.charts[picture]!.element)));
  }

  private choose(index: number): void {
    this.chosen = index;
    const tab = (arm: number): HTMLElement =>
      h("button", { type: "button", "aria-pressed": String(arm === index), onclick: () => this.choose(arm) }, this.arms.length > 1 ? `Scenario ${"AB"[arm]}` : "Scenario");
    const other =
      this.arms.length === 1
        ? h("button", { type: "button", onclick: () => this.compare() }, "Compare with a second")
        : h("button", { type: "button", onclick: () => this.single() }, "Only A");
    this.tabs.replaceChildren(...this.arms.map((_, arm) => tab(arm)), other);
    this.editors.replaceChildren(this.arms[index]!.editor.element);
    this.show(index);
  }

  /** Adds a second scenario, equal to the first. */
  private compare(): void {
    this.app.document.arms[1] = this.app.document.arms[0]!;
    this.addArm();
    this.choose(1);
    this.say("Scenario B is a copy of A with the same seed: change something in it.");
    void this.run(1);
  }

  private single(): void {
    const removed = this.arms.pop()!;
    removed.cancel?.abort();
    removed.charts.forEach((chart) => chart.destroy());
    this.app.document.arms.length = 1;
    this.seeds.replaceChildren();
    this.layOut();
    this.choose(0);
  }

  /** Sets keys of the chosen scenario's text and runs it. */
  private async set(changes: Change[]): Promise<void> {
    const index = this.chosen;
    const arm = this.arms[index]!;
    try {
      const text = await this.app.lab.call("edit", { text: this.app.document.arms[index]!, changes });
      this.app.document.arms[index] = text;
      arm.editor.text = text;
      await this.run(index);
    } catch (error) {
      this.fail(index, error as Error);
    }
  }

  /** Runs the text of an arm; if one of its runs goes on, after that. */
  private async run(index: number): Promise<void> {
    const arm = this.arms[index];
    if (!arm) return;
    if (arm.cancel) {
      arm.next = true;
      return;
    }
    arm.cancel = new AbortController();
    const { signal } = arm.cancel;
    const source = { text: this.app.document.arms[index]!, files: this.app.document.files, seed: this.app.document.seed };
    try {
      const begun = performance.now();
      const { lab } = this.app;
      const run = lab.call("run", { ...source, events: false }, { signal, progress: (part) => this.advance(part) });
      [arm.about, arm.output] = await Promise.all([lab.call("about", source, { signal }), run]);
      arm.editor.refuse(null);
      this.show(index);
      this.say(`Simulated in ${number(performance.now() - begun)} ms.`);
    } catch (error) {
      this.fail(index, error as Error);
    } finally {
      arm.cancel = undefined;
      this.advance(null);
    }
    if (arm.next) {
      arm.next = false;
      await this.run(index);
    }
  }

  private fail(index: number, error: Error): void {
    if (error instanceof Cancelled) return this.say("Cancelled. The pictures are of the last complete run.");
    this.arms[index]?.editor.refuse(error instanceof Refused ? error.refusal : null);
    this.say(error instanceof Refused ? "The scenario has errors, listed below its text. The pictures are of the last valid one." : error.message);
  }

  private show(index: number): void {
    const arm = this.arms[index]!;
    if (!arm.about || !arm.output) return;
    if (!(this.link in arm.about.resolved.link)) this.link = bottleneck(arm.about);
    if (index === this.chosen) this.control(arm.about);
    this.draw();
    this.tabulate();
    this.out.dispatchEvent(new Event("studio-run"));
  }

  /** Controls and topology of the chosen scenario. A control that is in use stays, so that a slider can be drawn on. */
  private control(about: About): void {
    const pick = (link: string): void => {
      this.link = link;
      this.show(this.chosen);
    };
    this.picture.replaceChildren(topology(about.resolved, this.link, pick));
    const key = (document.activeElement as HTMLElement | null)?.dataset?.["key"];
    if (key !== undefined && this.panel.contains(document.activeElement) && document.activeElement?.matches("[type=range]")) return;
    const set = (changes: Change[]): void => void this.set(changes);
    const addFile = (name: string, text: string, changes: Change[]): void => {
      this.app.document.files[name] = text;
      set(changes);
    };
    this.panel.replaceChildren(...controls({ app: this.app, about, link: this.link, set, addFile }));
    if (key !== undefined) this.panel.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  private draw(): void {
    PICTURES.forEach(([picture], place) => {
      const several = this.arms.length > 1;
      const drawn = this.arms.flatMap(({ about, output, charts }, index) => {
        if (!output || !about || !(this.link in about.resolved.link)) return [];
        const found = data(picture, output, about, this.link);
        return [{ chart: charts[place]!, data: several ? { ...found, title: `${"AB"[index]}: ${found.title}` } : found }];
      });
      const shown = drawn.map((one) => one.data);
      (several ? alike(shown) : shown).forEach((one, row) => drawn[row]!.chart.draw(one));
    });
  }

  private tabulate(): void {
    const runs = this.arms.map((arm) => (arm.output && arm.about ? measures(arm.output, arm.about, this.link) : []));
    const labels = [...new Set(runs.flatMap((run) => run.map((one) => one.label)))];
    const cell = (run: ReturnType<typeof measures>, label: string): HTMLElement => h("td", {}, number(run.find((one) => one.label === label)?.value ?? NaN));
    const heads = this.arms.length > 1 ? ["A", "B"] : ["this run"];
    const caption = h("caption", {}, `Seed ${this.app.document.seed}, after the warm-up`);
    const head = h("tr", {}, h("td"), ...heads.map((one) => h("th", { scope: "col" }, one)));
    const rows = labels.map((label) => h("tr", {}, h("th", { scope: "row" }, label), ...runs.map((run) => cell(run, label))));
    this.numbers.replaceChildren(h("table", {}, caption, h("thead", {}, head), h("tbody", {}, ...rows)));
  }

  private async replicate(): Promise<void> {
    const abouts = this.arms.map((arm) => arm.about);
    if (abouts.some((about) => !about)) return;
    this.many?.abort();
    this.many = new AbortController();
    try {
      const result = await replicates(this.app, abouts as About[], this.link, (part) => this.advance(part), this.many.signal);
      this.seeds.replaceChildren(result);
    } catch (error) {
      this.say(error instanceof Cancelled ? "Cancelled." : (error as Error).message);
    } finally {
      this.many = undefined;
      this.advance(null);
    }
  }

  private cancel(): void {
    this.many?.abort();
    for (const arm of this.arms) {
      arm.next = false;
      arm.cancel?.abort();
    }
  }

  /** Shows how much is simulated; null ends it. */
  private advance(part: number | null): void {
    const busy = part !== null || this.arms.some((arm) => arm.cancel) || this.many !== undefined;
    this.progress.hidden = this.stop.hidden = !busy;
    this.progress.value = part ?? 0;
  }

  private shown(): Shown | undefined {
    const arm = this.arms[this.chosen]!;
    if (!arm.output) return undefined;
    const pictures = arm.charts.flatMap((chart) => chart.current() ?? []);
    return { arm: this.chosen, link: this.link, output: arm.output, pictures };
  }

  private say(text: string): void {
    this.status.textContent = text;
  }
}

export const bench: Part = {
  name: "bench",
  title: "Bench",
  mount: (root, app) => {
    const mounted = new Bench(root, app);
    return () => mounted.destroy();
  },
};
