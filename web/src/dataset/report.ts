// Reads the report of a data set (data/report/README.md). Pure functions. A program of another
// release may have written the report, so that missing fields and other types become defaults.

type Fields = Record<string, unknown>;

export interface Input {
  directory: string;
  use: string;
  // True if an earlier step of the report wrote the directory.
  derived: boolean;
  files: number;
  documentsIn: number | undefined;
  documentsOut: number | undefined;
  bytesIn: number;
  bytesOut: number;
}

export interface Drop {
  reason: string;
  documents: number;
  bytes: number;
}

export interface LengthRange {
  from: number;
  below: number;
  documents: number;
}

export interface SlowBlock {
  file: string;
  begin: number;
  bytes: number;
  seconds: number;
}

export interface Cluster {
  documents: number;
  lowest: number;
}

export interface Run {
  documentsIn: number;
  documentsOut: number;
  bytesIn: number;
  bytesOut: number;
  dropped: Drop[];
  otherDropped: number;
  lengths: LengthRange[];
  slowest: SlowBlock[];
  clusters: number;
  largest: Cluster[];
}

export interface Split {
  name: string;
  documents: number;
  tokens: number;
  bytesPerToken: number | undefined;
}

export interface Source {
  directory: string;
  documents: number;
  bytes: number;
  tokens: number;
}

export interface Tokens {
  tokenizer: string;
  fingerprint: string;
  splits: Split[];
  sources: Source[];
}

// The beginning of a document. `bytes`: length of the whole document.
export interface Excerpt {
  place: string;
  bytes: number;
  text: string;
}

export interface DroppedText extends Excerpt {
  reason: string;
  // The rule and the value that was compared, as JSON.
  verdict: string;
}

export interface Member extends Excerpt {
  similarity: number;
}

export interface ClusterText {
  // Index in Run.largest.
  cluster: number;
  kept: Excerpt;
  members: Member[];
}

export interface Step {
  directory: string;
  // The last part of the directory, which differs between the steps of a pipeline.
  name: string;
  kind: string;
  plan: string;
  complete: boolean;
  blocks: number;
  seconds: number;
  settings: [string, string][];
  inputs: Input[];
  badLines: number;
  run: Run | undefined;
  tokens: Tokens | undefined;
  dropped: DroppedText[];
  clusterTexts: ClusterText[];
  problems: string[];
}

export interface Pieces {
  tokenizer: string;
  tokens: number;
  bytesPerToken: number;
  // The text that the tokens encode, if it differs from the document.
  normalized: string | undefined;
  ids: number[];
  // Ends of the tokens in the text, in bytes of UTF-8.
  ends: number[];
}

export interface Sample extends Excerpt {
  tokenizers: Pieces[];
}

export interface Report {
  directory: string;
  omitsSteps: boolean;
  steps: Step[];
  samples: Sample[];
}

const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const known = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
const number = (value: unknown): number => known(value) ?? 0;

export const lastName = (path: string): string => path.split('/').findLast(Boolean) ?? path;

function readInput(value: unknown): Input {
  const of = fields(value);
  return {
    directory: text(of['directory']),
    use: text(of['use']),
    derived: typeof of['step'] === 'number',
    files: number(of['files']),
    documentsIn: known(of['documents_in']),
    documentsOut: known(of['documents_out']),
    bytesIn: number(of['bytes_in']),
    bytesOut: number(of['bytes_out']),
  };
}

