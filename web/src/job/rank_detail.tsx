// Everything that is known about one rank of an attempt. Values that the rank has not reported are
// shown as a dash.
import type { ComponentChildren } from 'preact';
import { nodeName, serverNow } from '../api/store';
import type { HealthFinding, RankStatus } from '../api/types';
import { ABSENT, bytes, count } from '../format/numbers';
import { ago, duration } from '../format/time';
import { RANK_LOOK, lookOf, sentence } from '../format/words';
import { Badge } from '../ui/badge';
import { collectiveWaitTexts } from './collective_waits';
import { measureOf } from './rank_heat';
import { partsOf } from './step_parts';

interface DetailRow {
  name: string;
  value: ComponentChildren;
  // 'part': the row belongs to the row above it. 'long': the text has several lines.
  look?: 'part' | 'long';
}

export interface RankDetailProps {
  rank: RankStatus;
  names: Record<string, string>;
  hasLayout: boolean;
  // Findings that name the rank.
  findings: readonly HealthFinding[];
}

export const coordinates = (rank: RankStatus) =>
  `tp ${rank.tp} · cp ${rank.cp} · dp ${rank.dp} · pp ${rank.pp}`;

// Returns the role of a rank in a gang with spare nodes.
function roleText(rank: RankStatus): string {
  if (rank.replaced) return 'replaced by a spare node';
  return rank.place == null ? 'spare' : `serves as rank ${rank.place}`;
}

function conditionRows({ rank, findings }: RankDetailProps): DetailRow[] {
  const long = (name: string) => (value: string) => ({ name, value, look: 'long' as const });
  return [
    ...findings.map(({ word, message }) => long(sentence(word))(sentence(message))),
    ...collectiveWaitTexts(rank, serverNow.value).map(long('Waiting in')),
  ];
}

function timeRows(rank: RankStatus): DetailRow[] {
  return [
    { name: 'Step', value: count(rank.step || undefined) },
    { name: 'Step time', value: duration(measureOf(rank, 'step time')) },
    ...partsOf(rank).map(({ name, seconds }) => ({
      name,
      value: duration(seconds),
      look: 'part' as const,
    })),
  ];
}

function exitRows({ state, exit_code: code, signal }: RankStatus): DetailRow[] {
  if (signal !== 0) return [{ name: 'Signal', value: signal }];
  return code !== 0 || state === 'exited' ? [{ name: 'Exit code', value: code }] : [];
}

function detailRows(props: RankDetailProps): DetailRow[] {
  const { rank, names, hasLayout } = props;
  return [
    { name: 'State', value: <Badge look={lookOf(RANK_LOOK, rank.state)} /> },
    ...conditionRows(props),
    { name: 'Node', value: `${nodeName(rank.node_id, names)}, slot ${rank.slot}` },
    ...(hasLayout ? [{ name: 'Layout', value: coordinates(rank) }] : []),
    ...timeRows(rank),
    { name: 'Peak memory', value: bytes(measureOf(rank, 'memory')) },
    { name: 'Data wait', value: duration(measureOf(rank, 'data stall')) },
    { name: 'Phase', value: rank.phase || ABSENT },
    ...(rank.standby || rank.replaced ? [{ name: 'Role', value: roleText(rank) }] : []),
    { name: 'Last progress', value: ago(rank.last_progress_ms, serverNow.value) },
    ...exitRows(rank),
  ];
}

export function RankDetail(props: RankDetailProps) {
  const { rank } = props;
  return (
    <section class="rank-detail" aria-label={`Rank ${rank.rank}`} aria-live="polite">
      <h2>Rank {rank.rank}</h2>
      <dl>
        {detailRows(props).map(({ name, value, look }, index) => (
          <div key={`${name}/${index}`} class={look}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
