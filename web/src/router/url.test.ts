import { describe, expect, it } from 'vitest';
import {
  AXES,
  changeQuery,
  formatQuery,
  jobPath,
  listIn,
  listText,
  nextOf,
  nodePath,
  ordinalIn,
  parseCurveView,
  parsePath,
  sharedQuery,
} from './url';

describe('parsePath', () => {
  it('reads every page and tab', () => {
    expect(parsePath('/')).toEqual({ page: 'overview' });
    expect(parsePath('/queue')).toEqual({ page: 'queue' });
    expect(parsePath('/nodes/a%2Fb')).toEqual({ page: 'node', node: 'a/b' });
    expect(parsePath('/planner')).toEqual({ page: 'planner' });
    expect(parsePath('/submit')).toEqual({ page: 'submit' });
    expect(parsePath('/usage')).toEqual({ page: 'usage' });
    expect(parsePath('/jobs/17')).toEqual({ page: 'job', job: '17', tab: 'curves' });
    expect(parsePath('/jobs/my%20run/logs')).toEqual({ page: 'job', job: 'my run', tab: 'logs' });
  });

  it('knows what is no page', () => {
    const paths = ['/nothing', '/jobs/1/nothing', '/jobs/1/logs/2', '/queue/1', '/nodes/a/b'];
    for (const path of paths) {
      expect(parsePath(path), path).toEqual({ page: 'unknown' });
    }
  });

  it('survives a broken escape', () => {
    expect(parsePath('/jobs/%E0%A4%A')).toMatchObject({ page: 'job' });
  });

  it('leads back from jobPath and nodePath', () => {
    expect(parsePath(jobPath('a/b', 'ranks'))).toEqual({ page: 'job', job: 'a/b', tab: 'ranks' });
    expect(parsePath(nodePath('a/b'))).toEqual({ page: 'node', node: 'a/b' });
  });
});

describe('parseCurveView', () => {
  const read = (text: string) => parseCurveView(new URLSearchParams(text));

  it('has defaults for an empty address', () => {
    expect(read('')).toEqual({
      axis: 'step',
      logY: false,
      fullY: false,
      smooth: 0,
      from: undefined,
      to: undefined,
      extra: [],
      attempt: undefined,
    });
  });

  it('reads what an address says', () => {
    expect(read('axis=tokens&y=log&smooth=0.9&from=10&to=20&keys=a,b&attempt=2')).toEqual({
      axis: 'tokens',
      logY: true,
      fullY: false,
      smooth: 0.9,
      from: 10,
      to: 20,
      extra: ['a', 'b'],
      attempt: 2,
    });
  });

  it('reads that the y axis contains every value', () => {
    expect(read('y=full')).toMatchObject({ logY: false, fullY: true });
  });

  it('takes nonsense for not given', () => {
    const view = read('axis=sideways&smooth=1.5&from=30&to=20&attempt=x');
    expect(view).toMatchObject({ axis: 'step', smooth: 0, from: undefined, attempt: undefined });
  });
});

it('reads only whole numbers from 1 as steps and attempts', () => {
  const read = (text: string) => ordinalIn(new URLSearchParams(text), 'step');
  expect(read('step=1')).toBe(1);
  expect(read('step=4000')).toBe(4000);
  for (const text of ['', 'step=', 'step=-1', 'step=0', 'step=1.5', 'step=1e300', 'step=x']) {
    expect(read(text)).toBeUndefined();
  }
  expect(parseCurveView(new URLSearchParams('attempt=1.5')).attempt).toBeUndefined();
});

describe('changeQuery', () => {
  it('gives one address to one view', () => {
    const a = changeQuery(new URLSearchParams('y=log'), { axis: 'time' });
    const b = changeQuery(new URLSearchParams('axis=time'), { y: 'log' });
    expect(formatQuery(a)).toBe(formatQuery(b));
  });

  it('removes what is empty and keeps commas readable', () => {
    const next = changeQuery(new URLSearchParams('a=1&b=2'), { a: undefined, b: '', c: 'x,y' });
    expect(formatQuery(next)).toBe('?c=x,y');
  });
});

it('carries the attempt, the axis and the zoom from one view of a job to the next', () => {
  const carried = (text: string) => sharedQuery(new URLSearchParams(text));
  expect(carried('attempt=2&axis=tokens&from=10&to=20&y=log&grep=x&rank=3')).toBe(
    '?attempt=2&axis=tokens&from=10&to=20&y=log',
  );
  // Here `from` is a parameter of the log view, not a zoom, so it must not be passed on.
  expect(carried('from=start&ranks=0')).toBe('');
  expect(carried('keys=a%252Cb,c')).toBe('?keys=a%252Cb,c');
});

it('keeps names with commas whole', () => {
  const names = ['loss', 'a,b', '100%', '%2C'];
  const address = formatQuery(changeQuery(new URLSearchParams(), { keys: listText(names) }));
  expect(listIn(new URLSearchParams(address), 'keys')).toEqual(names);
});

it('goes round', () => {
  expect(nextOf(AXES, 'time')).toBe('step');
  expect(nextOf([1, 2, 3], 99)).toBe(1);
});
