// What a reader takes away: the scenario, tables, pictures, a capture, a link, and the command with the same result.
import type { App } from "../app";
import type { Output } from "../lab/protocol";
import { table } from "../lab/tables";
import type { Data } from "../ui/chart";
import { download, h } from "../ui/dom";
import { vector } from "../ui/vector";

export interface Shown {
  arm: number;
  link: string;
  output: Output;
  pictures: Data[];
}

function button(text: string, act: () => void): HTMLButtonElement {
  return h("button", { type: "button", onclick: act }, text);
}

/** A choice from `names` that does `act` with the chosen one. */
function pick(label: string, names: string[], act: (index: number) => void): HTMLElement {
  const select = h("select", { "aria-label": label }, h("option", { value: "" }, label), ...names.map((name, index) => h("option", { value: index }, name)));
  select.addEventListener("change", () => {
    act(Number(select.value));
    select.value = "";
  });
  return select;
}

/** Buttons for what is `shown`. `say` shows a sentence. */
export function outputs(app: App, shown: () => Shown | undefined, say: (text: string) => void): HTMLElement {
  const ready = (act: (now: Shown) => void): void => {
    const now = shown();
    if (now) act(now);
    else say("There is no run yet.");
  };
  const name = (now: Shown, suffix: string): string => `${app.document.arms.length > 1 ? "AB"[now.arm] : "scenario"}${suffix}`;
  const tables = h("span", {});
  const files = h("span", {});
  const refresh = (): void => {
    const now = shown();
    if (!now) return;
    const names = Object.keys(now.output.tables);
    tables.replaceChildren(pick("CSV…", names, (index) => download(`${names[index]}.csv`, table(now.output, names[index]!).csv(), "text/csv")));
    const titles = now.pictures.map((picture) => picture.title);
    files.replaceChildren(pick("SVG…", titles, (index) => download(`figure-${index + 1}.svg`, vector(now.pictures[index]!), "image/svg+xml")));
  };
  const capture = (now: Shown): void => {
    const overrides = { "capture.studio": { link: now.link } };
    const source = { text: app.document.arms[now.arm]!, files: app.document.files, overrides };
    app.lab
      .call("run", { ...source, seed: app.document.seed, events: false })
      .then((output) => Object.entries(output.captures).forEach(([file, bytes]) => download(file.replace("studio", now.link), bytes, "application/octet-stream")))
      .catch((error: Error) => say(error.message));
  };
  const command = (now: Shown): string => `ecnlab run ${name(now, ".toml")} --seed ${app.document.seed}`;
  const element = h(
    "div",
    { class: "outputs" },
    button("Copy a link", () =>
      void app.link("bench").then(async (link) => {
        await navigator.clipboard.writeText(link).then(
          () => say("The link is in the clipboard; it has the whole scenario."),
          () => say(link),
        );
      }),
    ),
    button("TOML", () => ready((now) => download(name(now, ".toml"), app.document.arms[now.arm]!, "application/toml"))),
    tables,
    files,
    button("pcapng", () => ready(capture)),
    button("Command", () => ready((now) => say(`${command(now)}   # with the TOML saved as ${name(now, ".toml")}: the same numbers`))),
  );
  element.addEventListener("studio-run", refresh);
  return element;
}
