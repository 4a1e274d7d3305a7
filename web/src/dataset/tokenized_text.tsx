// One text divided by several tokenizers, with a color for each token.
import { useState } from 'preact/hooks';
import { count } from '../format/numbers';
import { Choice } from '../ui/choice';
import { ExcerptText } from './dropped_texts';
import { Panel } from './figures';
import { lastName, type Pieces, type Report, type Sample } from './report';
import { piecesOf } from './token_pieces';

const COLORS = 4;

// The end of a path is enough to tell tokenizers apart.
const shortName = (source: string) => {
  const [name, folder] = source.split('/').filter(Boolean).reverse();
  return folder ? `${folder}/${name}` : lastName(source);
};

function ColoredText({ sample, pieces }: { sample: Sample; pieces: Pieces }) {
  const parts = piecesOf(sample, pieces);
  return (
    <figure>
      <figcaption>
        <b>{shortName(pieces.tokenizer)}</b>
        <span class="faint">
          {count(pieces.tokens)} tokens, {pieces.bytesPerToken.toFixed(2)} bytes per token
          {pieces.normalized !== undefined && ', after normalization of the text'}
        </span>
      </figcaption>
      {parts.length > 0 ? (
        <pre class="excerpt pieces" tabIndex={0}>
          {parts.map(({ text, ids }, index) => (
            <span key={index} class={`piece-${index % COLORS}`} title={ids.join(', ')}>
              {text}
            </span>
          ))}
        </pre>
      ) : (
        <ExcerptText excerpt={sample} />
      )}
    </figure>
  );
}

export function TokenizedText({ report: { samples } }: { report: Report }) {
  const [chosen, setChosen] = useState('0');
  const sample = samples[Number(chosen)] ?? samples[0];
  if (!sample || sample.tokenizers.length === 0) return null;
  return (
    <Panel title="Tokenizers" note={`the beginning of document ${sample.place}`}>
      <div class="data-words">
        {samples.length > 1 && (
          <Choice
            label="Document"
            value={chosen}
            choices={samples.map(({ place }, index) => [String(index), place] as const)}
            onChoose={setChosen}
          />
        )}
      </div>
      {sample.tokenizers.map((pieces) => (
        <ColoredText key={pieces.tokenizer} sample={sample} pieces={pieces} />
      ))}
    </Panel>
  );
}
