// The ranks of an attempt by node or by a dimension of the layout, coloured by step time.
import { useMemo } from 'preact/hooks';
import { nodeName, serverNow } from '../api/store';
import type { Job, ListRanksResponse, RankStatus } from '../api/types';
import { count, plural } from '../format/numbers';
import { ago, duration } from '../format/time';
import { RANK_LOOK, lookOf } from '../format/words';
import { useQueryText } from '../router/query_text';
import { query, setQuery } from '../router/router';
import { Badge } from '../ui/badge';
import { Choice } from '../ui/choice';
import { Icon } from '../ui/icon';
import { useLoad } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import {
  GROUPINGS,
  cellMark,
  groupRanks,
  heatOf,
  layoutSizes,
  medianStepSeconds,
  stragglers,
  type Grouping,
} from './rank_heat';
import { figuresOf } from './progress';
import { RankCanvas } from './rank_canvas';

const REFRESH_MS = 2_000;
// More ranks than this are drawn small, on one canvas.
const DENSE_FROM = 256;
const SLOW_NAMED = 6;

const coordinates = (rank: RankStatus) =>
  `tp ${rank.tp} · cp ${rank.cp} · dp ${rank.dp} · pp ${rank.pp}`;

function rankWords(rank: RankStatus, median: number): string {
  const state = lookOf(RANK_LOOK, rank.state).word;
  const known = heatOf(rank, median) !== undefined;
  const time = known ? `, ${duration(rank.step_seconds as number)} a step` : '';
  return `Rank ${rank.rank}, ${state}${time}`;
}

// No component of its own: hundreds of them would cost more than what they show.
function cell(rank: RankStatus, median: number, chosen: boolean) {
  const heat = heatOf(rank, median);
  const mark = cellMark(rank, heat);
  return (
    <button
      key={rank.rank}
      type="button"
      data-rank={rank.rank}
      aria-pressed={chosen}
      class={`rank ${heat === undefined ? 'heat-none' : `heat-${heat}`} state-${rank.state}`}
      aria-label={rankWords(rank, median)}
    >
      {rank.rank}
      {mark && <i aria-hidden="true">{mark}</i>}
    </button>
  );
}

