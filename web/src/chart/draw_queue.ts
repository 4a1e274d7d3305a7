// Draws charts one after another: the first one immediately, then a few per frame. The first chart
// is thus visible before the last one is drawn, and clicks are not delayed.

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
    // Schedules the others first, because a chart that fails to draw must not block them.
    if (waiting.length > 0) schedule();
  }
}

function schedule(): void {
  scheduled = true;
  // Runs after the next frame has been drawn.
  requestAnimationFrame(() => setTimeout(drawSome));
}

// Queues a drawing. Returns a function that cancels it.
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
