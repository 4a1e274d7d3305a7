import { describe, expect, it } from 'vitest';
import type { Job } from '../api/types';
import { documentsCommandLine, hasDocuments } from './step_documents';

const job = (spec: unknown) => ({ spec }) as Pick<Job, 'spec'>;
const data = { path: '/data/c4' };

describe('the documents of a step', () => {
  it('are known for jobs of the trainer', () => {
    expect(hasDocuments(job({ data }))).toBe(true);
    expect(hasDocuments(job({ data: { blend: ['1 /data/c4'] }, command: [] }))).toBe(true);
    expect(hasDocuments(job({ data, command: ['torchrun'] }))).toBe(false);
    expect(hasDocuments(job({ data, checkpoint: { resume_from: '/ckpt/step-9' } }))).toBe(false);
    expect(hasDocuments(job({ pipeline: '/p.yaml' }))).toBe(false);
    expect(hasDocuments(job(undefined))).toBe(false);
  });

  it('are shown by a command, for the attempt of the page', () => {
    expect(documentsCommandLine(17, 1200)).toBe('trainyard documents 17 --step 1200');
    expect(documentsCommandLine(17, 1200, 2)).toBe('trainyard documents 17@2 --step 1200');
  });
});
