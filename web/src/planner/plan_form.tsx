// The planner's form, which describes a job and a cluster. The URL stores all values of the form.
import type { GetPlannerResponse, PlanLayoutResponse } from '../api/types';
import { count, gigabytes, plural } from '../format/numbers';
import { useQueryText } from '../router/query_text';
import { query, setQuery } from '../router/router';
import { Choice } from '../ui/choice';
import { Field } from '../ui/field';
import { formOf, problemsOf, sourceOf, type Field as FieldName, type Source } from './plan_request';

// Maximum size of a text in the URL. Servers and chat programs truncate longer URLs.
const FILE_BYTES_MAX = 6_000;

interface TextFieldProps {
  name: FieldName;
  label: string;
  placeholder?: string | undefined;
  numeric?: boolean;
}

function TextField({ name, label, placeholder, numeric }: TextFieldProps) {
  const [text, setText] = useQueryText(name);
  const problem = problemsOf(formOf(query.value))[name];
  return (
    <Field
      label={label}
      inputMode={numeric ? 'decimal' : 'text'}
      placeholder={placeholder}
      value={text}
      problem={problem}
      onText={setText}
    />
  );
}

interface SelectProps {
  name: FieldName;
  label: string;
  options: readonly (readonly [string, string])[];
}

function Select({ name, label, options }: SelectProps) {
  const value = query.value.get(name) ?? '';
  // A shared URL may contain a value that this controller does not know. For such a value, the
  // controller reports an error.
  const isKnown = options.some(([option]) => option === value);
  return (
    <label class="field">
      {label}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {!isKnown && <option value={value}>{value || '…'}</option>}
        {options.map(([option, word]) => (
          <option key={option} value={option}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

function JobFileField({ text, onText }: { text: string; onText: (text: string) => void }) {
  const tooLong = new TextEncoder().encode(text).length > FILE_BYTES_MAX;
  return (
    <label class="field">
      Job file
      <textarea
        rows={12}
        spellcheck={false}
        placeholder={'extends: llama3-8b\ntrain: {tokens: 1T}'}
        value={text}
        onInput={(event) => {
          const next = event.currentTarget.value;
          onText(next);
          const fits = new TextEncoder().encode(next).length <= FILE_BYTES_MAX;
          setQuery({ file: fits ? next : undefined });
        }}
      />
      {tooLong && <span>The job file is too long for the URL. A link to this page omits it.</span>}
    </label>
  );
}

function JobPart({ lists, source, jobFile, onJobFile, jobName }: PlanFormProps) {
  const job = query.value.get('job') ?? '';
  const choices: [Source, string][] = [
    ['recipe', 'Recipe'],
    ['file', 'Job file'],
  ];
  if (job !== '') choices.unshift(['job', `Job ${job}`]);
  const { recipes } = lists;
  const chosen = recipes.find(({ name }) => name === query.value.get('recipe'));
  const choose = (next: Source) =>
    setQuery({
      source: next === 'file' ? next : undefined,
      job: next === 'recipe' ? undefined : job,
    });
  return (
    <fieldset>
      <legend>Job</legend>
      <Choice label="From" value={source} choices={choices} onChoose={choose} />
      {source === 'recipe' && (
        <>
          <Select
            name="recipe"
            label="Recipe"
            options={recipes.map(
              ({ name, trainable }) => [name, trainable ? name : `${name} (plan only)`] as const,
            )}
          />
          {chosen && <p class="faint">{chosen.description}</p>}
          {chosen && !chosen.trainable && (
            <p class="faint">Plan only: the trainer lacks features that this recipe needs.</p>
          )}
        </>
      )}
      {source === 'file' && <JobFileField text={jobFile} onText={onJobFile} />}
      {source === 'job' && <p class="faint">Uses the settings of {jobName ?? `job ${job}`}.</p>}
    </fieldset>
  );
}

// Offers this cluster's nodes for filling in the form.
function OwnNodes({ lists }: { lists: GetPlannerResponse }) {
  if (lists.own_nodes.length === 0) return null;
  const fill = ({ device, nodes, per_node: perNode }: GetPlannerResponse['own_nodes'][number]) =>
    setQuery({ device, nodes, per_node: perNode, network: undefined });
  return (
    <div class="own-nodes">
      <span class="faint">Nodes of this cluster:</span>
      {lists.own_nodes.map((own) => (
        <button key={`${own.device}/${own.per_node}`} type="button" onClick={() => fill(own)}>
          {plural(own.nodes, 'node')} with {own.per_node} {own.device}
        </button>
      ))}
    </div>
  );
}

function ClusterPart({ lists, plan }: PlanFormProps) {
  const device = lists.devices.find(({ name }) => name === query.value.get('device'));
  const networks = lists.networks.map(
    ({ name, bytes_per_second: rate }) =>
      [name, `${name}, ${gigabytes(rate as number)}/s per GPU`] as const,
  );
  const usual = device ? `default: ${device.network}` : 'default';
  return (
    <fieldset>
      <legend>Cluster</legend>
      <OwnNodes lists={lists} />
      <Select
        name="device"
        label="GPU"
        options={lists.devices.map(
          ({ name, memory_bytes: size }) => [name, `${name}, ${gigabytes(size)}`] as const,
        )}
      />
      <div class="pair">
        <TextField
          name="nodes"
          label="Nodes"
          numeric
          placeholder={plan?.cluster && String(plan.cluster.nodes)}
        />
        <TextField
          name="per_node"
          label="GPUs per node"
          numeric
          placeholder={String(lists.usual_per_node)}
        />
      </div>
      <Select name="network" label="Network" options={[['', usual], ...networks]} />
    </fieldset>
  );
}

function SettingsPart({ plan }: PlanFormProps) {
  const run = plan?.run;
  return (
    <fieldset>
      <legend>Changes</legend>
      <div class="pair">
        <TextField
          name="batch"
          label="Samples per step"
          numeric
          placeholder={run && count(run.global_batch)}
        />
        <TextField
          name="length"
          label="Tokens per sample"
          numeric
          placeholder={run && count(run.seq_length)}
        />
      </div>
      <TextField name="price" label="Dollars per GPU-hour" numeric placeholder="known prices" />
      <TextField
        name="set"
        label="Other settings"
        placeholder="train.tokens=1T optimizer.lr=1e-4"
      />
    </fieldset>
  );
}

export interface PlanFormProps {
  lists: GetPlannerResponse;
  source: Source;
  jobFile: string;
  onJobFile: (text: string) => void;
  jobName: string | undefined;
  // The newest plan, whose values appear as placeholders of empty fields.
  plan: PlanLayoutResponse | undefined;
}

export function PlanForm(props: PlanFormProps) {
  return (
    <form
      class="card plan-form"
      aria-label="Plan settings"
      onSubmit={(event) => event.preventDefault()}
    >
      <JobPart {...props} />
      <ClusterPart {...props} />
      <SettingsPart {...props} />
    </form>
  );
}

export const sourceInAddress = (): Source => sourceOf(query.value);
