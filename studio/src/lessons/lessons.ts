// The lessons: predict, run, look, find a number.
import type { App, Part } from "../app";
import { type Measure, PICTURES, data, measures } from "../bench/measures";
import { Cancelled } from "../lab/lab";
import type { About, Output } from "../lab/protocol";
import { Chart, alike } from "../ui/chart";
import { h } from "../ui/dom";
import { number } from "../ui/quantity";
import { type Found, LESSONS, type Lesson } from "./content";

const LINK = "bottleneck";
const SEED = 1n;

interface Done {
  output: Output;
  about: About;
  all: Measure[];
}

function contents(current: number): HTMLElement {
  const link = (lesson: Lesson, index: number): HTMLElement =>
    h("li", {}, h("a", { href: `#/lessons/${index + 1}`, "aria-current": index === current ? "page" : undefined }, lesson.title));
  return h("nav", { class: "contents", "aria-label": "Lessons" }, h("ol", {}, ...LESSONS.map(link)));
}

class Class {
  private readonly charts: Chart[] = [];
  private readonly stopped = new AbortController();
  private readonly results = h("div", { class: "results", "aria-live": "polite" });
  private texts: string[] = [];

  constructor(
    root: HTMLElement,
    private readonly app: App,
    private readonly index: number,
  ) {
    const lesson = LESSONS[index]!;
    const form = h("form", { class: "question" }, h("fieldset", {}, h("legend", {}, lesson.question), ...lesson.options.map((option, place) => this.option(option, place))));
    const answer = h("button", { type: "submit" }, "Answer and run");
    form.append(answer);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const chosen = new FormData(form).get("option");
      if (chosen === null) return this.results.replaceChildren(h("p", {}, "Choose an answer first: a prediction that was wrong teaches most."));
      answer.disabled = true;
      void this.run(lesson, Number(chosen));
    });
    const article = h(
      "article",
      { class: "lesson" },
      h("h1", {}, `${index + 1}. ${lesson.title}`),
      ...lesson.before.map((text) => h("p", {}, text)),
      h("p", {}, h("strong", {}, "A: "), `${lesson.names[0]}. `, h("strong", {}, "B: "), `${lesson.names[1]}.`),
      form,
      this.results,
    );
    root.append(h("div", { class: "class" }, contents(index), article));
  }

  destroy(): void {
    this.stopped.abort();
    this.charts.forEach((chart) => chart.destroy());
  }

  private option(text: string, place: number): HTMLElement {
    return h("label", { class: "option" }, h("input", { type: "radio", name: "option", value: String(place) }), h("span", {}, text));
  }

  private async run(lesson: Lesson, chosen: number): Promise<void> {
    this.results.replaceChildren(h("p", {}, "Running both scenarios."));
    try {
      const { lab } = this.app;
      this.texts = [lesson.text, await lab.call("edit", { text: lesson.text, changes: lesson.b })];
      const done = await Promise.all(this.texts.map((text) => this.simulate(text)));
      this.show(lesson, chosen, done as [Done, Done]);
    } catch (error) {
      if (!(error instanceof Cancelled)) this.results.replaceChildren(h("p", { role: "alert" }, (error as Error).message));
    }
  }

  private async simulate(text: string): Promise<Done> {
    const source = { text, files: {}, seed: SEED };
    const options = { signal: this.stopped.signal };
    const [about, output] = await Promise.all([this.app.lab.call("about", source, options), this.app.lab.call("run", { ...source, events: false }, options)]);
    const all = measures(output, about, LINK);
    const goodput = all.filter((one) => one.label.endsWith("goodput (Mbit/s)"));
    const sum = goodput.reduce((total, one) => total + one.value, 0);
    const shares = goodput.length < 2 ? [] : goodput.map((one) => ({ label: `share of ${one.label.split(":")[0]} (%)`, value: (100 * one.value) / sum }));
    return { output, about, all: [...all, ...shares] };
  }

  private show(lesson: Lesson, chosen: number, done: [Done, Done]): void {
    const value = (one: Done) => (label: string) => one.all.find((measure) => measure.label === label)?.value ?? NaN;
    const found: Found = { a: value(done[0]), b: value(done[1]) };
    const verdict = chosen === lesson.right ? "That is what the runs show." : `The runs show another answer: “${lesson.options[lesson.right]}”`;
    const text = lesson.holds(found) ? verdict : "These runs do not show what the lesson expects. Please report this.";
    this.results.replaceChildren(
      h("p", { class: chosen === lesson.right ? "verdict right" : "verdict" }, text),
      this.pictures(lesson, done),
      ...lesson.after.map((paragraph) => h("p", {}, paragraph)),
      this.table(done),
      this.find(lesson, found),
      this.links(lesson),
    );
    this.draw(lesson, done);
  }

  private pictures(lesson: Lesson, done: [Done, Done]): HTMLElement {
    const titles = lesson.pictures.map((picture) => PICTURES.find(([name]) => name === picture)![1]);
    const all = titles.flatMap((title) => done.map((_, arm) => new Chart(`${"AB"[arm]}: ${title}`)));
    this.charts.push(...all);
    return h("div", { class: "charts" }, ...all.map((chart) => chart.element));
  }

  private draw(lesson: Lesson, done: [Done, Done]): void {
    lesson.pictures.forEach((picture, row) => {
      const both = alike(done.map((one) => data(picture, one.output, one.about, LINK)));
      both.forEach((one, arm) => this.charts[2 * row + arm]!.draw({ ...one, title: `${"AB"[arm]}: ${one.title}` }));
    });
  }

  private table(done: [Done, Done]): HTMLElement {
    const labels = [...new Set(done.flatMap((one) => one.all.map((measure) => measure.label)))].filter((label) => !label.startsWith("share of"));
    const cell = (one: Done, label: string): HTMLElement => h("td", {}, number(one.all.find((measure) => measure.label === label)?.value ?? NaN));
    const head = h("tr", {}, h("td"), ...["A", "B"].map((text) => h("th", { scope: "col" }, text)));
    const rows = labels.map((label) => h("tr", {}, h("th", { scope: "row" }, label), ...done.map((one) => cell(one, label))));
    const whole = h("table", {}, h("caption", {}, `One run of each, seed ${SEED}, without the first ${done[0].about.resolved.warmup}`), h("thead", {}, head), h("tbody", {}, ...rows));
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Results" }, whole);
  }

  private find(lesson: Lesson, found: Found): HTMLElement {
    const { find } = lesson;
    const input = h("input", { type: "text", inputMode: "decimal", "aria-label": find.question });
    const reply = h("p", { role: "status" });
    const form = h("form", { class: "find" }, h("label", {}, find.question, " ", input, ` ${find.unit} `), h("button", { type: "submit" }, "Check"), reply);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = Number(input.value.replace(",", ".").replace("%", ""));
      const truth = found[find.arm](find.label);
      reply.textContent = input.value.trim() !== "" && Math.abs(given - truth) <= find.within ? `Yes: ${number(truth)} ${find.unit}.` : "Not yet: look at the table and the pictures again.";
    });
    return form;
  }

  private links(lesson: Lesson): HTMLElement {
    const open = h("button", { type: "button" }, "Open both scenarios on the bench");
    open.addEventListener("click", () => {
      this.app.document = { arms: [...this.texts], seed: SEED, files: {} };
      location.hash = "#/bench";
    });
    const next = this.index + 1 < LESSONS.length ? h("a", { href: `#/lessons/${this.index + 2}` }, `Next: ${LESSONS[this.index + 1]!.title}`) : null;
    const solution = h("details", {}, h("summary", {}, "For the lecturer: solution and discussion"), ...lesson.solution.map((text) => h("p", {}, text)));
    return h("div", { class: "links" }, solution, h("p", { class: "bar" }, open, next));
  }
}

export const lessons: Part = {
  name: "lessons",
  title: "Lessons",
  mount: (root, app, rest) => {
    const index = Math.min(LESSONS.length, Math.max(1, Number.parseInt(rest, 10) || 1)) - 1;
    const mounted = new Class(root, app, index);
    return () => mounted.destroy();
  },
};
