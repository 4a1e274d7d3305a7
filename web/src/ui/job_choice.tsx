// A list from which the user chooses a recent job.
import { useState } from 'preact/hooks';
import { jobList } from '../api/store';

const JOBS_MAX = 200;

interface JobChoiceProps {
  label: string;
  // Text of the entry for choosing no job.
  none: string;
  // Number or name of the chosen job; empty if none is chosen.
  value: string;
  // Numbers and names of the jobs that cannot be chosen.
  except: readonly string[];
  onChoose: (job: string) => void;
}

export function JobChoice({ label, none, value, except, onChoose }: JobChoiceProps) {
  // The options, which may be hundreds, are created only when the user opens the list.
  const [reached, setReached] = useState(false);
  const reach = () => setReached(true);
  const jobs = jobList.value ?? [];
  const others = jobs.filter(({ id }) => !except.includes(String(id))).slice(0, JOBS_MAX);
  const options = reached ? others : others.filter(({ id }) => String(id) === value);
  const listed = options.some(({ id }) => String(id) === value);
  return (
    <label class="inline-field" onPointerEnter={reach}>
      {label}
      <select
        value={value}
        onFocus={reach}
        onPointerDown={reach}
        onChange={(event) => {
          onChoose(event.currentTarget.value);
          event.currentTarget.value = value;
        }}
      >
        <option value="">{none}</option>
        {value !== '' && !listed && <option value={value}>{value}</option>}
        {options.map(({ id, name }) => (
          <option key={id} value={String(id)}>
            {name} #{id}
          </option>
        ))}
      </select>
    </label>
  );
}
