import { describe, expect, it } from 'vitest';
import { diffSettings, flattenSpec, varyingKeys } from './flatten_spec';

describe('settings', () => {
  const spec = { extends: [], command: ['sh', '-c'], train: { seq_length: 128, seed: 7 } } as never;
  const origins = [
    { key: 'train', source: 'recipe tiny' },
    { key: 'train.seed', source: '--set' },
  ];

  it('flattens with the nearest origin', () => {
    expect(flattenSpec(spec, origins)).toEqual([
      { key: 'command', value: '[sh, -c]', origin: 'default' },
      { key: 'train.seq_length', value: '128', origin: 'recipe tiny' },
      { key: 'train.seed', value: '7', origin: '--set' },
    ]);
  });

  it('tells changed from missing', () => {
    const at = (key: string, value: string) => ({ key, value, origin: '' });
    const rows = diffSettings(
      [at('a', '1'), at('b', '2'), at('c', '3')],
      [at('a', '1'), at('b', '9'), at('d', '4')],
    );
    expect(rows.map(({ key, kind }) => [key, kind])).toEqual([
      ['a', 'same'],
      ['b', 'changed'],
      ['c', 'left only'],
      ['d', 'right only'],
    ]);
    expect(
      varyingKeys([
        [at('a', '1'), at('b', '2')],
        [at('a', '1'), at('b', '3')],
      ]),
    ).toEqual(['b']);
  });
});
