import { describe, expect, it } from 'vitest';
import type { Pieces } from './report';
import { piecesOf } from './token_pieces';

const sampleOf = (text: string) => ({ place: '', bytes: 0, text, tokenizers: [] });
const pieces = (ends: number[], normalized?: string): Pieces => ({
  tokenizer: 'x',
  tokens: ends.length,
  bytesPerToken: 1,
  normalized,
  ids: ends.map((_, index) => 10 + index),
  ends,
});

describe('the pieces of a tokenizer', () => {
  it('end at positions in bytes', () => {
    expect(piecesOf(sampleOf('aé b'), pieces([3, 5]))).toEqual([
      { text: 'aé', ids: [10] },
      { text: ' b', ids: [11] },
    ]);
  });

  it('contain all tokens of a character', () => {
    expect(piecesOf(sampleOf('😀!'), pieces([1, 3, 4, 5]))).toEqual([
      { text: '😀', ids: [10, 11, 12] },
      { text: '!', ids: [13] },
    ]);
  });

  it('are those of the normalized text', () => {
    expect(piecesOf(sampleOf('x'), pieces([2], 'yz'))).toEqual([{ text: 'yz', ids: [10] }]);
    expect(piecesOf(sampleOf('x'), pieces([]))).toEqual([]);
  });
});