function Detail({ rank, names }: { rank: RankStatus; names: Record<string, string> }) {
  const rows: [string, preact.ComponentChildren][] = [
    ['State', <Badge key="s" look={lookOf(RANK_LOOK, rank.state)} />],
    ['Node', `${nodeName(rank.node_id, names)}, slot ${rank.slot}`],
    ['Layout', coordinates(rank)],
    ['Step', count(rank.step)],
    ['Step time', duration(rank.step_seconds as number)],
    ['Does', rank.phase || '—'],
    ['Last progress', ago(rank.last_progress_ms, serverNow.value)],
  ];
  if (rank.exit_code !== 0) rows.push(['Exit code', rank.exit_code]);
  if (rank.signal !== 0) rows.push(['Signal', rank.signal]);
  return (
    <section class="rank-detail" aria-label={`Rank ${rank.rank}`} aria-live="polite">
      <h2>Rank {rank.rank}</h2>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function HeatLegend({ median }: { median: number }) {
  if (median <= 0) return null;
  return (
    <p class="heat-legend">
      <span>faster</span>
      {Array.from({ length: 8 }, (_, step) => (
        <i key={step} class={`heat-${step}`} />
      ))}
      <span>slower than the median, {duration(median)}; ▲ from 10 % on</span>
    </p>
  );
}

function Stragglers({
  ranks,
  names,
  onChoose,
}: {
  ranks: readonly RankStatus[];
  names: Record<string, string>;
  onChoose: (rank: number) => void;
}) {
  const slow = stragglers(ranks);
  if (slow.length === 0) return null;
  return (
    <p class="reason stragglers">
      <Icon name="warn" />
      <span>
        {plural(slow.length, 'slow rank')}:{' '}
        {slow.slice(0, SLOW_NAMED).map(({ rank, ratio }) => (
          <button
            key={rank.rank}
            type="button"
            class="quiet"
            onClick={() => onChoose(rank.rank)}
          >
            {rank.rank} on {nodeName(rank.node_id, names)} ({ratio.toFixed(2)}×)
          </button>
        ))}
        {slow.length > SLOW_NAMED && `and ${slow.length - SLOW_NAMED} more`}
      </span>
    </p>
  );
}

function layoutText(ranks: readonly RankStatus[]): string {
  const sizes = layoutSizes(ranks);
  return (['tp', 'cp', 'dp', 'pp'] as const).map((axis) => `${axis} ${sizes[axis]}`).join(' × ');
}

function RankMap({ answer, by }: { answer: ListRanksResponse; by: Grouping }) {
  const [rankText, setRankText] = useQueryText('rank');
  const chosen = rankText === '' ? undefined : Number(rankText);
  const setChosen = (rank: number) => setRankText(String(rank));
  const { ranks, node_names: names } = answer;
  const median = medianStepSeconds(ranks);
  // One listener for all cells.
  const choose = (event: MouseEvent) => {
    const cell = (event.target as HTMLElement).closest<HTMLElement>('[data-rank]');
    if (cell) setChosen(Number(cell.dataset['rank']));
  };
  const detail = ranks.find(({ rank }) => rank === chosen) ?? ranks[0];
  const named = useMemo(
    () =>
      groupRanks(ranks, by).map((group) => ({
        name: by === 'node' ? nodeName(group.name, names) : group.name,
        ranks: group.ranks,
      })),
    [answer, by],
  );
  const dense = ranks.length > DENSE_FROM;
  // The same nodes as long as nothing changed: ages tick every second, ranks do not.
  const groups = useMemo(
    () =>
      !dense &&
      named.map((group) => (
        <section key={group.name} class="rank-group">
          <h2>
            {group.name}
            <span class="faint rank-amount"> {plural(group.ranks.length, 'rank')}</span>
          </h2>
          <div class="rank-cells">
            {group.ranks.map((rank) => cell(rank, median, rank.rank === detail?.rank))}
          </div>
        </section>
      )),
    [named, detail?.rank],
  );
  return (
    <>
      <Stragglers ranks={ranks} names={names} onChoose={setChosen} />
      <div class="rank-view">
        {dense ? (
          <RankCanvas
            groups={named}
            median={median}
            chosen={detail?.rank}
            describe={(rank) => `${rankWords(rank, median)}; ${coordinates(rank)}`}
            onChoose={setChosen}
          />
        ) : (
          <div class="rank-groups" onClick={choose}>
            {groups}
          </div>
        )}
        {detail && <Detail rank={detail} names={names} />}
      </div>
      <HeatLegend median={median} />
    </>
  );
}

export function Ranks({ job }: { job: Job }) {
  const attempt = Number(query.value.get('attempt')) || undefined;
  const by = GROUPINGS.find((name) => name === query.value.get('by')) ?? 'node';
  const live = job.state === 'running' || job.state === 'starting';
  const tick = live ? Math.floor(serverNow.value / REFRESH_MS) : figuresOf(job).step;
  const { data, error } = useLoad<ListRanksResponse>(
    `/jobs/${job.id}/ranks`,
    { attempt },
    `${job.id}/${attempt}`,
    tick,
  );
  if (error && !data) return <Failure error={error} />;
  if (!data) return <Skeleton rows={4} height={60} />;
  if (data.ranks.length === 0) {
    return (
      <Empty title="No ranks to show">
        {job.attempts.length === 0
          ? 'The job has not been placed yet.'
          : 'The places of ranks are kept for the newest 10 attempts.'}
      </Empty>
    );
  }
  return (
    <>
      <div class="tools">
        <Choice
          label="Group by"
          value={by}
          choices={GROUPINGS.map((name) => [name, name])}
          onChoose={(name) => setQuery({ by: name === 'node' ? undefined : name })}
        />
        <p class="faint">
          attempt {data.epoch} · {plural(data.ranks.length, 'rank')} · {layoutText(data.ranks)}
        </p>
      </div>
      <RankMap answer={data} by={by} />
    </>
  );
}
