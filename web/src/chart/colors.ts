// Colours of the style sheet for canvases, which know no custom properties.

const probes = new Map<string, string>();

function resolve(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

// The value of the custom property `name` in the present theme.
export function themeColor(name: string): string {
  let color = probes.get(name);
  if (color === undefined) {
    color = resolve(name);
    probes.set(name, color);
  }
  return color;
}

export const RUN_COLORS = 8;

// Runs are told apart by eight colours that stay apart without red and green.
export const runColorName = (index: number) => `run-${(index % RUN_COLORS) + 1}`;

const dark = matchMedia('(prefers-color-scheme: dark)');

// Calls `redraw` when the system changes its theme. Returns how to stop that.
export function onThemeChange(redraw: () => void): () => void {
  const changed = () => {
    probes.clear();
    redraw();
  };
  dark.addEventListener('change', changed);
  return () => dark.removeEventListener('change', changed);
}
