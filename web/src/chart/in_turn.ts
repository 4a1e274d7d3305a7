// Draws charts one after the other: the first at once, the others a few a frame, so that it is seen
// before the last is drawn and a click is not kept waiting.

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
    // One that fails must not keep the others waiting for ever.
    if (waiting.length > 0) schedule();
  }
}

function schedule(): void {
  scheduled = true;
  // After the frame that the present one leads to.
  requestAnimationFrame(() => setTimeout(drawSome));
}

// Returns how to call it off.
export function inTurn(draw: () => void): () => void {
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
