// The beginnings of dropped documents, by step and reason.
import { bytes } from '../format/numbers';
import { Panel } from './figures';
import { droppedReasons, type DroppedReason } from './funnel';
import type { Excerpt, Report } from './report';

export function ExcerptText({ excerpt: { text, bytes: length } }: { excerpt: Excerpt }) {
  const isCut = new TextEncoder().encode(text).length < length;
  return (
    <pre class="excerpt" tabIndex={0}>
      {text}
      {isCut && <span class="faint"> … {bytes(length)} in all</span>}
    </pre>
  );
}

function Reason({ step, reason, texts }: DroppedReason) {
  return (
    <details class="data-details">
      <summary>
        {step}: <b>{reason}</b>
      </summary>
      {texts.map((dropped) => (
        <figure key={dropped.place}>
          <figcaption>
            <code>{dropped.place}</code>
            {dropped.verdict && <code class="faint">{dropped.verdict}</code>}
          </figcaption>
          <ExcerptText excerpt={dropped} />
        </figure>
      ))}
    </details>
  );
}

export function DroppedTexts({ report }: { report: Report }) {
  const reasons = droppedReasons(report);
  if (reasons.length === 0) return null;
  return (
    <Panel title="Dropped documents" note="the first ones of each reason">
      {reasons.map((reason) => (
        <Reason key={`${reason.directory} ${reason.reason}`} {...reason} />
      ))}
    </Panel>
  );
}
