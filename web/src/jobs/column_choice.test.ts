import { describe, expect, it } from 'vitest';
import { COLUMNS, USUAL, columnsIn, columnsText, withColumn } from './column_choice';

const read = (text: string) => columnsIn(new URLSearchParams(text));
const ALL = COLUMNS.map(([name]) => name);

describe('the chosen columns', () => {
  it('are the usual ones without a choice, and if no name is known', () => {
    expect(read('')).toEqual(USUAL);
    expect(read('columns=')).toEqual(USUAL);
    expect(read('columns=color,size')).toEqual(USUAL);
  });

  it('are in the order of the table, whatever the order in the URL', () => {
    expect(read('columns=restarts,loss,nonsense')).toEqual(['loss', 'restarts']);
  });

  it('can be none', () => {
    expect(read('columns=none')).toEqual([]);
    expect(columnsText([])).toBe('none');
  });

  it('are written as they are read, and not at all if they are the usual ones', () => {
    expect(columnsText(USUAL)).toBeUndefined();
    expect(read(`columns=${columnsText(ALL)}`)).toEqual(ALL);
    for (const chosen of [[], ['loss'], ['eta', 'step']] as const) {
      expect(read(`columns=${columnsText(chosen)}`)).toEqual([...chosen].reverse());
    }
  });

  it('change by one column', () => {
    expect(withColumn(['loss', 'eta'], 'loss', false)).toEqual(['eta']);
    expect(withColumn(['eta'], 'loss', true)).toEqual(['loss', 'eta']);
    expect(withColumn(['eta'], 'eta', true)).toEqual(['eta']);
  });
});
