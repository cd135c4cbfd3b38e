// Elements in one expression.

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

/** An element with properties or attributes (`class`, `aria-…`, `data-…`), listeners (`onclick`), and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  set(element, props);
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

/** The same for SVG. */
export function svg(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, props);
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

function set(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name in element && !(element instanceof SVGElement) && !name.includes("-") && name !== "list")
      (element as unknown as Props)[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Offers `content` as a download named `name`. */
export function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
