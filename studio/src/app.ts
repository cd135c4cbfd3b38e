// What the parts of the studio share: the simulator, the document and its changes.
import { Lab } from "./lab/lab";
import type { Facts } from "./lab/protocol";
import { type Document, encode } from "./share";
import standard from "./default.toml?raw";

export class App {
  document: Document = { arms: [standard], seed: 1n, files: {} };

  constructor(
    readonly lab: Lab,
    readonly facts: Facts,
  ) {}

  /** The address of `part` with the document in it. */
  async link(part: string): Promise<string> {
    return `${location.href.split("#")[0]}#/${part}?s=${await encode(this.document)}`;
  }
}

/** A part of the studio. */
export interface Part {
  /** Its name in the address. */
  name: string;
  title: string;
  /** Fills `root`; `rest` is the address after the name. Returns what ends it. */
  mount: (root: HTMLElement, app: App, rest: string) => () => void;
}
