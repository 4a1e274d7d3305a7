// Plots of the runs' settings against their results. Loaded when the user opens a plot.
import { useMemo } from 'preact/hooks';
import type { CompareSeriesResponse, Series } from '../api/types';
import { plural } from '../format/numbers';
import { keysQuery } from '../job/series_query';
import { setQuery } from '../router/router';
import { useLoad } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import type { CompareView } from './compare_view';
import { figuresFor, type Figure } from './figures';
import { ParallelPlot } from './parallel_plot';
import { extremesOf, figureAxis, settingAxis, type PlotAxis } from './plot_axes';
import type { Run } from './runs';
import { ScatterPlot } from './scatter_plot';
import { numericKeys, type Differences } from './settings';

interface SettingPlotsProps {
  view: CompareView;
  runs: readonly Run[];
  differences: Differences;
  // Names of series that the runs may have.
  keys: readonly string[];
  colors: readonly number[];
  picked: number | undefined;
  onPick: (run: number | undefined) => void;
  // A number that changes when the results must be loaded again.
  tick: number;
}

const KEYS = ['val_loss', 'loss', 'tokens_per_second', 'step_seconds'];
const KEYS_MAX = 16;
// Minimum, last value and count of a bucket are exact, so few buckets are enough.
const BUCKETS = 50;
const COLUMNS = 'last,min,mean,counts';
// More axes would leave no space for their names.
const AXES_MAX = 7;
const PLOT_PX = 320;

interface Result {
  figure: Figure;
  axis: PlotAxis;
}

function useResults({ runs, keys, view, tick }: SettingPlotsProps) {
  const losses = keys.filter((key) => key.endsWith('_loss'));
  const wanted = [...new Set([...KEYS, ...view.metrics, ...losses])].slice(0, KEYS_MAX);
  const jobs = runs.map(({ job }) => job.id).join(',');
  const query = { jobs, ...keysQuery(wanted), buckets: BUCKETS, fields: COLUMNS };
  const { data, error } = useLoad<CompareSeriesResponse>('/series', query, jobs, tick);
  const found = useMemo(
    () => data && new Map(data.series.map((one) => [`${one.job_id}/${one.key}`, one])),
    [data],
  );
  return { found, error, figures: figuresFor(wanted) };
}

const axisOf = (
  figure: Figure,
  found: ReadonlyMap<string, Series>,
  runs: readonly Run[],
): PlotAxis =>
  figureAxis(
    figure,
    runs.map(({ job }) => found.get(`${job.id}/${figure.key}`)),
  );

function AxisChoice({
  name,
  parameter,
  chosen,
  options,
}: {
  name: string;
  parameter: string;
  chosen: string;
  // The possible values of the URL's parameter, each with its name.
  options: readonly (readonly [string, string])[];
}) {
  return (
    <label class="inline-field">
      {name}
      <select
        value={chosen}
        onChange={(event) => setQuery({ [parameter]: event.currentTarget.value })}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function ExtremesText({ axis, names }: { axis: PlotAxis; names: readonly string[] }) {
  const extremes = extremesOf(axis);
  if (!extremes) return null;
  const text = (run: number) => `${names[run]} (${axis.texts[run]})`;
  return (
    <>
      {axis.name}: lowest in {text(extremes.low)}, highest in {text(extremes.high)}.
    </>
  );
}

// Returns the values of the two lists: all results, and the settings followed by the results.
function choicesOf(settings: readonly string[], results: readonly Result[]) {
  const own = results.map(({ figure: { id, name } }) => [id, name] as const);
  return { results: own, all: [...settings.map((key) => [key, key] as const), ...own] };
}

function PlotTools({
  isScatter,
  x,
  y,
  choices,
}: {
  isScatter: boolean;
  x: string;
  y: string;
  choices: ReturnType<typeof choicesOf>;
}) {
  return (
    <>
      {isScatter && <AxisChoice name="X" parameter="px" chosen={x} options={choices.all} />}
      <AxisChoice
        name={isScatter ? 'Y' : 'Result'}
        parameter="py"
        chosen={y}
        options={choices.results}
      />
    </>
  );
}

// Draws the plot from results that have arrived.
function Plots(props: SettingPlotsProps & { results: readonly Result[] }) {
  const { view, runs, differences, results } = props;
  const settings = [...differences.relevant, ...(view.allSettings ? differences.operational : [])];
  const numeric = numericKeys(settings, differences.values);
  const choices = choicesOf(settings, results);
  const { figure, axis: result } =
    results.find((one) => one.figure.id === view.y) ?? (results[0] as Result);
  const x =
    choices.all.find(([id]) => id === view.x)?.[0] ?? numeric[0] ?? settings[0] ?? figure.id;
  const across = results.find((one) => one.figure.id === x)?.axis ?? settingAxis(x, differences);
  const isScatter = view.plot === 'scatter';
  const names = runs.map(({ job }) => `${job.name} #${job.id}`);
  const shared = { names, colors: props.colors, picked: props.picked, onPick: props.onPick };
  const shown = numeric.slice(0, AXES_MAX);
  const others = settings.length - shown.length;
  const title = `${result.name} by ${isScatter ? across.name : 'numeric settings'}`;
  return (
    <section class="panel setting-plot" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <p class="reading">{props.picked !== undefined && <b>{names[props.picked]}</b>}</p>
        <PlotTools isScatter={isScatter} x={x} y={figure.id} choices={choices} />
      </header>
      {isScatter ? (
        <ScatterPlot {...shared} x={across} y={result} />
      ) : shown.length === 0 ? (
        <Empty title="The runs differ in no numeric setting" />
      ) : (
        <ParallelPlot
          {...shared}
          settings={shown.map((key) => settingAxis(key, differences))}
          result={result}
        />
      )}
      <p class="density">
        <ExtremesText axis={result} names={names} />
        {!isScatter && others > 0 && ` Not shown: ${plural(others, 'other differing setting')}.`}
      </p>
    </section>
  );
}

export function SettingPlots(props: SettingPlotsProps) {
  const { found, error, figures } = useResults(props);
  if (error && !found) return <Failure error={error} />;
  if (!found) return <Skeleton rows={1} height={PLOT_PX} />;
  const results = figures
    .map((figure) => ({ figure, axis: axisOf(figure, found, props.runs) }))
    .filter(({ axis }) => axis.scale !== undefined);
  if (results.length === 0) return <Empty title="No run has reported a loss or a rate" />;
  return <Plots {...props} results={results} />;
}
