import { computed, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { prefetchLink } from '../job/prefetch';
import { changeQuery, formatQuery, parsePath } from './url';

const address = signal({ path: location.pathname, search: location.search });

export const place = computed(() => parsePath(address.value.path));
export const query = computed(() => new URLSearchParams(address.value.search));

function read(): void {
  address.value = { path: location.pathname, search: location.search };
}

export function startRouter(): void {
  addEventListener('popstate', read);
}

export function navigate(to: string): void {
  if (to === location.pathname + location.search) return;
  const samePage = new URL(to, location.href).pathname === location.pathname;
  history.pushState(null, '', to);
  read();
  if (!samePage) scrollTo(0, 0);
}

// Replaces the current URL, so that it does not stay in the history.
export function replaceAddress(to: string): void {
  history.replaceState(null, '', to);
  read();
}

// Changes a view's query without adding a history entry, so that Back leaves the view.
export function setQuery(changes: Record<string, string | number | undefined>): void {
  const next = formatQuery(changeQuery(query.value, changes));
  replaceAddress(location.pathname + next);
}

interface LinkProps {
  href: string;
  children: ComponentChildren;
  class?: string;
  'aria-label'?: string | undefined;
  'aria-current'?: 'page' | undefined;
  // Set for a row that the keys j and k can move to.
  'data-row'?: boolean;
}

// A normal link, which can be copied or opened in a new tab. A plain click opens its target without
// reloading the page.
export function Link({ href, children, ...rest }: LinkProps) {
  const onClick = (event: MouseEvent) => {
    const plain = !event.metaKey && !event.ctrlKey && !event.shiftKey && event.button === 0;
    if (!plain || event.defaultPrevented) return;
    event.preventDefault();
    navigate(href);
  };
  return (
    <a
      {...rest}
      href={href}
      onClick={onClick}
      onPointerDown={(event) => event.button === 0 && prefetchLink(href)}
    >
      {children}
    </a>
  );
}
