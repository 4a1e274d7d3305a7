import { expect, it } from 'vitest';
import { parseCompareView } from './compare_view';

const view = (text: string) => parseCompareView(new URLSearchParams(text));

it('shows the loss of each run unless the URL says otherwise', () => {
  expect(view('')).toMatchObject({ metrics: ['loss'], means: false, plot: 'none', axis: 'step' });
  expect(view('plot=pie')).toMatchObject({ plot: 'none' });
});

it('reads metrics, groups and plots', () => {
  expect(view('key=loss,lr,loss,a%252Cb').metrics).toEqual(['loss', 'lr', 'a,b']);
  expect(view('key=a,b,c,d,e,f,g').metrics).toHaveLength(6);
  const grouped = view('by=optimizer.lr&draw=means&plot=scatter&px=train.seed&py=best:loss');
  expect(grouped).toMatchObject({ by: 'optimizer.lr', means: true, plot: 'scatter' });
  expect(grouped).toMatchObject({ x: 'train.seed', y: 'best:loss' });
});

it('draws no means without groups', () => {
  expect(view('draw=means').means).toBe(false);
});
