// The studio: one page, of which the address selects a part.
import "./style.css";
import { App, type Part } from "./app";
import { bench } from "./bench/bench";
import { lessons } from "./lessons/lessons";
import { Lab } from "./lab/lab";
import { microscope } from "./microscope/microscope";
import { decode } from "./share";
import { trace } from "./trace/trace";
import { h } from "./ui/dom";

const PARTS: Part[] = [bench, microscope, trace, lessons];

const view = document.querySelector("main")!;
let leave: () => void = () => undefined;

/** "#/lessons/3?s=…" as part, rest and shared document. */
function address(): { name: string; rest: string; shared: string | null } {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name = "", ...rest] = path.split("/");
  return { name: name || PARTS[0]!.name, rest: rest.join("/"), shared: new URLSearchParams(query).get("s") };
}

function problem(text: string): void {
  const back = h("a", { href: `#/${PARTS[0]!.name}` }, "Go to the bench");
  view.replaceChildren(h("div", { class: "problem", role: "alert" }, h("p", {}, text), back));
}

async function show(app: App): Promise<void> {
  leave();
  leave = () => undefined;
  const { name, rest, shared } = address();
  const part = PARTS.find((part) => part.name === name);
  for (const link of document.querySelectorAll("#parts a"))
    link.toggleAttribute("aria-current", link.getAttribute("href") === `#/${name}`);
  if (!part) return problem(`There is no part ${JSON.stringify(name)}.`);
  if (shared !== null) {
    try {
      app.document = await decode(shared);
    } catch (error) {
      return problem(`This link cannot be opened: ${(error as Error).message}.`);
    }
    // The address stays short while the document changes.
    history.replaceState(null, "", `#/${name}${rest && `/${rest}`}`);
  }
  document.title = `${part.title} – ecnlab studio`;
  view.replaceChildren();
  leave = part.mount(view, app, rest);
}

async function start(): Promise<void> {
  const links = PARTS.map((part) => h("a", { href: `#/${part.name}` }, part.title));
  document.querySelector("#parts")!.replaceChildren(...links);
  try {
    const lab = await Lab.open();
    const app = new App(lab, await lab.call("facts", {}));
    addEventListener("hashchange", () => void show(app));
    await show(app);
  } catch (error) {
    problem(`The simulator cannot be loaded: ${(error as Error).message}.`);
  }
}

void start();
