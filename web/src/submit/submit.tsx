// Writes a new job from a recipe: the job file, its check, the documentation of its settings and a
// plan. Submits it.
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { asRequestError, postJson, type RequestError } from '../api/client';
import { stale } from '../api/store';
import type {
  GetPlannerResponse,
  GetRecipeResponse,
  PlanJobResponse,
  SubmitJobResponse,
} from '../api/types';
import { nameProblem, newRequestId } from '../job/resubmit';
import { navigate, query, setQuery } from '../router/router';
import { jobPath } from '../router/url';
import { CommandLine } from '../ui/copy';
import { Field } from '../ui/field';
import { useLoad, usePost } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { usePageTitle } from '../ui/page_title';
import { CheckPanel } from './check_panel';
import { Editor } from './editor';
import { HelpPanel } from './help_panel';
import { errorsIn, nameIn, offsetOf, withName, type FileError } from './job_text';
import { keyAt } from './key_at';
import { PlanPanel } from './plan_panel';
import { RecipeDiff } from './recipe_diff';
import '../styles/submit.css';

// The check is sent when the user pauses typing.
const CHECK_DELAY_MS = 400;
const INVALID_ARGUMENT = 400;

// Edited texts by recipe. The texts survive a visit to another page.
const drafts = new Map<string, string>();

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), CHECK_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

interface Checked {
  plan: PlanJobResponse | undefined;
  errors: FileError[];
  failure: RequestError | undefined;
}

// Sends the text to the controller, which checks it. `errors` are errors in the text. `failure` is
// any other error.
function useCheck(text: string): Checked {
  const settled = useSettled(text);
  const body = settled.trim() === '' ? undefined : { job_file: settled };
  const { data, error } = usePost<PlanJobResponse>('/plan', body, 'check');
  if (!body) {
    const empty = { line: undefined, column: undefined, text: 'The job file is empty.' };
    return { plan: undefined, errors: [empty], failure: undefined };
  }
  const isOfText = error?.status === INVALID_ARGUMENT;
  const errors = isOfText ? errorsIn(error.message) : [];
  return { plan: error ? undefined : data, errors, failure: isOfText ? undefined : error };
}

function RecipeSelect({ lists, recipe }: { lists: GetPlannerResponse; recipe: string }) {
  const chosen = lists.recipes.find(({ name }) => name === recipe);
  return (
    <label class="field">
      Recipe
      <select
        value={recipe}
        onChange={(event) => setQuery({ recipe: event.currentTarget.value })}
      >
        {!chosen && <option value={recipe}>{recipe || 'Choose a recipe…'}</option>}
        {lists.recipes.map(({ name, trainable }) => (
          <option key={name} value={name}>
            {trainable ? name : `${name} (plan only)`}
          </option>
        ))}
      </select>
      <span class="faint recipe-text">{chosen?.description ?? '\u00a0'}</span>
    </label>
  );
}

function NameField({ text, onText }: { text: string; onText: (text: string) => void }) {
  const name = nameIn(text);
  return (
    <Field
      label="Name (must not match an active job)"
      value={name}
      maxLength={63}
      problem={nameProblem(name)}
      onText={(next) => onText(withName(text, next.trim()))}
    />
  );
}

interface SubmitPartProps {
  recipe: string;
  text: string;
  ready: boolean;
}

function SubmitPart({ recipe, text, ready }: SubmitPartProps) {
  const [busy, setBusy] = useState(false);
  const [hold, setHold] = useState(false);
  const [error, setError] = useState<RequestError>();
  // One id per text, because a retry after a lost response must not create a second job.
  const requestId = useMemo(() => newRequestId(0), [text]);
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const body = { job_file: text, hold, request_id: requestId };
      const { job } = await postJson<SubmitJobResponse>('/jobs', body);
      drafts.delete(recipe);
      if (job) navigate(jobPath(job.id));
    } catch (failure) {
      setError(asRequestError(failure));
      setBusy(false);
    }
  };
  const file = `${nameIn(text) || 'job'}.yaml`;
  return (
    <div class="submit-part">
      <div class="submit-line">
        <button
          type="button"
          class="primary"
          disabled={busy || !ready || stale.value}
          onClick={() => void submit()}
        >
          {busy ? 'Sending…' : 'Submit job'}
        </button>
        <label>
          <input
            type="checkbox"
            checked={hold}
            onChange={(event) => setHold(event.currentTarget.checked)}
          />{' '}
          Hold until it is resumed
        </label>
      </div>
      {error && <Failure error={error} />}
      <p class="label">Command-line equivalent</p>
      <CommandLine text={`trainyard submit ${file}${hold ? ' --hold' : ''}`} />
    </div>
  );
}

