// Chooses one of the kept steps with a slider.
import { count } from '../format/numbers';
import { setQuery } from '../router/router';

interface PickerProps {
  // Ascending, at least one.
  steps: readonly number[];
  // The step in the URL; undefined: the newest. The slider shows this step before the step's record
  // has arrived, so that the next key continues from this step.
  asked: number | undefined;
}

export function StepPicker({ steps, asked }: PickerProps) {
  const last = steps.length - 1;
  const at =
    asked === undefined ? last : Math.max(0, steps.findLastIndex((kept) => kept <= asked));
  const choose = (index: number) =>
    setQuery({ step: index >= last ? undefined : steps[index] });
  return (
    <div class="step-picker">
      <label>
        Step
        <input
          type="range"
          min={0}
          max={last}
          value={at}
          disabled={last === 0}
          aria-valuetext={`step ${count(steps[at] ?? 0)}`}
          onInput={(event) => choose(Number(event.currentTarget.value))}
        />
      </label>
      <span class="asked-step" aria-hidden="true">
        {count(steps[at] ?? 0)}
      </span>
      <button
        type="button"
        class="quiet"
        disabled={asked === undefined}
        onClick={() => choose(last)}
      >
        Newest
      </button>
    </div>
  );
}
