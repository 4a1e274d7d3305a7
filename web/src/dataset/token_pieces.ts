// Divides a text into the pieces of a tokenizer. Pure functions.
import type { Pieces, Sample } from './report';

export interface Piece {
  text: string;
  // Several tokens if some of them are parts of a character.
  ids: number[];
}

const isInsideCharacter = (byte: number | undefined) =>
  byte !== undefined && (byte & 0xc0) === 0x80;

// Returns the pieces in order. Joined, they are the text. Empty if the ends are unknown.
export function piecesOf(sample: Sample, { normalized, ids, ends }: Pieces): Piece[] {
  const bytes = new TextEncoder().encode(normalized ?? sample.text);
  const decoder = new TextDecoder();
  const pieces: Piece[] = [];
  let begin = 0;
  let open: number[] = [];
  ends.forEach((end, index) => {
    const id = ids[index];
    if (id !== undefined) open.push(id);
    if (isInsideCharacter(bytes[end])) return;
    pieces.push({ text: decoder.decode(bytes.subarray(begin, end)), ids: open });
    begin = end;
    open = [];
  });
  return pieces;
}