interface WorkbenchProps {
  lists: GetPlannerResponse;
  recipe: GetRecipeResponse;
}

function Workbench({ lists, recipe }: WorkbenchProps) {
  const [text, setText] = useState(drafts.get(recipe.name) ?? recipe.text);
  const [cursor, setCursor] = useState(0);
  const [planned, setPlanned] = useState<string>();
  const area = useRef<HTMLTextAreaElement>(null);
  const { plan: checked, errors, failure } = useCheck(text);
  const checkId = useId();
  const change = (next: string) => {
    drafts.set(recipe.name, next);
    setText(next);
  };
  const goTo = ({ line = 1, column = 1 }: FileError) => {
    const at = offsetOf(text, line, column);
    area.current?.focus();
    area.current?.setSelectionRange(at, at);
    setCursor(at);
  };
  // If the controller cannot place the job now, the submission returns the reason again.
  const isValid = checked ? checked.warnings.length === 0 : failure !== undefined;
  const lines = errors.flatMap(({ line }) => (line === undefined ? [] : [line]));
  const onPlan = () => setPlanned(text);
  return (
    <div class="workbench">
      <div class="workbench-text">
        <div class="workbench-head">
          <RecipeSelect lists={lists} recipe={recipe.name} />
          <NameField text={text} onText={change} />
        </div>
        <Editor
          text={text}
          errorLines={new Set(lines)}
          area={area}
          describedBy={checkId}
          onText={change}
          onCursor={setCursor}
          onPlan={onPlan}
        />
        <CheckPanel
          id={checkId}
          errors={errors}
          failure={failure}
          plan={checked}
          onPlace={goTo}
        />
        <SubmitPart recipe={recipe.name} text={text} ready={isValid} />
        <RecipeDiff recipe={recipe.name} before={recipe.text} after={text} />
      </div>
      <div class="workbench-side">
        <HelpPanel path={keyAt(text, cursor)} />
        <PlanPanel lists={lists} text={text} planned={planned} checked={checked} onPlan={onPlan} />
      </div>
    </div>
  );
}

const usualRecipe = ({ recipes }: GetPlannerResponse) =>
  recipes.find(({ trainable }) => trainable)?.name ?? '';

export function Submit() {
  const lists = useLoad<GetPlannerResponse>('/planner', {}, 'planner');
  const asked = query.value.get('recipe') ?? '';
  const name = asked || (lists.data ? usualRecipe(lists.data) : '');
  const path = name === '' ? undefined : `/recipes/${encodeURIComponent(name)}`;
  const recipe = useLoad<GetRecipeResponse>(path, {}, name);
  usePageTitle('New job', undefined);
  const error = lists.error ?? (path && recipe.error);
  return (
    <>
      <div class="page-head">
        <h1>New job</h1>
      </div>
      {error && <Failure error={error} />}
      {!error && lists.data && name === '' && (
        <Empty title="No recipes">
          The controller has no recipes. Submit a job file with <code>trainyard submit</code>.
        </Empty>
      )}
      {lists.data && error && <RecipeSelect lists={lists.data} recipe={name} />}
      {!error && !recipe.data && name !== '' && <Skeleton rows={8} height={40} />}
      {!error && lists.data && recipe.data && (
        <Workbench key={recipe.data.name} lists={lists.data} recipe={recipe.data} />
      )}
    </>
  );
}
