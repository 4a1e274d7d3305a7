import { useState } from 'preact/hooks';
import { stale } from '../api/store';
import type { GetSeriesResponse, Job } from '../api/types';
import { count } from '../format/numbers';
import { Link, setQuery } from '../router/router';
import { SMOOTHINGS, jobPath, listText, type CurveView } from '../router/url';
import { axisLabel } from '../chart/axes';
import { LineSample } from '../chart/line_sample';
import { CheckMenu, asOptions } from '../ui/check_menu';
import { Choice } from '../ui/choice';
import { Icon } from '../ui/icon';
import { JobChoice } from '../ui/job_choice';
import { AttemptChoice } from './attempt_choice';
import { BASELINE_COLOR, BASELINE_DASH } from './baseline';
import { DocumentsDialog } from './documents_dialog';
import { chosenStep } from './note_step';
import { axesFor, offeredKeys } from './panels';
import { hasDocuments } from './step_documents';

function ExtraSeries({ known, view }: { known: readonly string[]; view: CurveView }) {
  const offered = offeredKeys(known);
  if (offered.length === 0) return null;
  const toggle = (key: string) => {
    const next = view.extra.includes(key)
      ? view.extra.filter((other) => other !== key)
      : [...view.extra, key];
    setQuery({ keys: listText(next) });
  };
  return (
    <CheckMenu
      title="More series"
      options={asOptions(offered)}
      chosen={view.extra}
      onToggle={toggle}
    />
  );
}

function BaselineName({ job, axis }: { job: Job; axis: CurveView['axis'] }) {
  return (
    <span>
      <LineSample color={BASELINE_COLOR} dash={BASELINE_DASH} />
      <Link href={jobPath(job.id)}>
        {job.name} #{job.id}
      </Link>
      {axis === 'time' && ' moved to the same start'}
    </span>
  );
}

// A button for a new note. Its text has the step that the user has clicked in a chart.
function NoteButton({ job, onOpen }: { job: Job; onOpen: () => void }) {
  const chosen = chosenStep.value;
  return (
    <button type="button" class="note-button" disabled={stale.value} onClick={onOpen}>
      {chosen?.job === job.id ? `Note at ${count(chosen.step)}…` : 'Note…'}
    </button>
  );
}

// A button for the documents of the step that the user has clicked in a chart.
function DocumentsButton({ job, attempt }: { job: Job; attempt: number | undefined }) {
  const [step, setStep] = useState<number>();
  const chosen = chosenStep.value;
  const isOffered = chosen?.job === job.id && chosen.step > 0 && hasDocuments(job);
  return (
    <>
      {isOffered && (
        <button type="button" onClick={() => setStep(chosen.step)}>
          Documents of step {count(chosen.step)}…
        </button>
      )}
      {step !== undefined && (
        <DocumentsDialog
          job={job}
          step={step}
          attempt={attempt}
          onClose={() => setStep(undefined)}
        />
      )}
    </>
  );
}

export function CurveTools({
  job,
  view,
  known,
  attempts,
  onNote,
  baseline,
}: {
  job: Job;
  view: CurveView;
  known: readonly string[];
  attempts: GetSeriesResponse['attempts'];
  // Opens the form for a note.
  onNote: () => void;
  // The job that is drawn as a baseline.
  baseline: Job | undefined;
}) {
  const numbers =
    attempts.length > 1
      ? attempts.map(({ number }) => number)
      : job.attempts.map(({ number }) => number);
  return (
    <div class="tools" role="toolbar" aria-label="Curve options">
      <Choice
        label="Axis"
        value={view.axis}
        choices={axesFor(known).map((axis) => [axis, axisLabel(axis)])}
        onChoose={(axis) =>
          setQuery({
            axis: axis === 'step' ? undefined : axis,
            from: undefined,
            to: undefined,
          })
        }
      />
      <Choice
        label="Y axis"
        value={view.logY ? 'log' : view.fullY ? 'full' : 'typical'}
        choices={[
          ['typical', 'typical'],
          ['full', 'full'],
          ['log', 'log'],
        ]}
        onChoose={(y) => setQuery({ y: y === 'typical' ? undefined : y })}
      />
      <Choice
        label="Smoothing"
        value={String(view.smooth)}
        choices={SMOOTHINGS.map((weight) => [
          String(weight),
          weight === 0 ? 'none' : String(weight),
        ])}
        onChoose={(weight) => setQuery({ smooth: weight === '0' ? undefined : weight })}
      />
      <AttemptChoice numbers={numbers} chosen={view.attempt} />
      <ExtraSeries known={known} view={view} />
      <NoteButton job={job} onOpen={onNote} />
      <DocumentsButton job={job} attempt={view.attempt} />
      <JobChoice
        label="Baseline"
        none="none"
        value={view.baseline ?? ''}
        except={[String(job.id)]}
        onChoose={(chosen) => setQuery({ baseline: chosen })}
      />
      {view.from !== undefined && (
        <button
          type="button"
          class="zoomed"
          onClick={() => setQuery({ from: undefined, to: undefined })}
        >
          <Icon name="close" />
          Whole run
        </button>
      )}
      <p class="legend" aria-label="Curve markers">
        {baseline && <BaselineName job={baseline} axis={view.axis} />}
        <span class="marker-checkpoint">
          <Icon name="triangle" />
          checkpoint
        </span>
        <span class="marker-restart">
          <Icon name="flag" />
          restart
        </span>
        <span class="marker-alert">
          <Icon name="diamond" />
          alert
        </span>
        {job.notes.length > 0 && (
          <span class="marker-note">
            <Icon name="stop" />
            note
          </span>
        )}
      </p>
    </div>
  );
}
