// The software that an attempt of a job reported, as rows of a table.
import type { EnvironmentRecord } from '../api/types';
import type { NamedValue } from './named_values';

// Returns no rows if nothing was reported.
export function softwareRows(record: Partial<EnvironmentRecord> | undefined): NamedValue[] {
  if (!record?.attempt) return [];
  const omitted = record.packages_omitted ?? 0;
  const more = omitted > 0 ? ` and ${omitted} more` : '';
  return [
    { name: 'Interpreter', value: record.interpreter },
    { name: 'Python', value: record.interpreter_version },
    { name: 'Driver', value: record.driver },
    { name: 'CUDA', value: record.cuda },
    { name: 'NCCL', value: record.nccl },
    { name: 'Image', value: record.image },
    { name: 'Digest', value: record.image_digest },
    { name: 'Problem', value: record.problem },
    { name: 'Packages', value: `${(record.packages ?? []).join(' ')}${more}` },
  ].filter(({ value }) => value);
}
