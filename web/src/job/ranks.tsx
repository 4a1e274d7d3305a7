// The ranks of an attempt, grouped by node or by a dimension of the layout. The color shows the
// condition of each rank, or a measure such as step time or memory.
import { useMemo } from 'preact/hooks';
import { nodeName, serverNow } from '../api/store';
import type { HealthFinding, Job, ListRanksResponse, RankStatus } from '../api/types';
import { plural } from '../format/numbers';
import { sentence } from '../format/words';
import { useQueryText } from '../router/query_text';
import { query, setQuery } from '../router/router';
import { ordinalIn } from '../router/url';
import { Choice } from '../ui/choice';
import { Icon } from '../ui/icon';
import { useLoad } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { verdictMembers } from './gang';
import { paintRank } from './paint_rank';
import { figuresOf } from './progress';
import { RankCanvas } from './rank_canvas';
import { RankDetail, coordinates } from './rank_detail';
import {
  GROUPINGS,
  MEASURES,
  groupRanks,
  hasLayout,
  layoutSizes,
  scaleOf,
  type Grouping,
  type Measure,
} from './rank_heat';
import { RankLegend, cellClass } from './rank_legend';
import { cellLook, type RankView } from './rank_look';
import { conditionsOf, findingsOf, membersAtFault } from './rank_condition';
import { rankWords } from './rank_words';

const REFRESH_MS = 2_000;
// With more ranks than this, ranks are drawn small on one canvas.
const DENSE_FROM = 256;
const NAMED_MAX = 6;

const COLORINGS = ['health', ...MEASURES] as const;
type Coloring = (typeof COLORINGS)[number];

// A function instead of a component, because hundreds of components would be too slow.
function cell(rank: RankStatus, view: RankView, chosen: boolean) {
  const look = cellLook(rank, view);
  return (
    <button
      key={rank.rank}
      type="button"
      data-rank={rank.rank}
      aria-pressed={chosen}
      class={cellClass(look)}
      aria-label={rankWords(rank, view)}
    >
      {rank.rank}
      {look.mark && <i aria-hidden="true">{look.mark}</i>}
    </button>
  );
}

interface FindingProps {
  finding: HealthFinding;
  answer: ListRanksResponse;
  onChoose: (rank: number) => void;
}

// Returns "rank 2 on gpu01 (1.23×)". The ratio is known for slow ranks.
function memberText(rank: RankStatus, names: Record<string, string>): string {
  const ratio = rank.slow_ratio as number;
  const slow = ratio > 0 ? ` (${ratio.toFixed(2)}×)` : '';
  return `rank ${rank.rank} on ${nodeName(rank.node_id, names)}${slow}`;
}

// The ranks that a finding names. The header shows the finding's sentence.
function NamedRanks({ finding, answer, onChoose }: FindingProps) {
  const { ranks, node_names: names } = answer;
  const members = membersAtFault(finding, ranks);
  const found = members.flatMap((member) => ranks.find(({ rank }) => rank === member) ?? []);
  return (
    <p class="reason named-ranks">
      <Icon name="warn" />
      <span>
        {sentence(finding.word)}:{' '}
        {found.slice(0, NAMED_MAX).map((rank) => (
          <button key={rank.rank} type="button" class="quiet" onClick={() => onChoose(rank.rank)}>
            {memberText(rank, names)}
          </button>
        ))}
        {found.length > NAMED_MAX && `and ${found.length - NAMED_MAX} more`}
      </span>
    </p>
  );
}

function layoutText(ranks: readonly RankStatus[]): string {
  const sizes = layoutSizes(ranks);
  return (['tp', 'cp', 'dp', 'pp'] as const).map((axis) => `${axis} ${sizes[axis]}`).join(' × ');
}

interface RankMapProps {
  job: Job;
  answer: ListRanksResponse;
  by: Grouping;
  coloring: Coloring;
}

