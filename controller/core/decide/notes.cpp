#include "controller/core/decide/notes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/references.h"
#include "controller/core/support/principal_event.h"
#include "controller/core/support/text.h"
#include "proto/contract/limits.h"
#include "proto/support/status_macros.h"
#include "proto/text/printable.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

absl::Status CheckStep(const v1::WriteNoteRequest& request) {
  if (request.step() >= 0 && request.step() <= kMaxStep) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("step: must be from 0 to ", kMaxStep));
}

absl::Status CheckText(const std::string& text) {
  if (text.find_first_not_of(' ') == std::string::npos) {
    return absl::InvalidArgumentError("text: the note is empty; write one line of text");
  }
  if (text.size() > kMaxNoteBytes) {
    return absl::InvalidArgumentError(absl::StrCat("text: the note has ", text.size(),
                                                   " bytes; at most ", kMaxNoteBytes,
                                                   " are allowed. Shorten it or write two notes"));
  }
  const bool is_clean =
      IsUtf8(text) && text.find('\t') == std::string::npos && PrintableLine(text, false) == text;
  if (is_clean) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "text: the note contains a control character, such as a line break or a tab; write one line "
      "of plain text");
}

}  // namespace

absl::StatusOr<std::vector<v1::Event>> DecideNoteWrite(const ClusterState& state,
                                                       const v1::WriteNoteRequest& request,
                                                       const Principal& principal, Timestamp now) {
  TRAINYARD_RETURN_IF_ERROR(CheckStep(request));
  TRAINYARD_RETURN_IF_ERROR(CheckText(request.text()));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, FindJob(state, request.job()));
  const v1::Job& job = state.jobs.at(job_id).job;
  v1::Event event = EventBy(principal, now);
  const bool is_repeated = std::ranges::any_of(job.notes(), [&](const v1::Note& note) {
    return note.step() == request.step() && note.text() == request.text() &&
           note.actor() == event.actor();
  });
  if (is_repeated) return std::vector<v1::Event>();
  if (job.notes_size() >= kMaxNotesOfJob) {
    return absl::FailedPreconditionError(
        absl::StrCat(JobText(job), " has ", job.notes_size(), " notes, and at most ",
                     kMaxNotesOfJob, " are allowed; delete notes that are no longer needed"));
  }
  v1::NoteWritten& written = *event.mutable_note_written();
  written.set_job_id(job_id);
  written.set_note_id(job.notes_written() + 1);
  written.set_step(request.step());
  written.set_text(request.text());
  return std::vector<v1::Event>{std::move(event)};
}

absl::StatusOr<std::vector<v1::Event>> DecideNoteDeletion(const ClusterState& state,
                                                          const v1::DeleteNoteRequest& request,
                                                          const Principal& principal,
                                                          Timestamp now) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, FindJob(state, request.job()));
  const v1::Job& job = state.jobs.at(job_id).job;
  const auto note = std::ranges::find(job.notes(), request.note(), &v1::Note::id);
  if (note == job.notes().end()) {
    return absl::NotFoundError(absl::StrCat(JobText(job), " has no note ", request.note(),
                                            "; `trainyard note ", job_id, "` lists its notes"));
  }
  v1::Event event = EventBy(principal, now);
  if (note->actor() != event.actor()) {
    return absl::PermissionDeniedError(absl::StrCat("note ", note->id(), " of ", JobText(job),
                                                    " was written by ", note->actor(),
                                                    ", who alone can delete it"));
  }
  v1::NoteDeleted& deleted = *event.mutable_note_deleted();
  deleted.set_job_id(job_id);
  deleted.set_note_id(note->id());
  deleted.set_step(note->step());
  return std::vector<v1::Event>{std::move(event)};
}

absl::Status NotesAreFinal(const v1::Job& job) {
  return absl::FailedPreconditionError(absl::StrCat(
      JobText(job), " ended long ago and is archived, so its notes can no longer be changed"));
}

}  // namespace trainyard::controller
