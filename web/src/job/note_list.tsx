// The notes of a job, below its curves.
import { useState } from 'preact/hooks';
import { asRequestError, deleteJson, type RequestError } from '../api/client';
import { refreshJob, serverNow, stale } from '../api/store';
import { storedSession } from '../api/session';
import type { Job, ListSessionsResponse } from '../api/types';
import { count } from '../format/numbers';
import { ago, fullTime } from '../format/time';
import { useLoad } from '../ui/load';
import { Failure } from '../ui/notice';
import { byStep, isWrittenBy, writerOf, type Note } from './notes';

// Returns the user of this browser's session; undefined until the user is known.
function useSessionUser(): string | undefined {
  const { data } = useLoad<ListSessionsResponse>('/sessions', {}, 'sessions');
  const id = storedSession()?.id;
  return data && (data.sessions.find((session) => session.id === id)?.user ?? '');
}

function NoteRow({ note, remove }: { note: Note; remove: (() => void) | undefined }) {
  return (
    <li>
      <span class="note-step">step {count(note.step)}</span>
      <span class="note-text">{note.text}</span>
      <span class="faint">
        {writerOf(note)},{' '}
        <time title={fullTime(note.time_ms)}>{ago(note.time_ms, serverNow.value)}</time>
      </span>
      {remove && (
        <button
          type="button"
          class="quiet"
          aria-label={`Delete the note on step ${count(note.step)}: ${note.text}`}
          disabled={stale.value}
          onClick={remove}
        >
          Delete
        </button>
      )}
    </li>
  );
}

export function NoteList({ job }: { job: Job }) {
  const user = useSessionUser();
  const [error, setError] = useState<RequestError>();
  const remove = async (note: Note) => {
    setError(undefined);
    try {
      await deleteJson(`/jobs/${job.id}/notes/${note.id}`);
    } catch (failure) {
      setError(asRequestError(failure));
    }
    await refreshJob();
  };
  return (
    <section class="notes card" aria-label="Notes">
      <h2>Notes</h2>
      {error && <Failure error={error} />}
      <ul>
        {byStep(job.notes).map((note) => (
          <NoteRow
            key={note.id}
            note={note}
            remove={
              user !== undefined && isWrittenBy(note, user) ? () => void remove(note) : undefined
            }
          />
        ))}
      </ul>
    </section>
  );
}
