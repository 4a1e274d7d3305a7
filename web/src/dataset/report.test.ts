import { describe, expect, it } from 'vitest';
import { lastName, readReport } from './report';

const report = (steps: unknown, more: object = {}) =>
  JSON.stringify({ format: 'trainyard-data-report', version: 1, steps, ...more });

describe('a report of a data set', () => {
  it('has steps, texts and samples', () => {
    const read = readReport(
      report(
        [
          {
            directory: '/data/out/filter',
            name: 'filter',
            complete: false,
            settings: { rules: 'gopher', limit: 5 },
            inputs: [{ directory: '/in', use: 'train', step: null, documents_in: 7 }],
            run: {
              documents_in: 7,
              dropped: [{ reason: 'words', documents: 2, bytes: 9 }],
              other_dropped: { documents: 3 },
              details: { clusters: 4, largest: [{ documents: 5, lowest_similarity: 0.5 }] },
            },
            tokens: null,
            texts: {
              dropped: [
                { reason: 'words', place: 'a:1', bytes: 3, text: 'abc', verdict: { v: 1 } },
              ],
              clusters: [{ cluster: 0, kept: { text: 'x' }, members: [{ similarity: 0.9 }] }],
            },
            problems: ['changed'],
          },
        ],
        { directory: '/data/out/filter', tokenized: [{ text: 'x', tokenizers: [{ ends: [1] }] }] },
      ),
    );
    const step = read?.steps[0];
    expect(step?.name).toBe('filter');
    expect(step?.complete).toBe(false);
    expect(step?.settings).toEqual([
      ['rules', 'gopher'],
      ['limit', '5'],
    ]);
    expect(step?.inputs[0]).toMatchObject({ derived: false, documentsIn: 7 });
    expect(step?.run).toMatchObject({ documentsIn: 7, otherDropped: 3, clusters: 4 });
    expect(step?.run?.largest).toEqual([{ documents: 5, lowest: 0.5 }]);
    expect(step?.tokens).toBeUndefined();
    expect(step?.dropped[0]).toMatchObject({ reason: 'words', verdict: '{"v":1}', text: 'abc' });
    expect(step?.clusterTexts[0]?.members[0]?.similarity).toBe(0.9);
    expect(read?.samples[0]?.tokenizers[0]?.ends).toEqual([1]);
  });

  it('may have other types where another release wrote it', () => {
    const read = readReport(report([null, { run: 7, tokens: {}, inputs: 'x', problems: [1] }]));
    expect(read?.steps).toHaveLength(2);
    expect(read?.steps[1]?.run).toBeUndefined();
    expect(read?.steps[1]?.tokens?.splits).toEqual([]);
    expect(read?.steps[1]?.problems).toEqual(['']);
    expect(readReport(report('none'))?.steps).toEqual([]);
  });

  it('is refused in another format or version', () => {
    expect(readReport('{')).toBeUndefined();
    expect(readReport('7')).toBeUndefined();
    expect(
      readReport(JSON.stringify({ format: 'trainyard-data-report', version: 2 })),
    ).toBeUndefined();
  });

  it('names a step by the end of its path', () => {
    expect(lastName('/data/out/filter/')).toBe('filter');
    expect(lastName('/')).toBe('/');
  });
});
