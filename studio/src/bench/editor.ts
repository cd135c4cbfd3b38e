// The text of a scenario, with line numbers and the errors at their lines.
import type { Refusal } from "../lab/protocol";
import { h } from "../ui/dom";

export class Editor {
  readonly element: HTMLElement;
  private readonly area: HTMLTextAreaElement;
  private readonly gutter = h("div", { class: "gutter", "aria-hidden": "true" });
  private readonly errors = h("ul", { class: "errors" });

  constructor(name: string, changed: (text: string) => void) {
    this.area = h("textarea", { spellcheck: false, autocapitalize: "off", wrap: "off", "aria-label": name });
    this.area.addEventListener("input", () => {
      this.number();
      changed(this.area.value);
    });
    this.area.addEventListener("scroll", () => (this.gutter.scrollTop = this.area.scrollTop));
    this.element = h("div", { class: "editor" }, h("div", { class: "page" }, this.gutter, this.area), h("div", { role: "status" }, this.errors));
  }

  get text(): string {
    return this.area.value;
  }

  /** Replaces the text; the cursor stays where it is. */
  set text(text: string) {
    if (text === this.area.value) return;
    const { selectionStart, selectionEnd, scrollTop } = this.area;
    this.area.value = text;
    this.area.setSelectionRange(selectionStart, selectionEnd);
    this.area.scrollTop = scrollTop;
    this.number();
  }

  /** Lists the errors of `refusal`, each a button that goes to its place; none without one. */
  refuse(refusal: Refusal | null): void {
    const wrong = new Set(refusal?.diagnostics.map((one) => one.line));
    [...this.gutter.children].forEach((line, index) => line.classList.toggle("wrong", wrong.has(index + 1)));
    this.area.setAttribute("aria-invalid", String(refusal !== null));
    if (!refusal) return this.errors.replaceChildren();
    const rows = refusal.diagnostics.map((one) => {
      const place = h("button", { type: "button", class: "place", onclick: () => this.go(one.line, one.column, one.width) }, `line ${one.line}`);
      return h("li", {}, place, ` ${one.message}${one.help && `; ${one.help}`}`);
    });
    this.errors.replaceChildren(...(rows.length ? rows : [h("li", {}, refusal.text)]));
  }

  private go(line: number, column: number, width: number): void {
    const before = this.area.value.split("\n").slice(0, line - 1);
    const start = before.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
    this.area.focus();
    this.area.setSelectionRange(start, start + width);
    this.area.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(this.area).lineHeight));
  }

  private number(): void {
    const lines = this.area.value.split("\n").length;
    while (this.gutter.children.length > lines) this.gutter.lastElementChild!.remove();
    while (this.gutter.children.length < lines) this.gutter.append(h("div", {}, String(this.gutter.children.length + 1)));
  }
}
