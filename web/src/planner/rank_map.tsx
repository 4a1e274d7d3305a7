// Shows a plan's ranks by node. The color of a rank shows its pipeline stage.
import { useMemo } from 'preact/hooks';
import type { PlanLayoutResponse } from '../api/types';
import { runColorName, themeColor } from '../chart/colors';
import { plural } from '../format/numbers';
import { RankCanvas } from '../job/rank_canvas';
import { CELL_PX } from '../job/rank_layout';
import { useQueryText } from '../router/query_text';
import { rankOf, ranksByNode, type PlannedRank } from './plan_parts';

// With more ranks than this, ranks are drawn small on one canvas.
const DENSE_FROM = 256;
const TINT = 0.28;

const describe = (rank: PlannedRank) =>
  `Rank ${rank.rank} on node ${rank.node + 1}, ${rank.coordinates}`;

function paint(ctx: CanvasRenderingContext2D, rank: PlannedRank): void {
  ctx.globalAlpha = TINT;
  ctx.fillStyle = themeColor(runColorName(rank.stage));
  ctx.fillRect(0, 0, CELL_PX, CELL_PX);
  ctx.globalAlpha = 1;
  ctx.fillStyle = themeColor('text');
  ctx.fillText(String(rank.rank), CELL_PX / 2, CELL_PX / 2 + 1);
}

const span = (first: number, last: number) => (first === last ? `${first}` : `${first}–${last}`);

function Detail({ plan, rank }: { plan: PlanLayoutResponse; rank: PlannedRank }) {
  const stage = plan.stages[rank.stage];
  if (!stage) return null;
  const rows = [
    ['Node', `${rank.node + 1}, slot ${rank.slot}`],
    ['Layout', rank.coordinates],
    ['Stage', `${rank.stage} of ${plan.stages.length}, counted from 0`],
    ['Layers', String(stage.layers)],
    ['Ranks in stage', span(stage.first_rank, stage.last_rank)],
    ['Nodes in stage', span(stage.first_node + 1, stage.last_node + 1)],
  ] as const;
  return (
    <section class="rank-detail" aria-label={`Rank ${rank.rank}`} aria-live="polite">
      <h3>Rank {rank.rank}</h3>
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

function NodeCells({ ranks, chosen }: { ranks: readonly PlannedRank[]; chosen: number }) {
  return (
    <div class="rank-cells">
      {ranks.map((rank) => (
        <button
          key={rank.rank}
          type="button"
          data-rank={rank.rank}
          aria-pressed={rank.rank === chosen}
          aria-label={describe(rank)}
          class={`rank stage ${runColorName(rank.stage)}`}
        >
          {rank.rank}
        </button>
      ))}
    </div>
  );
}

export function PlannedRankMap({ plan }: { plan: PlanLayoutResponse }) {
  const [text, setText] = useQueryText('rank');
  const groups = useMemo(() => ranksByNode(plan), [plan]);
  const devices = plan.cluster?.devices ?? 0;
  const asked = Number(text);
  const chosen = Number.isInteger(asked) && asked >= 0 && asked < devices ? asked : 0;
  const choose = (event: MouseEvent) => {
    const cell = (event.target as HTMLElement).closest<HTMLElement>('[data-rank]');
    if (cell) setText(cell.dataset['rank'] ?? '');
  };
  return (
    <>
      <p class="faint">
        {plural(devices, 'rank')}, colored by pipeline stage. Ranks are numbered along{' '}
        {plan.rank_axes
          .filter(({ size }) => size > 1)
          .map(({ name, size }) => `${name} (${size})`)
          .join(', then ') || 'no axis'}
      </p>
      <div class="rank-view">
        {devices > DENSE_FROM ? (
          <div class="plan-canvas" tabIndex={-1}>
            <RankCanvas
              groups={groups}
              paint={paint}
              chosen={chosen}
              describe={describe}
              onChoose={(rank) => setText(String(rank))}
            />
          </div>
        ) : (
          <div class="rank-groups" onClick={choose}>
            {groups.map(({ name, ranks }) => (
              <section key={name} class="rank-group">
                <h3>{name}</h3>
                <NodeCells ranks={ranks} chosen={chosen} />
              </section>
            ))}
          </div>
        )}
        <Detail plan={plan} rank={rankOf(plan, chosen)} />
      </div>
    </>
  );
}
