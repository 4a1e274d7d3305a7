// The limit on the size of a canvas. Pure functions.

// Some browsers draw nothing on a canvas that is wider or higher than this.
export const MOST_CANVAS_PX = 16_384;

// Returns the canvas pixels per CSS pixel: those of the screen, or fewer on a large canvas.
export function canvasRatio(width: number, height: number, screenRatio: number): number {
  return Math.min(screenRatio, MOST_CANVAS_PX / Math.max(width, height, 1));
}
