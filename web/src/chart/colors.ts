// Resolves the style sheet's colors for canvases, which do not support CSS custom properties.
import { RUN_COLORS } from './dashes';

const probes = new Map<string, string>();

function resolve(color: string): string {
  const probe = document.createElement('span');
  probe.style.color = color;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

// Resolves any CSS color to a color for canvases, in the current theme. Results are cached,
// because resolving makes the browser recompute styles.
export function resolvedColor(text: string): string {
  let color = probes.get(text);
  if (color === undefined) {
    color = resolve(text);
    probes.set(text, color);
  }
  return color;
}

// The color of the CSS custom property --`name`.
export const themeColor = (name: string) => resolvedColor(`var(--${name})`);

export const runColorName = (index: number) => `run-${(index % RUN_COLORS) + 1}`;

const dark = matchMedia('(prefers-color-scheme: dark)');

// Calls `redraw` whenever the system theme changes. Returns a function that stops the calls.
export function onThemeChange(redraw: () => void): () => void {
  const changed = () => {
    probes.clear();
    redraw();
  };
  dark.addEventListener('change', changed);
  return () => dark.removeEventListener('change', changed);
}
