// Plans a job's layout on a cluster, which need not exist. Shows its time, memory and price.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { GetJobResponse, GetPlannerResponse, PlanLayoutResponse } from '../api/types';
import { specForNewJob } from '../job/resubmit';
import { query, setQuery } from '../router/router';
import { CommandLine } from '../ui/copy';
import { useLoad, usePost } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { PlanForm, sourceInAddress } from './plan_form';
import { NoLayout, PlanResult } from './plan_result';
import {
  commandLineOf,
  formOf,
  problemsOf,
  requestOf,
  type Form,
  type Source,
} from './plan_request';

const DEFAULT_RECIPE = 'llama3-8b';
const DEFAULT_DEVICE = 'H100';

// Fills in missing query parameters once, with a recipe and the GPUs of this cluster, so that the
// URL can be shared.
function useDefaults(lists: GetPlannerResponse | undefined): void {
  useEffect(() => {
    if (!lists) return;
    const { recipe, device } = formOf(query.value);
    const own = lists.own_nodes[0];
    const recipes = lists.recipes.filter(({ trainable }) => trainable).map(({ name }) => name);
    const usual = recipes.includes(DEFAULT_RECIPE) ? DEFAULT_RECIPE : recipes[0];
    setQuery({
      recipe: recipe || usual,
      device: device || (own?.device ?? DEFAULT_DEVICE),
      ...(device === '' && own ? { nodes: own.nodes, per_node: own.per_node } : {}),
    });
  }, [lists]);
}

// Returns an existing job's settings as the text of a job file, in JSON, which is valid YAML.
function useJobText(job: string) {
  const path = job === '' ? undefined : `/jobs/${encodeURIComponent(job)}`;
  const { data, error } = useLoad<GetJobResponse>(path, {}, job);
  const text = useMemo(() => {
    const found = data?.job;
    if (!found?.spec) return '';
    return JSON.stringify(specForNewJob(found.spec, found.origins));
  }, [data]);
  return { text, name: data?.job?.name, error: path && error };
}

function emptyWords(form: Form, source: Source): string {
  if (Object.keys(problemsOf(form)).length > 0) return 'Correct the marked fields.';
  if (source === 'file') return 'Paste a job file. It can extend a recipe.';
  return source === 'job' ? 'Loading the settings of the job.' : 'Choose a recipe.';
}

export function Planner() {
  const lists = useLoad<GetPlannerResponse>('/planner', {}, 'planner');
  useDefaults(lists.data);
  const form = formOf(query.value);
  const source = sourceInAddress();
  const [jobFile, setJobFile] = useState(form.file);
  const job = useJobText(source === 'job' ? (query.value.get('job') ?? '') : '');
  const request = lists.data && requestOf(form, source, source === 'job' ? job.text : jobFile);
  const answer = usePost<PlanLayoutResponse>('/planner', request, 'plan');
  const plan = request && answer.data;
  const error = lists.error ?? job.error ?? (request && answer.error);
  return (
    <>
      <div class="page-head">
        <h1>Planner</h1>
        <p class="faint">Predictions only; nothing is submitted.</p>
      </div>
      {!lists.data && !lists.error && <Skeleton rows={6} height={40} />}
      {lists.error && <Failure error={lists.error} />}
      {lists.data && (
        <div class="planner">
          <PlanForm
            lists={lists.data}
            source={source}
            jobFile={jobFile}
            onJobFile={setJobFile}
            jobName={job.name}
            plan={answer.data}
          />
          <div class="plan-result" aria-live="polite" aria-busy={answer.loading && !!request}>
            {error && !lists.error && <Failure error={error} />}
            {!request && !error && (
              <Empty title="Nothing to plan yet">
                {emptyWords(form, source)}
              </Empty>
            )}
            {request && !plan && !error && <Skeleton rows={6} height={60} />}
            {plan && !error && plan.layout && <PlanResult plan={plan} />}
            {plan && !error && !plan.layout && (
              <NoLayout plan={plan} onNodes={(nodes) => setQuery({ nodes })} />
            )}
            {request && (
              <div>
                <p class="label">Command-line equivalent</p>
                <CommandLine text={commandLineOf(form, source)} />
              </div>
            )}
          </div>
        </div>
      )}
    </>
  );
}
