#include "controller/core/decide/exec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/support/principal_event.h"
#include "controller/core/support/text.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"
#include "proto/text/printable.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

constexpr int kMaxTerminalSide = 10'000;
constexpr std::size_t kMaxTerminalTypeBytes = 64;

bool IsSide(int cells) { return cells >= 1 && cells <= kMaxTerminalSide; }

absl::Status NotRunning(const v1::Job& job, absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat(JobText(job), " ", why, "; exec needs a running rank"));
}

absl::Status IsAnArray(const v1::Job& job) {
  return absl::FailedPreconditionError(absl::StrCat(
      JobText(job), " is an array and has no ranks; name an element, such as ",
      ElementName(job.name(), 0), ", or a rank of it, such as ", ElementName(job.name(), 0),
      ".1. `trainyard array ", job.name(), "` lists the elements"));
}

// Returns why a live job has no rank at present, and the next step.
absl::Status HasNoRank(const v1::Job& job) {
  switch (job.state()) {
    case v1::JOB_STATE_QUEUED:
      return NotRunning(
          job, absl::StrCat("is queued (`trainyard why ", job.id(), "` shows why it waits)"));
    case v1::JOB_STATE_PAUSED:
    case v1::JOB_STATE_PAUSING:
    case v1::JOB_STATE_HELD:
      return NotRunning(job, absl::StrCat("is paused (`trainyard resume ", job.id(),
                                          "` returns it to the queue)"));
    case v1::JOB_STATE_RECOVERING:
      return NotRunning(job, absl::StrCat("is between two attempts (`trainyard why ", job.id(),
                                          "` shows when the next one starts)"));
    default:
      return NotRunning(job, "has no running attempt");
  }
}

absl::Status CheckArguments(const v1::ExecCommand& command) {
  std::size_t bytes = 0;
  for (const std::string& word : command.argv()) {
    bytes += word.size() + 1;
    if (word.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError("the command contains a NUL byte");
    }
  }
  if (bytes > kMaxExecCommandBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the command has ", bytes, " bytes; at most ", kMaxExecCommandBytes,
                     " are allowed. Send long input through standard input"));
  }
  if (command.argv_size() > 0 ? !command.argv(0).empty() : command.terminal()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the command is empty; name a program after `--`");
}

}  // namespace

absl::StatusOr<ExecTarget> FindExecTarget(const JobEntry& entry, int place) {
  const v1::Job& job = entry.job;
  if (HasEnded(job.state())) {
    return NotRunning(job,
                      absl::StrCat("has ended (`trainyard logs ", job.id(), "` shows its output)"));
  }
  if (IsArray(job.spec())) return IsAnArray(job);
  const v1::Attempt* attempt = NewestAttempt(entry);
  if (attempt == nullptr || attempt->state() == v1::ATTEMPT_STATE_ENDED) return HasNoRank(job);
  const std::vector<const v1::RankPlacement*> members = SeatedMembers(*attempt);
  const auto found = std::ranges::find_if(
      members, [&](const v1::RankPlacement* member) { return PlaceOf(*member) == place; });
  if (found == members.end()) {
    return absl::InvalidArgumentError(absl::StrCat(JobText(job), " has no rank ", place,
                                                   "; its ranks are 0 to ", members.size() - 1));
  }
  const v1::RankPlacement& member = **found;
  if (entry.exited_ranks.contains(member.rank())) {
    return NotRunning(job, absl::StrCat("has rank ", place, ", which has exited"));
  }
  if (!entry.started_ranks.contains(member.rank())) {
    return NotRunning(job, absl::StrCat("has rank ", place, ", which has not started yet"));
  }
  return ExecTarget{{job.id(), attempt->number()}, place, member.rank(), member.node_id()};
}

absl::Status CheckExecCommand(const v1::ExecCommand& command) {
  TRAINYARD_RETURN_IF_ERROR(CheckArguments(command));
  if (!command.terminal()) return absl::OkStatus();
  if (!IsSide(command.size().rows()) || !IsSide(command.size().columns())) {
    return absl::InvalidArgumentError(
        absl::StrCat("size: rows and columns of a terminal must be from 1 to ", kMaxTerminalSide));
  }
  const std::string& type = command.terminal_type();
  const bool is_plain = std::ranges::all_of(type, [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '+' || c == '.' || c == '_';
  });
  if (is_plain && type.size() <= kMaxTerminalTypeBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "terminal_type: must have at most ", kMaxTerminalTypeBytes,
      " letters, digits and characters of `-+._`, as the variable TERM; set TERM to such a value"));
}

absl::StatusOr<std::vector<v1::Event>> DecideExec(const ClusterState& state,
                                                  const OpenExecSession& request, Timestamp now) {
  const JobEntry* entry = FindEntry(state, request.attempt.job_id);
  if (entry == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "job ", request.attempt.job_id, " has ended and is archived; exec needs a running rank"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const ExecTarget target, FindExecTarget(*entry, request.place));
  if (target.attempt.number != request.attempt.number) {
    return NotRunning(entry->job, "has just started a new attempt");
  }
  v1::Event event = EventBy(request.principal, now);
  v1::ExecOpened& opened = *event.mutable_exec_opened();
  opened.set_job_id(target.attempt.job_id);
  opened.set_attempt(target.attempt.number);
  opened.set_rank(target.place);
  opened.set_node_id(target.node_id);
  opened.set_command(std::string(Utf8Prefix(
      PrintableLine(absl::StrJoin(request.command.argv(), " "), false), kMaxReasonBytes)));
  return std::vector<v1::Event>{std::move(event)};
}

}  // namespace trainyard::controller
