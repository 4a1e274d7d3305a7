// The documentation of the setting under the cursor, from the schema of job files.
import { useLoad } from '../ui/load';
import { Failure, Skeleton } from '../ui/notice';
import { withCode } from '../ui/code_text';
import { helpFor, type Help, type Schema } from './schema_help';

function Facts({ facts }: Pick<Help, 'facts'>) {
  if (facts.length === 0) return null;
  return (
    <dl class="help-facts">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{value}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Keys({ keys }: Pick<Help, 'keys'>) {
  if (keys.length === 0) return null;
  return (
    <dl class="help-keys">
      {keys.map(({ name, doc }) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>{withCode(doc)}</dd>
        </div>
      ))}
    </dl>
  );
}

function HelpText({ help }: { help: Help }) {
  const place = help.key === '' ? 'a job file' : `\`${help.key}\``;
  return (
    <>
      <h3>{help.key === '' ? 'Job file' : <code>{help.key}</code>}</h3>
      {help.unknown !== undefined && (
        <p class="tone-warn">{withCode(`\`${help.unknown}\` is not a setting of ${place}.`)}</p>
      )}
      <p>{withCode(help.doc)}</p>
      <Facts facts={help.facts} />
      <Keys keys={help.keys} />
    </>
  );
}

export function HelpPanel({ path }: { path: readonly string[] }) {
  const { data, error } = useLoad<Schema>('/job-schema.json', {}, 'schema');
  return (
    <section class="card help-panel" aria-label="Setting at the cursor" tabIndex={0}>
      {error && <Failure error={error} />}
      {!data && !error && <Skeleton rows={4} />}
      {data && <HelpText help={helpFor(data, path)} />}
    </section>
  );
}
