// A job's resolved settings under dotted keys, and the differences between two jobs. Pure
// functions.
import type { JobSpec, Origin } from '../api/types';

export interface Setting {
  key: string;
  value: string;
  // Source of the value, such as "job.yaml:7:3"; "default" if the controller names none.
  origin: string;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function walk(value: unknown, prefix: string, into: Map<string, string>): void {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap) {
    into.set(prefix, textOf(value));
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    // An empty list means the same as a missing list.
    const empty = Array.isArray(inner) && inner.length === 0;
    if (inner === null || inner === undefined || empty) continue;
    walk(inner, prefix === '' ? key : `${prefix}.${key}`, into);
  }
}

// Returns the origin of the nearest enclosing key, because a list or a map has only one origin,
// stored at its key. A value without an origin is a default.
function originOf(key: string, origins: ReadonlyMap<string, string>): string {
  for (let at = key; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const found = origins.get(at);
    if (found !== undefined) return found;
  }
  return 'default';
}

export function flattenSpec(
  spec: JobSpec | null | undefined,
  origins: readonly Origin[],
): Setting[] {
  const values = new Map<string, string>();
  if (spec) walk(spec, '', values);
  const sources = new Map(origins.map(({ key, source }) => [key, source]));
  return [...values].map(([key, value]) => ({ key, value, origin: originOf(key, sources) }));
}

export interface Difference {
  key: string;
  // undefined on the side where the setting is not set.
  left: string | undefined;
  right: string | undefined;
  kind: 'same' | 'changed' | 'left only' | 'right only';
}

export function diffSettings(left: readonly Setting[], right: readonly Setting[]): Difference[] {
  const rightValues = new Map(right.map(({ key, value }) => [key, value]));
  const leftKeys = new Set(left.map(({ key }) => key));
  const kindOf = (a: string, b: string | undefined) =>
    b === undefined ? 'left only' : a === b ? 'same' : 'changed';
  const rows: Difference[] = left.map(({ key, value }) => {
    const other = rightValues.get(key);
    return { key, left: value, right: other, kind: kindOf(value, other) };
  });
  for (const { key, value } of right) {
    if (!leftKeys.has(key)) rows.push({ key, left: undefined, right: value, kind: 'right only' });
  }
  return rows;
}

// Returns the keys whose values differ between the jobs, in the order of the first job.
export function varyingKeys(jobs: readonly (readonly Setting[])[]): string[] {
  const keys = new Set(jobs.flatMap((settings) => settings.map(({ key }) => key)));
  const maps = jobs.map((settings) => new Map(settings.map(({ key, value }) => [key, value])));
  return [...keys].filter((key) => new Set(maps.map((map) => map.get(key))).size > 1);
}
