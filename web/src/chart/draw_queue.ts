// Draws charts one after the other: the first at once, then a few per frame. The first chart is
// visible before the last one is drawn, and clicks are not delayed.

const BUDGET_MS = 6;

const waiting: (() => void)[] = [];
let scheduled = false;

function drawSome(): void {
  scheduled = false;
  const end = performance.now() + BUDGET_MS;
  try {
    do waiting.shift()?.();
    while (waiting.length > 0 && performance.now() < end);
  } finally {
    // A chart that fails to draw must not block the others.
    if (waiting.length > 0) schedule();
  }
}

function schedule(): void {
  scheduled = true;
  // After the next frame has been drawn.
  requestAnimationFrame(() => setTimeout(drawSome));
}

// Returns a function that cancels the drawing.
export function queueDraw(draw: () => void): () => void {
  if (!scheduled) {
    draw();
    schedule();
    return () => undefined;
  }
  waiting.push(draw);
  return () => {
    const at = waiting.indexOf(draw);
    if (at >= 0) waiting.splice(at, 1);
  };
}
