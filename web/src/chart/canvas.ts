// Draws maps on canvases that follow the theme and the resolution of the screen.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { canvasRatio } from './canvas_size';
import { onThemeChange } from './colors';

export interface Surface {
  ctx: CanvasRenderingContext2D;
  // Canvas pixels per CSS pixel.
  ratio: number;
}

// Clears the canvas and sets its size in CSS pixels. Returns undefined if drawing is impossible.
export function clearedSurface(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): Surface | undefined {
  const ratio = canvasRatio(width, height, devicePixelRatio);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const ctx = canvas.getContext('2d');
  if (!ctx) return undefined;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { ctx, ratio };
}

// Returns a ref for a canvas. `draw` is called when one of the inputs or the theme changes.
export function useCanvas(
  draw: (canvas: HTMLCanvasElement) => unknown,
  inputs: readonly unknown[],
) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [theme, setTheme] = useState(0);
  useEffect(() => onThemeChange(() => setTheme((n) => n + 1)), []);
  useLayoutEffect(() => {
    if (canvas.current) draw(canvas.current);
  }, [...inputs, theme]);
  return canvas;
}
