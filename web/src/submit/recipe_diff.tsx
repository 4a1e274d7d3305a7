// The lines of a job file that differ from the job file's original recipe.
import { plural } from '../format/numbers';
import { changedLines, diffLines, type DiffLine } from './job_text';

const MARKS: Record<DiffLine['kind'], string> = { same: ' ', removed: '−', added: '+' };
const WORDS: Record<DiffLine['kind'], string> = { same: '', removed: 'removed', added: 'added' };

export interface RecipeDiffProps {
  recipe: string;
  before: string;
  after: string;
}

export function RecipeDiff({ recipe, before, after }: RecipeDiffProps) {
  const changed = changedLines(diffLines(before, after));
  return (
    <section class="card recipe-diff" aria-label="Difference from the recipe">
      <h2>Difference from {recipe}</h2>
      {changed.length === 0 ? (
        <p class="faint">None.</p>
      ) : (
        <>
          <p class="faint">{plural(changed.length, 'line')}</p>
          <pre tabIndex={0}>
            {changed.map(({ kind, text }, index) => (
              <span key={index} class={`diff-line ${kind}`}>
                <span class="hidden">{WORDS[kind]}: </span>
                <span aria-hidden="true">{MARKS[kind]} </span>
                {text}
                {'\n'}
              </span>
            ))}
          </pre>
        </>
      )}
    </section>
  );
}
