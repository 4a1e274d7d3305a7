// The settings in which compared runs differ. Pure functions.
import type { Job } from '../api/types';
import { flattenSpec, varyingKeys } from '../job/flatten_spec';

// This setting differs in every job and has its own column.
const NAME = 'name';
// Settings that affect neither the loss nor the speed of a run. A prefix ends with a dot.
const OPERATIONAL: readonly string[] = [
  'restart.',
  'watchdog.',
  'log_parser.',
  'checkpoint.',
  'description',
  'secrets',
  'stop_grace',
];
// Not operational despite its prefix: this setting determines the initial weights of a run.
const RESUME_FROM = 'checkpoint.resume_from';

const isOperational = (key: string): boolean =>
  key !== RESUME_FROM &&
  OPERATIONAL.some((name) => (name.endsWith('.') ? key.startsWith(name) : key === name));

export interface Differences {
  // Keys of the settings that differ and may affect the loss or the speed.
  relevant: readonly string[];
  // Keys of the other settings that differ.
  operational: readonly string[];
  // The values of each run, by key.
  values: readonly ReadonlyMap<string, string>[];
}

export function differencesOf(jobs: readonly Job[]): Differences {
  const settings = jobs.map(({ spec, origins }) => flattenSpec(spec, origins));
  const varying = varyingKeys(settings).filter((key) => key !== NAME);
  return {
    relevant: varying.filter((key) => !isOperational(key)),
    operational: varying.filter(isOperational),
    values: settings.map((list) => new Map(list.map(({ key, value }) => [key, value]))),
  };
}

// Returns the number that a setting's text represents; undefined for any other text.
export function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

// Returns the keys with a number in every run that sets the key.
export function numericKeys(keys: readonly string[], values: Differences['values']): string[] {
  return keys.filter((key) =>
    values.every((run) => !run.has(key) || numberOf(run.get(key)) !== undefined),
  );
}
