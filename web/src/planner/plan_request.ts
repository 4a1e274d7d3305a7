// Converts the planner's form, as stored in the URL, to a request and to a command line. Pure
// functions.
import type { PlanLayoutRequest } from '../api/types';

// The query parameters that store the form's fields.
export const FIELDS = [
  'recipe',
  'file',
  'device',
  'nodes',
  'per_node',
  'network',
  'batch',
  'length',
  'price',
  'set',
] as const;
export type Field = (typeof FIELDS)[number];
export type Form = Record<Field, string>;

// The source of the job: a recipe, a text in the form, or a job of this cluster.
export type Source = 'recipe' | 'file' | 'job';

export function formOf(query: URLSearchParams): Form {
  return Object.fromEntries(FIELDS.map((name) => [name, query.get(name) ?? ''])) as Form;
}

export function sourceOf(query: URLSearchParams): Source {
  if (query.get('source') === 'file') return 'file';
  return (query.get('job') ?? '') !== '' ? 'job' : 'recipe';
}

// Returns the settings that override the job's, such as "train.global_batch=512". In the field
// `set`, spaces and line breaks separate the settings.
export function overridesOf(form: Form): string[] {
  const overrides: string[] = [];
  if (form.batch.trim() !== '') overrides.push(`train.global_batch=${form.batch.trim()}`);
  if (form.length.trim() !== '') overrides.push(`train.seq_length=${form.length.trim()}`);
  return [...overrides, ...form.set.split(/\s+/).filter((word) => word !== '')];
}

const isWhole = (text: string) => /^\d{1,9}$/.test(text) && Number(text) >= 1;
const isPrice = (text: string) => Number.isFinite(Number(text)) && Number(text) > 0;

// Returns the errors in numeric fields. The controller checks the other fields.
export function problemsOf(form: Form): Partial<Record<Field, string>> {
  const problems: Partial<Record<Field, string>> = {};
  for (const name of ['nodes', 'per_node'] as const) {
    const text = form[name].trim();
    if (text !== '' && !isWhole(text)) problems[name] = 'must be a whole number of at least 1';
  }
  const price = form.price.trim();
  if (price !== '' && !isPrice(price)) {
    problems.price = 'must be an amount in dollars, such as 2.50';
  }
  return problems;
}

// Returns undefined while the form lacks a value that a plan needs. `jobFile`: the text of the job
// file or of the existing job.
export function requestOf(
  form: Form,
  source: Source,
  jobFile: string,
): PlanLayoutRequest | undefined {
  const hasJob = source === 'recipe' ? form.recipe !== '' : jobFile.trim() !== '';
  if (!hasJob || form.device === '' || Object.keys(problemsOf(form)).length > 0) return undefined;
  const request: PlanLayoutRequest =
    source === 'recipe' ? { recipe: form.recipe } : { job_file: jobFile };
  request.device = form.device;
  request.overrides = overridesOf(form);
  if (form.network !== '') request.network = form.network;
  if (form.nodes.trim() !== '') request.nodes = Number(form.nodes);
  if (form.per_node.trim() !== '') request.per_node = Number(form.per_node);
  if (form.price.trim() !== '') request.price = Number(form.price);
  return request;
}

const shellWord = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

// Returns the equivalent command line. The command does not print the price; `trainyard cost`
// does.
export function commandLineOf(form: Form, source: Source): string {
  const words = ['trainyard plan', source === 'recipe' ? form.recipe : 'JOB.yaml'];
  if (form.nodes.trim() !== '') words.push('--nodes', form.nodes.trim());
  if (form.per_node.trim() !== '') words.push('--per-node', form.per_node.trim());
  words.push('--device', shellWord(form.device));
  if (form.network !== '') words.push('--network', form.network);
  for (const override of overridesOf(form)) words.push('--set', shellWord(override));
  return words.join(' ');
}
