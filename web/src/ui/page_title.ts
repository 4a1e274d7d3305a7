import { useEffect } from 'preact/hooks';
import type { StateLook } from '../format/words';

// Returns the title of the tab. The word for what needs attention comes first, because a narrow tab
// shows only the beginning.
export function pageTitle(name: string, look: StateLook | undefined): string {
  return look ? `${look.word} · ${name}` : `${name} · Trainyard`;
}

// Returns the address of the tab's icon.
export function pageIcon(look: StateLook | undefined): string {
  if (!look) return '/icon.svg';
  return look.tone === 'bad' ? '/icon-bad.svg' : '/icon-warn.svg';
}

// Sets the title and the icon of the tab. If `name` is undefined, keeps them. `look`: what needs
// attention; undefined if all is well.
export function usePageTitle(name: string | undefined, look: StateLook | undefined): void {
  const title = name && pageTitle(name, look);
  const icon = pageIcon(look);
  useEffect(() => {
    const link = document.querySelector('link[rel="icon"]');
    if (!title || !link) return;
    document.title = title;
    if (link.getAttribute('href') !== icon) link.setAttribute('href', icon);
  }, [title, icon]);
}
