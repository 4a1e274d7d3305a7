// A bar for `done`, from 0 to 1. Shows nothing if `done` is undefined.
export function ProgressBar({ done, label }: { done: number | undefined; label: string }) {
  if (done === undefined) return null;
  const value = Math.round(done * 1000) / 10;
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={value}
    >
      <div style={{ width: `${value}%` }} />
    </div>
  );
}
