import type { ComponentChildren } from "preact";
import { go, link, type Address } from "../address";

interface Props {
  to: Partial<Address>;
  children: ComponentChildren;
  class?: string;
  current?: boolean;
}

/** A place on this page: a real link, so that it opens in another tab too. */
export function Link({ to, children, class: name, current }: Props) {
  function follow(event: MouseEvent): void {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
    scrollTo(0, 0);
  }
  return (
    <a class={name} href={link(to)} onClick={follow} aria-current={current ? "page" : undefined}>
      {children}
    </a>
  );
}
