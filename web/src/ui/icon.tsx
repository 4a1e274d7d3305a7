import type { IconName } from '../format/words';

// SVG paths on a grid of 16 by 16.
const PATHS: Record<IconName, string> = {
  circle: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zm0 1.6a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 0 1 0-6.8z',
  half: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zm0 1.6v6.8a3.4 3.4 0 0 1 0-6.8z',
  play: 'M5 3.2v9.6L12.8 8z',
  retry:
    'M8 3a5 5 0 1 0 4.9 6h-1.7A3.4 3.4 0 1 1 8 4.6c.9 0 1.8.4 2.4 1L8.6 7.4H13V3l-1.5 1.5' +
    'A5 5 0 0 0 8 3z',
  square: 'M3.5 3.5h9v9h-9zm1.6 1.6v5.8h5.8V5.1z',
  pause: 'M4.5 3.5h2.4v9H4.5zM9.1 3.5h2.4v9H9.1z',
  stop: 'M4 4h8v8H4z',
  check: 'M6.6 12.4 2.8 8.6l1.3-1.3 2.5 2.5 5.3-5.6 1.3 1.3z',
  cross: 'M4.2 3 8 6.8 11.8 3 13 4.2 9.2 8l3.8 3.8-1.2 1.2L8 9.2 4.2 13 3 11.8 6.8 8 3 4.2z',
  warn: 'M8 2.2 14.6 13.6H1.4zM7.2 6.6v3.4h1.6V6.6zm0 4.4v1.5h1.6V11z',
  bar: 'M8 2.6a5.4 5.4 0 1 0 0 10.8A5.4 5.4 0 0 0 8 2.6zM4.8 7.2h6.4v1.6H4.8z',
  dot: 'M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  search:
    'M7 2.5a4.5 4.5 0 1 0 2.7 8.1l3 3 1.1-1.1-3-3A4.5 4.5 0 0 0 7 2.5zm0 1.6a2.9 2.9 0 1 1 ' +
    '0 5.8 2.9 2.9 0 0 1 0-5.8z',
  copy: 'M5.5 2h7.5v9h-2v3H3V5h2.5zm1.5 3H11v4.5h.5v-6H7zM4.5 6.5v6h5v-6z',
  close: 'M4.2 3 8 6.8 11.8 3 13 4.2 9.2 8l3.8 3.8-1.2 1.2L8 9.2 4.2 13 3 11.8 6.8 8 3 4.2z',
  down: 'M7.2 2h1.6v6.2l2.4-2.4 1.1 1.1L8 11.2 3.7 6.9l1.1-1.1 2.4 2.4zM3 12.4h10V14H3z',
  triangle: 'M8 3.5 13 12.5H3z',
  diamond: 'M8 2.5 13.5 8 8 13.5 2.5 8z',
  flag: 'M4 2.5h1.5V3H13l-2 3 2 3H5.5v5H4z',
  disk: 'M2.5 2.5h8.6l2.4 2.4v8.6h-11zM5 4v2.8h5V4zm3 4.6a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4z',
  link: 'M9 2.5h4.5V7h-1.6V5.2L7.6 9.5 6.5 8.4l4.3-4.3H9zM3 4.5h3.5v1.6H4.6v5.3h5.3V9.5h1.6V13H3z',
};

// A decoration next to a word. Hidden from screen readers.
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={PATHS[name]} fill-rule="evenodd" />
    </svg>
  );
}
