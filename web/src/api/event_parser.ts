// Parses a server-sent event stream that arrives in pieces. No side effects outside the parser.

export interface ServerEvent {
  kind: string;
  data: string;
  id: string;
}

export class EventParser {
  // Pieces of the unfinished last line. Joined only when the line's end arrives, because the first
  // message may have several megabytes.
  private pieces: string[] = [];
  private kind = '';
  private data: string[] = [];
  private id = '';

  // Returns the events that `text`, the next piece of the stream, completes.
  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = text.split('\n');
    const rest = lines.pop() ?? '';
    if (lines.length > 0) {
      lines[0] = this.pieces.join('') + lines[0];
      this.pieces = [];
    }
    this.pieces.push(rest);
    for (const line of lines) {
      const event = this.line(line);
      if (event) events.push(event);
    }
    return events;
  }

  private line(line: string): ServerEvent | undefined {
    if (line === '') return this.finish();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const from = line[colon + 1] === ' ' ? colon + 2 : colon + 1;
    const value = colon < 0 ? '' : line.slice(from);
    // All other fields are ignored: comments, which have an empty name, and `retry`, because the
    // page uses its own retry interval.
    if (name === 'event') this.kind = value;
    else if (name === 'data') this.data.push(value);
    else if (name === 'id') this.id = value;
    return undefined;
  }

  private finish(): ServerEvent | undefined {
    const { kind, data, id } = this;
    this.kind = '';
    this.data = [];
    return data.length > 0 ? { kind, data: data.join('\n'), id } : undefined;
  }
}
