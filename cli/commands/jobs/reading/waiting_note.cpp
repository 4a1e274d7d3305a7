#include "cli/commands/jobs/reading/waiting_note.h"

#include "absl/strings/str_cat.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {

bool IsWaiting(v1::JobState state) {
  return state == v1::JOB_STATE_QUEUED || state == v1::JOB_STATE_PAUSED ||
         state == v1::JOB_STATE_HELD;
}

std::vector<std::string> WaitingNotes(const std::string& job, Client& client) {
  v1::WhyJobRequest request;
  request.set_job(job);
  const absl::StatusOr<v1::WhyJobResponse> why = client.WhyJob(request);
  if (!why.ok() || why->pending().message().empty()) return {};
  std::vector<std::string> notes = {absl::StrCat("waiting: ", OneLine(why->pending().message()))};
  if (why->pending().code() == v1::PENDING_CODE_PAUSED) {
    notes.push_back(absl::StrCat("  ", OneLine(why->pending().advice())));
  }
  return notes;
}

}  // namespace trainyard::cli
