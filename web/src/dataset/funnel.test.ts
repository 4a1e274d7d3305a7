import { describe, expect, it } from 'vitest';
import { droppedReasons, funnelRows, lengthsOf, sourceRows } from './funnel';
import { readReport, type Report } from './report';

const step = (directory: string, more: object) => ({ directory, name: 'x', ...more });

function reportOf(...steps: object[]): Report {
  return readReport(JSON.stringify({ format: 'trainyard-data-report', version: 1, steps }))!;
}

const FILTER = step('/out/filter', {
  inputs: [
    { directory: '/in/web', use: 'train', step: null, documents_in: 80, bytes_in: 800 },
    { directory: '/in/code', use: 'train', step: null, documents_in: 20, bytes_in: 100 },
    { directory: '/val', use: 'against', step: null, documents_in: 5, bytes_in: 50 },
  ],
  run: {
    documents_in: 100,
    documents_out: 60,
    bytes_in: 900,
    bytes_out: 700,
    dropped: Array.from({ length: 14 }, (_, i) => ({ reason: `r${i}`, documents: 3, bytes: 5 })),
    other_dropped: { documents: 1 },
    lengths: [
      { from: 4, below: 8, documents: 10 },
      { from: 32, below: 64, documents: 50 },
    ],
  },
});
const TOKENS = step('/out/tokenize', {
  inputs: [{ directory: '/out/filter', use: 'train', step: 0, documents_in: 60, bytes_in: 700 }],
  tokens: {
    splits: [
      { name: 'train', documents: 55, tokens: 200 },
      { name: 'val', documents: 5, tokens: 20 },
    ],
    sources: [
      { directory: '/in/code', documents: 12, bytes: 60, tokens: 55 },
      { directory: '/in/web', documents: 48, bytes: 640, tokens: 165 },
    ],
  },
});

describe('the funnel', () => {
  it('has the documents after each step and the reasons of drops', () => {
    const rows = funnelRows(reportOf(FILTER, TOKENS));
    expect(rows[0]).toMatchObject({ name: 'Input', documents: 100, bytes: 900, share: 1 });
    expect(rows[1]).toMatchObject({ name: 'r0', kind: 'drop', documents: 3, share: 0.03 });
    expect(rows[13]).toMatchObject({ name: 'other reasons', documents: 2 * 3 + 1 });
    expect(rows[14]).toMatchObject({ name: 'filter', kind: 'step', documents: 60, share: 0.6 });
    expect(rows.slice(15).map(({ name, share }) => [name, share])).toEqual([
      ['tokenize: train', 0.55],
      ['tokenize: val', 0.05],
    ]);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
  });

  it('begins with the token files if there is no earlier step', () => {
    const rows = funnelRows(reportOf(TOKENS));
    expect(rows.map(({ share }) => share)).toEqual([55 / 60, 5 / 60]);
    expect(funnelRows(reportOf())).toEqual([]);
  });
});

describe('the sources', () => {
  it('have their input, their tokens and their share', () => {
    const [web, code, ...more] = sourceRows(reportOf(FILTER, TOKENS));
    expect(web).toMatchObject({ directory: '/in/web', documentsIn: 80, bytesIn: 800, share: 0.75 });
    expect(code).toMatchObject({ directory: '/in/code', share: 0.25 });
    expect(code?.tokenized).toMatchObject({ documents: 12, tokens: 55 });
    expect(more).toEqual([]);
  });

  it('have no tokens before the last step', () => {
    const [web] = sourceRows(reportOf(FILTER));
    expect(web).toMatchObject({ tokenized: undefined, share: undefined });
  });
});

describe('the lengths', () => {
  it('have no gaps', () => {
    const lengths = lengthsOf(reportOf(FILTER, TOKENS));
    expect(lengths?.step).toBe('filter');
    expect(lengths?.ranges.map(({ from, documents }) => [from, documents])).toEqual([
      [4, 10],
      [8, 0],
      [16, 0],
      [32, 50],
    ]);
    expect(lengthsOf(reportOf(TOKENS))).toBeUndefined();
  });

  it('end, although a report has a range of length 0', () => {
    const odd = {
      run: {
        lengths: [
          { from: 0, below: 0 },
          { from: 4, below: 8 },
        ],
      },
    };
    expect(lengthsOf(reportOf(step('/a', odd)))?.ranges.length).toBeLessThan(10);
  });
});

describe('the texts of dropped documents', () => {
  it('are in groups of a step and a reason', () => {
    const texts = (...reasons: string[]) => ({
      texts: { dropped: reasons.map((reason, place) => ({ reason, place: `${place}` })) },
    });
    const report = reportOf(step('/a', texts('x', 'y', 'x')), step('/b', texts('x')));
    const groups = droppedReasons(report).map((group) => [
      group.step,
      group.reason,
      group.texts.map(({ place }) => place).join(),
    ]);
    expect(groups).toEqual([
      ['a', 'x', '0,2'],
      ['a', 'y', '1'],
      ['b', 'x', '0'],
    ]);
  });
});
