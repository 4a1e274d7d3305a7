// The ranks of an attempt, grouped by node or by a dimension of the layout. Colour shows step time,
// one of its parts, memory, or time spent waiting for data.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { nodeName, serverNow } from '../api/store';
import type { Job, ListRanksResponse, RankStatus } from '../api/types';
import { bytes, count, plural } from '../format/numbers';
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
  HEAT_STEPS,
  MEASURES,
  cellMark,
  groupRanks,
  heatOf,
  layoutSizes,
  measureOf,
  scaleOf,
  stragglers,
  type Grouping,
  type HeatScale,
  type Measure,
} from './rank_heat';
import { collectiveWaitTexts } from './collective_waits';
import { verdictMember } from './gang';
import { paintHeat } from './paint_heat';
import { figuresOf } from './progress';
import { RankCanvas } from './rank_canvas';
import { partsOf } from './step_parts';

const REFRESH_MS = 2_000;
// With more ranks than this, ranks are drawn small on one canvas.
const DENSE_FROM = 256;
const SLOW_SHOWN = 6;

const coordinates = (rank: RankStatus) =>
  `tp ${rank.tp} · cp ${rank.cp} · dp ${rank.dp} · pp ${rank.pp}`;

const MEASURE_WORDS: Record<Measure, (value: number) => string> = {
  'step time': (seconds) => `${duration(seconds)} per step`,
  compute: (seconds) => `${duration(seconds)} of compute in its latest step`,
  waits: (seconds) => `${duration(seconds)} of waits in its latest step`,
  memory: (size) => `${bytes(size)} of memory`,
  'data stall': (seconds) => `data wait ${duration(seconds)}`,
};

function rankWords(rank: RankStatus, { measure }: HeatScale): string {
  const state = lookOf(RANK_LOOK, rank.state).word;
  const value = measureOf(rank, measure);
  const words = value === undefined ? '' : `, ${MEASURE_WORDS[measure](value)}`;
  return `Rank ${rank.rank}, ${state}${words}`;
}

// A function, not a component, because hundreds of components would be too slow.
function cell(rank: RankStatus, scale: HeatScale, chosen: boolean) {
  const heat = heatOf(rank, scale);
  const mark = cellMark(rank, heat);
  return (
    <button
      key={rank.rank}
      type="button"
      data-rank={rank.rank}
      aria-pressed={chosen}
      class={`rank ${heat === undefined ? 'heat-none' : `heat-${heat}`} state-${rank.state}`}
      aria-label={rankWords(rank, scale)}
    >
      {rank.rank}
      {mark && <i aria-hidden="true">{mark}</i>}
    </button>
  );
}

interface DetailRow {
  name: string;
  value: ComponentChildren;
  // 'part': the row details the row above it. 'long': the text has several lines.
  look?: 'part' | 'long';
}

// Describes a rank's role in a gang with spare nodes.
function partText(rank: RankStatus): string {
  if (rank.replaced) return 'replaced by a spare node';
  return rank.place == null ? 'spare' : `serves as rank ${rank.place}`;
}

function detailRows(rank: RankStatus, names: Record<string, string>): DetailRow[] {
  const now = serverNow.value;
  const rows: DetailRow[] = [
    { name: 'State', value: <Badge look={lookOf(RANK_LOOK, rank.state)} /> },
    ...collectiveWaitTexts(rank, now).map((value) => ({
      name: 'Waiting in',
      value,
      look: 'long' as const,
    })),
    { name: 'Node', value: `${nodeName(rank.node_id, names)}, slot ${rank.slot}` },
    { name: 'Layout', value: coordinates(rank) },
    { name: 'Step', value: count(rank.step) },
    { name: 'Step time', value: duration(rank.step_seconds as number) },
    ...partsOf(rank).map(({ name, seconds }) => ({
      name,
      value: duration(seconds),
      look: 'part' as const,
    })),
    { name: 'Peak memory', value: bytes(measureOf(rank, 'memory')) },
    { name: 'Data wait', value: duration(measureOf(rank, 'data stall')) },
    { name: 'Phase', value: rank.phase || '—' },
    ...(rank.standby || rank.replaced ? [{ name: 'Role', value: partText(rank) }] : []),
    { name: 'Last progress', value: ago(rank.last_progress_ms, now) },
  ];
  if (rank.exit_code !== 0) rows.push({ name: 'Exit code', value: rank.exit_code });
  if (rank.signal !== 0) rows.push({ name: 'Signal', value: rank.signal });
  return rows;
}

