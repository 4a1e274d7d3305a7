// The largest clusters of duplicates, with the differences between duplicates and kept documents.
import { useMemo } from 'preact/hooks';
import { count, plural } from '../format/numbers';
import { Panel } from './figures';
import type { ClusterText, Excerpt, Member, Report } from './report';
import { textDifference } from './text_difference';

const WORD = {
  same: undefined,
  removed: 'only in the kept document',
  added: 'only in the duplicate',
};

function Difference({ kept, member }: { kept: Excerpt; member: Member }) {
  const parts = useMemo(() => textDifference(kept.text, member.text), [kept.text, member.text]);
  const isEqual = parts.every(({ kind }) => kind === 'same');
  return (
    <figure>
      <figcaption>
        <code>{member.place}</code>
        <span class="faint">similarity {member.similarity.toFixed(2)}</span>
        {isEqual && <span class="faint">no difference in the part shown</span>}
      </figcaption>
      <pre class="excerpt" tabIndex={0}>
        {parts.map(({ kind, text }, index) => {
          if (kind === 'same') return text;
          const Tag = kind === 'removed' ? 'del' : 'ins';
          return (
            <Tag key={index} title={WORD[kind]}>
              {text}
            </Tag>
          );
        })}
      </pre>
    </figure>
  );
}

function Cluster({
  of,
  documents,
  lowest,
}: {
  of: ClusterText;
  documents: number;
  lowest: number;
}) {
  return (
    <details class="data-details">
      <summary>
        {plural(documents, 'document')} like <code>{of.kept.place}</code>, lowest similarity{' '}
        {lowest.toFixed(2)}
      </summary>
      {of.members.map((member) => (
        <Difference key={member.place} kept={of.kept} member={member} />
      ))}
    </details>
  );
}

export function Clusters({ report: { steps } }: { report: Report }) {
  const found = steps.flatMap(({ directory, run, clusterTexts }) =>
    clusterTexts.map((of) => ({ key: `${directory} ${of.cluster}`, of, run })),
  );
  if (found.length === 0) return null;
  const all = steps.reduce((sum, { run }) => sum + (run?.clusters ?? 0), 0);
  return (
    <Panel title="Duplicates" note={`the largest of ${count(all)} clusters`}>
      <p class="data-words">
        <del>Words</del> occur only in the kept document, <ins>words</ins> only in the duplicate.
      </p>
      {found.map(({ key, of, run }) => {
        const { documents = of.members.length + 1, lowest = 0 } = run?.largest[of.cluster] ?? {};
        return <Cluster key={key} of={of} documents={documents} lowest={lowest} />;
      })}
    </Panel>
  );
}
