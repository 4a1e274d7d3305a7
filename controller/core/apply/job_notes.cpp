#include "controller/core/apply/job_notes.h"

#include <algorithm>

namespace trainyard::controller {
namespace {

void AddNote(const v1::Event& event, ClusterState& state) {
  const v1::NoteWritten& written = event.note_written();
  v1::Job& job = EntryOf(written.job_id(), state).job;
  v1::Note& note = *job.add_notes();
  note.set_id(written.note_id());
  note.set_step(written.step());
  note.set_text(written.text());
  note.set_actor(event.actor());
  note.set_actor_verified(event.actor_verified());
  note.set_time_ms(event.time_ms());
  job.set_notes_written(written.note_id());
}

void RemoveNote(const v1::NoteDeleted& deleted, ClusterState& state) {
  auto& notes = *EntryOf(deleted.job_id(), state).job.mutable_notes();
  const auto note = std::ranges::find(notes, deleted.note_id(), &v1::Note::id);
  if (note != notes.end()) notes.erase(note);
}

}  // namespace

void ApplyToNotes(const v1::Event& event, ClusterState& state) {
  if (event.has_note_written()) return AddNote(event, state);
  RemoveNote(event.note_deleted(), state);
}

}  // namespace trainyard::controller