function readRun(value: unknown): Run | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  const of = fields(value);
  const details = fields(of['details']);
  return {
    documentsIn: number(of['documents_in']),
    documentsOut: number(of['documents_out']),
    bytesIn: number(of['bytes_in']),
    bytesOut: number(of['bytes_out']),
    dropped: list(of['dropped'])
      .map(fields)
      .map((drop) => ({
        reason: text(drop['reason']),
        documents: number(drop['documents']),
        bytes: number(drop['bytes']),
      })),
    otherDropped: number(fields(of['other_dropped'])['documents']),
    lengths: list(of['lengths'])
      .map(fields)
      .map((range) => ({
        from: number(range['from']),
        below: number(range['below']),
        documents: number(range['documents']),
      })),
    slowest: list(of['slowest_blocks'])
      .map(fields)
      .map((block) => ({
        file: text(block['file']),
        begin: number(block['begin']),
        bytes: number(block['bytes_on_disk']),
        seconds: number(block['seconds']),
      })),
    clusters: number(details['clusters']),
    largest: list(details['largest'])
      .map(fields)
      .map((cluster) => ({
        documents: number(cluster['documents']),
        lowest: number(cluster['lowest_similarity']),
      })),
  };
}

function readTokens(value: unknown): Tokens | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  const of = fields(value);
  const tokenizer = fields(of['tokenizer']);
  return {
    tokenizer: text(tokenizer['name']),
    fingerprint: text(tokenizer['fingerprint']),
    splits: list(of['splits'])
      .map(fields)
      .map((split) => ({
        name: text(split['name']),
        documents: number(split['documents']),
        tokens: number(split['tokens']),
        bytesPerToken: known(split['bytes_per_token']),
      })),
    sources: list(of['sources'])
      .map(fields)
      .map((source) => ({
        directory: text(source['directory']),
        documents: number(source['documents']),
        bytes: number(source['bytes']),
        tokens: number(source['tokens']),
      })),
  };
}

function readExcerpt(value: unknown): Excerpt {
  const of = fields(value);
  return { place: text(of['place']), bytes: number(of['bytes']), text: text(of['text']) };
}

function readDropped(value: unknown): DroppedText {
  const of = fields(value);
  const verdict = of['verdict'];
  return {
    ...readExcerpt(value),
    reason: text(of['reason']),
    verdict: verdict === undefined || verdict === null ? '' : JSON.stringify(verdict),
  };
}

function readCluster(value: unknown): ClusterText {
  const of = fields(value);
  return {
    cluster: number(of['cluster']),
    kept: readExcerpt(of['kept']),
    members: list(of['members']).map((member) => ({
      ...readExcerpt(member),
      similarity: number(fields(member)['similarity']),
    })),
  };
}

function readStep(value: unknown): Step {
  const of = fields(value);
  const texts = fields(of['texts']);
  const directory = text(of['directory']);
  return {
    directory,
    name: lastName(directory),
    kind: text(of['name']),
    plan: text(of['plan']),
    complete: of['complete'] !== false,
    blocks: number(of['blocks']),
    seconds: number(of['seconds']),
    settings: Object.entries(fields(of['settings'])).map(([key, setting]) => [
      key,
      typeof setting === 'string' ? setting : JSON.stringify(setting),
    ]),
    inputs: list(of['inputs']).map(readInput),
    badLines: number(of['bad_lines']),
    run: readRun(of['run']),
    tokens: readTokens(of['tokens']),
    dropped: list(texts['dropped']).map(readDropped),
    clusterTexts: list(texts['clusters']).map(readCluster),
    problems: list(of['problems']).map(text),
  };
}

function readSample(value: unknown): Sample {
  return {
    ...readExcerpt(value),
    tokenizers: list(fields(value)['tokenizers'])
      .map(fields)
      .map((pieces) => ({
        tokenizer: text(pieces['tokenizer']),
        tokens: number(pieces['tokens']),
        bytesPerToken: number(pieces['bytes_per_token']),
        normalized:
          typeof pieces['normalized_text'] === 'string' ? pieces['normalized_text'] : undefined,
        ids: list(pieces['ids']).map(number),
        ends: list(pieces['ends']).map(number),
      })),
  };
}

// Returns undefined if the text is not a report of version 1.
export function readReport(json: string): Report | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  const of = fields(value);
  if (of['format'] !== 'trainyard-data-report' || of['version'] !== 1) return undefined;
  return {
    directory: text(of['directory']),
    omitsSteps: of['omits_steps'] === true,
    steps: list(of['steps']).map(readStep),
    samples: list(of['tokenized']).map(readSample),
  };
}
