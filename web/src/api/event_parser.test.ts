import { describe, expect, it } from 'vitest';
import { EventParser } from './event_parser';

const TEXT =
  'retry: 1000\n\nevent: hello\nid: 7\ndata: {"a":1}\n\n: alive\n\n' +
  'event: jobs\nid: 8\ndata: one\ndata: two\n\n';
const EVENTS = [
  { kind: 'hello', data: '{"a":1}', id: '7' },
  { kind: 'jobs', data: 'one\ntwo', id: '8' },
];

describe('EventParser', () => {
  it('reads events, and neither comments nor the time to retry', () => {
    expect(new EventParser().push(TEXT)).toEqual(EVENTS);
  });

  it('gives the same events wherever the stream is cut', () => {
    for (let size = 1; size < TEXT.length; size++) {
      const parser = new EventParser();
      const events = [];
      for (let at = 0; at < TEXT.length; at += size) {
        events.push(...parser.push(TEXT.slice(at, at + size)));
      }
      expect(events, `pieces of ${size}`).toEqual(EVENTS);
    }
  });

  it('delivers nothing before the empty line', () => {
    const parser = new EventParser();
    expect(parser.push('event: jobs\ndata: x\n')).toEqual([]);
    expect(parser.push('\n')).toEqual([{ kind: 'jobs', data: 'x', id: '' }]);
  });
});
