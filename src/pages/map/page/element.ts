/** Makes elements from text. Text from the web never becomes markup: there is no other way to make markup here. */
export type Child = Node | string;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** An element of the page's own markup; map.html always has it. */
export function byId<E extends HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}
