// The search of a log: its parameters, and the parts of a line that it marks. Pure functions.
import type { LogLevel } from '../api/types';

export interface LogSearch {
  grep: string;
  matchCase: boolean;
  regex: boolean;
  // Only lines of this level or a worse level.
  level: Exclude<LogLevel, 'unspecified'> | undefined;
}

export const searches = ({ grep, level }: LogSearch): boolean => grep !== '' || level !== undefined;

export const levelOf = (text: string | null): LogSearch['level'] =>
  text === 'error' || text === 'warning' ? text : undefined;

// Returns the parameters of the controller's search.
export function searchQuery({ grep, matchCase, regex, level }: LogSearch) {
  if (grep === '') return { level };
  return { grep, level, ignore_case: matchCase ? undefined : true, regex: regex || undefined };
}

// A part of a line, and whether it matches.
export type Part = [string, boolean];

const SPECIAL = /[.*+?^${}()|[\]\\]/g;
// In a browser, unlike in the controller, a repeated group can take exponential time. Such a search
// marks nothing.
const REPEATED_GROUP = /\)[*+?{]/;
// Other expressions can take cubic time, so longer lines are not marked.
const REGEX_CHARS = 500;

function patternOf({ grep, matchCase, regex }: LogSearch): RegExp | undefined {
  if (grep === '' || (regex && REPEATED_GROUP.test(grep))) return undefined;
  try {
    return new RegExp(regex ? grep : grep.replace(SPECIAL, '\\$&'), matchCase ? 'g' : 'gi');
  } catch {
    // The expression is valid for the controller, whose syntax is slightly different.
    return undefined;
  }
}

function split(text: string, pattern: RegExp): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    if (match[0] === '') continue;
    if (match.index > from) parts.push([text.slice(from, match.index), false]);
    parts.push([match[0], true]);
    from = match.index + match[0].length;
  }
  if (from < text.length || parts.length === 0) parts.push([text.slice(from), false]);
  return parts;
}

// Returns a function that splits a line, in order, into parts that match the search and other
// parts.
export function markerOf(search: LogSearch): (text: string) => Part[] {
  const pattern = patternOf(search);
  return (text) => {
    const marks = pattern && !(search.regex && text.length > REGEX_CHARS);
    return marks ? split(text, pattern) : [[text, false]];
  };
}
