import { describe, expect, it } from 'vitest';
import { helpFor, type Schema } from './schema_help';

const SCHEMA: Schema = {
  type: 'object',
  description: 'A job file: one training run.',
  properties: {
    name: { type: 'string', description: 'Name of the job.' },
    env: { type: 'object', description: 'Environment.', additionalProperties: {} },
    layout: {
      anyOf: [
        { type: 'object', description: 'The layout.', properties: { tp: { type: ['number'] } } },
        {},
      ],
    },
    train: {
      type: 'object',
      description: 'The run.',
      properties: {
        global_batch: {
          type: ['number', 'string'],
          description: 'Samples per step.',
          minimum: 1,
          default: '64',
          examples: ['512'],
        },
        precision: { enum: ['bf16', 'fp32'], description: 'Number format.' },
      },
    },
  },
};

describe('helpFor', () => {
  it('describes a setting', () => {
    expect(helpFor(SCHEMA, ['train', 'global_batch'])).toEqual({
      key: 'train.global_batch',
      doc: 'Samples per step.',
      facts: [
        { name: 'Type', value: 'number, also as text such as 20B or 1e6' },
        { name: 'Default', value: '64' },
        { name: 'At least', value: '1' },
        { name: 'Example', value: '512' },
      ],
      keys: [],
      unknown: undefined,
    });
    const { facts } = helpFor(SCHEMA, ['train', 'precision']);
    expect(facts).toEqual([{ name: 'Type', value: 'one of bf16, fp32' }]);
  });

  it('lists the settings of a section, also of one that may be a word', () => {
    expect(helpFor(SCHEMA, ['train']).keys.map(({ name }) => name)).toEqual([
      'global_batch',
      'precision',
    ]);
    expect(helpFor(SCHEMA, ['layout'])).toMatchObject({ doc: 'The layout.', unknown: undefined });
    expect(helpFor(SCHEMA, []).keys.map(({ name }) => name)).toContain('layout');
  });

  it('names an unknown word, with the keys that begin like it first', () => {
    const help = helpFor(SCHEMA, ['train', 'prec']);
    expect(help).toMatchObject({ key: 'train', unknown: 'prec' });
    expect(help.keys[0]?.name).toBe('precision');
  });

  it('accepts any name in a mapping of names, and ignores text below a setting', () => {
    const known = (path: string[]) => ({ key: path[0], unknown: undefined });
    for (const path of [['env', 'NCCL_DEBUG'], ['name', 'x']]) {
      expect(helpFor(SCHEMA, path)).toMatchObject(known(path));
    }
  });
});
