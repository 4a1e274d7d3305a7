// Draws the first chart immediately and the other charts a few per frame. The first chart thus
// appears early, and clicks are not delayed.

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
    // Schedules the remaining charts first, so that an error in this chart does not block them.
    if (waiting.length > 0) schedule();
  }
}

function schedule(): void {
  scheduled = true;
  // The task starts after the browser has painted the next frame.
  requestAnimationFrame(() => setTimeout(drawSome));
}

// Queues a drawing. Returns a function that cancels the drawing.
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