function Detail({ rank, names }: { rank: RankStatus; names: Record<string, string> }) {
  return (
    <section class="rank-detail" aria-label={`Rank ${rank.rank}`} aria-live="polite">
      <h2>Rank {rank.rank}</h2>
      <dl>
        {detailRows(rank, names).map(({ name, value, look }, index) => (
          <div key={`${name}/${index}`} class={look}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function medianWords({ measure, median, medianComputes }: HeatScale): string | undefined {
  const medians = measure === 'compute' ? [...medianComputes.values()] : [median];
  const [only = 0] = medians;
  if (medians.length > 1) return 'median per pipeline stage';
  return only > 0 ? `median ${duration(only)}` : undefined;
}

// Returns the labels of the two ends of the colour scale; undefined if no rank has reported a
// value.
function legendWords(scale: HeatScale): [string, string] | undefined {
  const { measure, low, high } = scale;
  if (measure === 'step time' || measure === 'compute') {
    const median = medianWords(scale);
    return median
      ? ['faster', `slower (${median}); ▲ = at least 10 % above the median`]
      : undefined;
  }
  if (measure === 'waits') {
    return high > 0 ? ['0 s', `longest wait in a step: ${duration(high)}`] : undefined;
  }
  if (measure === 'memory') return high > 0 ? [bytes(low), `${bytes(high)} (maximum)`] : undefined;
  return ['0 s', `longest data wait: ${duration(high)}`];
}

function HeatLegend({ scale }: { scale: HeatScale }) {
  const words = legendWords(scale);
  if (!words) return null;
  return (
    <p class="heat-legend">
      <span>{words[0]}</span>
      {Array.from({ length: HEAT_STEPS }, (_, step) => (
        <i key={step} class={`heat-${step}`} />
      ))}
      <span>{words[1]}</span>
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
        {slow.slice(0, SLOW_SHOWN).map(({ rank, ratio }) => (
          <button
            key={rank.rank}
            type="button"
            class="quiet"
            onClick={() => onChoose(rank.rank)}
          >
            {rank.rank} on {nodeName(rank.node_id, names)} ({ratio.toFixed(2)}×)
          </button>
        ))}
        {slow.length > SLOW_SHOWN && `and ${slow.length - SLOW_SHOWN} more`}
      </span>
    </p>
  );
}

function layoutText(ranks: readonly RankStatus[]): string {
  const sizes = layoutSizes(ranks);
  return (['tp', 'cp', 'dp', 'pp'] as const).map((axis) => `${axis} ${sizes[axis]}`).join(' × ');
}

function RankMap({
  answer,
  by,
  measure,
  suspect,
}: {
  answer: ListRanksResponse;
  by: Grouping;
  measure: Measure;
  // The rank shown until the user chooses one.
  suspect: number | undefined;
}) {
  const [rankText, setRankText] = useQueryText('rank');
  const chosen = rankText === '' ? suspect : Number(rankText);
  const setChosen = (rank: number) => setRankText(String(rank));
  const { ranks, node_names: names } = answer;
  const scale = useMemo(() => scaleOf(ranks, measure), [answer, measure]);
  const paint = useMemo(
    () => (ctx: CanvasRenderingContext2D, rank: RankStatus) => paintHeat(ctx, rank, scale),
    [scale],
  );
  // One event listener serves all cells.
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
  // Memoized, because ages make the view render every second but the ranks rarely change.
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
            {group.ranks.map((rank) => cell(rank, scale, rank.rank === detail?.rank))}
          </div>
        </section>
      )),
    [named, scale, detail?.rank],
  );
  return (
    <>
      <Stragglers ranks={ranks} names={names} onChoose={setChosen} />
      <div class="rank-view">
        {dense ? (
          <RankCanvas
            groups={named}
            paint={paint}
            chosen={detail?.rank}
            describe={(rank) => `${rankWords(rank, scale)}; ${coordinates(rank)}`}
            onChoose={setChosen}
          />
        ) : (
          <div class="rank-groups" onClick={choose}>
            {groups}
          </div>
        )}
        {detail && <Detail rank={detail} names={names} />}
      </div>
      <HeatLegend scale={scale} />
    </>
  );
}

export function Ranks({ job }: { job: Job }) {
  const attempt = Number(query.value.get('attempt')) || undefined;
  const by = GROUPINGS.find((name) => name === query.value.get('by')) ?? 'node';
  const measure = MEASURES.find((name) => name === query.value.get('color')) ?? 'step time';
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
          : 'Rank placements are kept for the latest 10 attempts.'}
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
        <Choice
          label="Colour by"
          value={measure}
          choices={MEASURES.map((name) => [name, name])}
          onChoose={(name) => setQuery({ color: name === 'step time' ? undefined : name })}
        />
        <p class="faint">
          attempt {data.attempt} · {plural(data.ranks.length, 'rank')} · {layoutText(data.ranks)}
        </p>
      </div>
      <RankMap
        answer={data}
        by={by}
        measure={measure}
        suspect={verdictMember(job, data.attempt, data.ranks)}
      />
    </>
  );
}