function useRankView({ job, answer, coloring }: RankMapProps): RankView {
  const { ranks, attempt } = answer;
  const scale = useMemo(
    () => (coloring === 'health' ? undefined : scaleOf(ranks, coloring as Measure)),
    [answer, coloring],
  );
  // The stream sends the job every second, but cells are drawn only if their conditions may change.
  const found = findingsOf(job, attempt).map(({ word, ranks: named }) => [word, named]);
  const cause = JSON.stringify([found, verdictMembers(job, attempt, ranks)]);
  const conditions = useMemo(() => conditionsOf(job, attempt, ranks), [answer, cause]);
  return useMemo(() => ({ conditions, scale }), [conditions, scale]);
}

function RankMap(props: RankMapProps) {
  const { job, answer, by } = props;
  const { ranks, node_names: names } = answer;
  const view = useRankView(props);
  const findings = findingsOf(job, answer.attempt).filter((finding) => finding.ranks.length > 0);
  const [rankText, setRankText] = useQueryText('rank');
  // The worst rank is shown until the user chooses another rank.
  const chosen = rankText === '' ? view.conditions.culprits[0] : Number(rankText);
  const setChosen = (rank: number) => setRankText(String(rank));
  const paint = useMemo(
    () => (ctx: CanvasRenderingContext2D, rank: RankStatus) => paintRank(ctx, rank, view),
    [view],
  );
  // One event listener serves all cells.
  const choose = (event: MouseEvent) => {
    const target = (event.target as HTMLElement).closest<HTMLElement>('[data-rank]');
    if (target) setChosen(Number(target.dataset['rank']));
  };
  const detail = ranks.find(({ rank }) => rank === chosen) ?? ranks[0];
  const withLayout = hasLayout(job, ranks);
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
            {group.ranks.map((rank) => cell(rank, view, rank.rank === detail?.rank))}
          </div>
        </section>
      )),
    [named, view, detail?.rank],
  );
  const describe = (rank: RankStatus) =>
    rankWords(rank, view) + (withLayout ? `; ${coordinates(rank)}` : '');
  return (
    <>
      {findings.map((finding, index) => (
        <NamedRanks key={index} finding={finding} answer={answer} onChoose={setChosen} />
      ))}
      <div class="rank-view">
        <div>
          {dense ? (
            <RankCanvas
              groups={named}
              paint={paint}
              chosen={detail?.rank}
              describe={describe}
              onChoose={setChosen}
            />
          ) : (
            <div class="rank-groups" onClick={choose}>
              {groups}
            </div>
          )}
          <RankLegend ranks={ranks} view={view} />
        </div>
        {detail && (
          <RankDetail
            rank={detail}
            names={names}
            hasLayout={withLayout}
            findings={findings.filter((one) => membersAtFault(one, ranks).includes(detail.rank))}
          />
        )}
      </div>
    </>
  );
}

interface ToolsProps extends Omit<RankMapProps, 'job'> {
  withLayout: boolean;
}

function RankTools({ answer, by, coloring, withLayout }: ToolsProps) {
  return (
    <div class="tools">
      {withLayout && (
        <Choice
          label="Group by"
          value={by}
          choices={GROUPINGS.map((name) => [name, name])}
          onChoose={(name) => setQuery({ by: name === 'node' ? undefined : name })}
        />
      )}
      <Choice
        label="Color by"
        value={coloring}
        choices={COLORINGS.map((name) => [name, name])}
        onChoose={(name) => setQuery({ color: name === 'health' ? undefined : name })}
      />
      <p class="faint">
        attempt {answer.attempt} · {plural(answer.ranks.length, 'rank')}
        {withLayout && ` · ${layoutText(answer.ranks)}`}
      </p>
    </div>
  );
}

export function Ranks({ job }: { job: Job }) {
  const attempt = ordinalIn(query.value, 'attempt');
  const chosenGrouping = GROUPINGS.find((name) => name === query.value.get('by')) ?? 'node';
  const coloring = COLORINGS.find((name) => name === query.value.get('color')) ?? 'health';
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
  const withLayout = hasLayout(job, data.ranks);
  const by = withLayout ? chosenGrouping : 'node';
  return (
    <>
      <RankTools answer={data} by={by} coloring={coloring} withLayout={withLayout} />
      <RankMap job={job} answer={data} by={by} coloring={coloring} />
    </>
  );
}
