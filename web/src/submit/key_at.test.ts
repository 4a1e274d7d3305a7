import { describe, expect, it } from 'vitest';
import { keyAt } from './key_at';

// The offset is at the mark.
function at(marked: string): string {
  const offset = marked.indexOf('|');
  return keyAt(marked.replace('|', ''), offset).join('.');
}

describe('keyAt', () => {
  it.each([
    ['na|me: x\n', 'name'],
    ['name: x|\n', 'name'],
    ['name|: x', 'name'],
    ['train:\n  steps: 1|0\n', 'train.steps'],
    ['train:\n  steps: 10\n  |seq_length: 3', 'train.seq_length'],
    ['train:\n  steps: 10\nname|: a', 'name'],
    ['a:\n  b:\n    c: 1\n  d: |2', 'a.d'],
    ['"na|me": x', 'name'],
  ])('follows indentation: %j', (text, key) => expect(at(text)).toBe(key));

  it.each([
    ['train: {steps: 10, seq_len|gth: 3}', 'train.seq_length'],
    ['train: {st|eps: 10, seq_length: 3}', 'train.steps'],
    ['train: {steps: 10, seq_length: 3|}', 'train.seq_length'],
    ['train: {steps: 10,| seq_length: 3}', 'train'],
    ['tr|ain: {steps: 10}', 'train'],
    ['train: {steps: 10}\nname: |x', 'name'],
    ['model:\n  {num_layers: 2,\n   hidden_size: 2|56}\n', 'model.hidden_size'],
    ['data: {blend: [0.65 /data/web, 0.|35 /data/books], seed: 1}', 'data.blend'],
    ['a: {b: {c: 1}, d: |2}', 'a.d'],
    ['data: {path: s3://bucket/a|b, seed: 1}', 'data.path'],
  ])('follows braces: %j', (text, key) => expect(at(text)).toBe(key));

  it.each([
    ['# name: {\nseed: |1', 'seed'],
    ['name: x # train: {steps\nseed: |1', 'seed'],
    ['name: "a: {b"\nseed: |1', 'seed'],
    ["a: {b: 'x, c: 1', d: |2}", 'a.d'],
    ['path: a#b\nseed: |1', 'seed'],
    ["a: {b: it's, c: |1}", 'a.c'],
  ])('skips comments and quotes: %j', (text, key) => expect(at(text)).toBe(key));

  it.each([
    ['train:\n  ste|', 'train.ste'],
    ['train: {steps: 1, glob|', 'train.glob'],
    ['train: {|', 'train'],
    ['tra|', 'tra'],
    ['|', ''],
    ['train:\n  steps: 1\n  |', 'train'],
    ['train:\n  steps: 1\n|', ''],
    ['train:\n\n  steps: |1', 'train.steps'],
    ['command:\n  - python\n  - train|.py', 'command'],
  ])('reads unfinished text: %j', (text, key) => expect(at(text)).toBe(key));
});
