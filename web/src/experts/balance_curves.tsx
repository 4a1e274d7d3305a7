// The balance of the experts and the entropy of their routers over the steps.
import { useMemo } from 'preact/hooks';
import { metricsTick } from '../api/store';
import type { GetSeriesResponse, Job } from '../api/types';
import { CurvePanel, PanelPlaceholder } from '../job/curve_panel';
import type { Panel } from '../job/panels';
import { seriesQuery, withAxis } from '../job/series_query';
import { query, setQuery } from '../router/router';
import { parseCurveView } from '../router/url';
import { useLoad } from '../ui/load';
import { Failure } from '../ui/notice';
import { useThrottled } from '../ui/throttle';

const PACE_MS = 5_000;
const BUCKETS = 400;

const PANELS: readonly Panel[] = [
  {
    title: 'Balance',
    keys: ['moe_balance_max', 'moe_balance_mean'],
    names: ['worst layer', 'mean of the layers'],
    unit: 'plain',
  },
  { title: 'Lowest router entropy', keys: ['moe_router_entropy_min'], unit: 'plain' },
];
const KEYS = PANELS.flatMap(({ keys }) => keys);

export function BalanceCurves({ job }: { job: Job }) {
  const view = parseCurveView(query.value);
  const { data, error } = useLoad<GetSeriesResponse>(
    `/jobs/${job.id}/series`,
    seriesQuery(view, KEYS, BUCKETS),
    `${job.id}/${view.axis}`,
    useThrottled(metricsTick.value, PACE_MS),
  );
  const series = useMemo(() => data && withAxis(data).series, [data]);
  if (error && !data) return <Failure error={error} />;
  return (
    <div class="panels expert-curves">
      {PANELS.map((panel) =>
        series ? (
          <CurvePanel
            key={panel.title}
            panel={panel}
            view={view}
            job={job}
            markers={[]}
            curves={series.filter(({ key }) => panel.keys.includes(key))}
            points={[]}
            baseline={undefined}
            onZoom={(window) => setQuery({ from: window?.from, to: window?.to })}
            onChoose={(step) => setQuery({ step })}
          />
        ) : (
          <PanelPlaceholder key={panel.title} panel={panel} />
        ),
      )}
    </div>
  );
}
