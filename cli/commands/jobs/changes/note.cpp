#include "cli/commands/jobs/changes/note.h"

#include <algorithm>
#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/jobs/note_views.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Prints one line for people, or the job as a document for programs.
void PrintChange(const v1::Job& job, const std::string& what, Context& context) {
  if (IsTable(context.format)) {
    *context.console.out << "job " << job.id() << " " << job.name() << ": " << what << "\n";
    return;
  }
  PrintDocument(StableJson(job), absl::StrCat(job.id()), context.format, context.console);
}

Outcome Write(const std::string& job, const NoteOptions& options, Context& context) {
  v1::WriteNoteRequest request;
  request.set_job(job);
  request.set_text(options.text);
  request.set_user(context.environment.user);
  if (options.step.has_value()) request.set_step(*options.step);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::WriteNoteResponse response,
                             context.client.WriteNote(request));
  // The newest note with this text is the note that was just written or, if the request was a
  // repetition, the earlier note.
  const auto& notes = response.job().notes();
  const auto written = std::find_if(notes.rbegin(), notes.rend(), [&](const v1::Note& note) {
    return note.text() == options.text;
  });
  if (written == notes.rend()) return ExitCode::kOk;
  PrintChange(response.job(),
              absl::StrCat("note ", written->id(), " written on step ", written->step()), context);
  return ExitCode::kOk;
}

Outcome Delete(const std::string& job, int64_t note, Context& context) {
  v1::DeleteNoteRequest request;
  request.set_job(job);
  request.set_note(note);
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::DeleteNoteResponse response,
                             context.client.DeleteNote(request));
  PrintChange(response.job(), absl::StrCat("note ", note, " deleted"), context);
  return ExitCode::kOk;
}

Outcome List(const std::string& job, Context& context) {
  v1::GetJobRequest request;
  request.set_job(job);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse response, context.client.GetJob(request));
  PrintListing(NoteListing(response.job(), context.console.Now()), context.format, context.console);
  return ExitCode::kOk;
}

}  // namespace

void AddNote(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<NoteOptions>();
  CLI::App* command = parent.add_subcommand(
      "note", "Write a note on a step of a job; without a text, list the job's notes");
  command->add_option("job", options->job, kJobHelp)->required();
  command->add_option("text", options->text, "text of the note: one line of at most 500 bytes");
  command->add_option("--step", options->step, "training step (default: the newest one)");
  command->add_option("--delete", options->deleted, "delete your note with this number");
  grammar.runners[command] = [options](Context& context) { return RunNote(*options, context); };
}

Outcome RunNote(const NoteOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string job, ParseWholeJob(options.job));
  if (options.deleted.has_value()) {
    if (!options.text.empty() || options.step.has_value()) {
      return absl::InvalidArgumentError("--delete takes neither a text nor --step");
    }
    return Delete(job, *options.deleted, context);
  }
  if (!options.text.empty()) return Write(job, options, context);
  if (options.step.has_value()) {
    return absl::InvalidArgumentError("--step needs the text of the note");
  }
  return List(job, context);
}

}  // namespace trainyard::cli
