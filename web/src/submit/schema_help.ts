// Finds the documentation of a setting in the JSON Schema of job files. Pure functions.

// The part of JSON Schema that the controller uses.
export interface Schema {
  type?: string | string[];
  description?: string;
  default?: string;
  examples?: readonly string[];
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  pattern?: string;
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean | Schema;
  anyOf?: readonly Schema[];
}

export interface Fact {
  name: string;
  value: string;
}

export interface KeyDoc {
  name: string;
  doc: string;
}

export interface Help {
  // The documented key, such as "train.global_batch"; empty for the whole file.
  key: string;
  doc: string;
  facts: Fact[];
  // The settings of a section.
  keys: KeyDoc[];
  // The unknown word after `key`; undefined if the whole path is known.
  unknown: string | undefined;
}

// A section may also be written as one word, such as `layout: auto`.
const sectionOf = (schema: Schema): Schema =>
  schema.anyOf?.find(({ properties }) => properties !== undefined) ?? schema;

function typeText({ type, enum: values }: Schema): string {
  if (values) return `one of ${values.join(', ')}`;
  const types = Array.isArray(type) ? type : [type ?? 'text'];
  if (types.includes('number')) return 'number, also as text such as 20B or 1e6';
  if (types.includes('array')) return 'list';
  const words: Record<string, string> = {
    boolean: 'true or false',
    object: 'mapping of names to values',
    string: 'text',
  };
  return words[types[0] as string] ?? 'text';
}

function factsOf(schema: Schema): Fact[] {
  if (schema.properties) return [];
  const facts: (Fact | undefined)[] = [
    { name: 'Type', value: typeText(schema) },
    schema.default === undefined ? undefined : { name: 'Default', value: schema.default },
    schema.minimum === undefined ? undefined : { name: 'At least', value: String(schema.minimum) },
    schema.maximum === undefined ? undefined : { name: 'At most', value: String(schema.maximum) },
    schema.examples?.[0] === undefined
      ? undefined
      : { name: 'Example', value: schema.examples.join(', ') },
  ];
  return facts.filter((fact) => fact !== undefined);
}

const keysOf = ({ properties }: Schema): KeyDoc[] =>
  Object.entries(properties ?? {}).map(([name, schema]) => ({
    name,
    doc: sectionOf(schema).description ?? '',
  }));

// Returns the documentation of the deepest known setting on the path. If a word is unknown, the
// keys in its section that begin with the word come first.
export function helpFor(root: Schema, path: readonly string[]): Help {
  let schema = sectionOf(root);
  const known: string[] = [];
  for (const word of path) {
    const next = schema.properties?.[word];
    if (!next) break;
    schema = sectionOf(next);
    known.push(word);
  }
  // A mapping such as `env` accepts any name.
  const isFree = schema.properties === undefined;
  const unknown = isFree ? undefined : path[known.length];
  const begins = ({ name }: KeyDoc) => unknown !== undefined && name.startsWith(unknown);
  const keys = keysOf(schema);
  return {
    key: known.join('.'),
    doc: schema.description ?? '',
    facts: factsOf(schema),
    keys: [...keys.filter(begins), ...keys.filter((key) => !begins(key))],
    unknown,
  };
}
