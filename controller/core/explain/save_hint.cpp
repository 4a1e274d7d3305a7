#include "controller/core/explain/save_hint.h"

#include <algorithm>
#include <csignal>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/state/gang.h"
#include "controller/core/state/job_timing.h"
#include "controller/core/state/starting_point.h"
#include "controller/core/support/text.h"
#include "proto/contract/exit_code.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// Returns "no checkpoint since step 100" or "no checkpoint yet".
std::string SinceText(const v1::Job& job) {
  const StartingPoint newest = NextStartingPoint(job);
  if (newest.step > 0) return absl::StrCat("no checkpoint since step ", newest.step);
  return newest.path.empty() ? "no checkpoint yet" : "no checkpoint since the job started";
}

const SaveProblem* ProblemOf(const Observations& observations, const JobEntry& entry) {
  const v1::Attempt* newest = NewestAttempt(entry);
  if (newest == nullptr) return nullptr;
  const auto attempt = observations.attempts.find({entry.job.id(), newest->number()});
  const bool has_trouble =
      attempt != observations.attempts.end() && attempt->second.save_problem.has_value();
  return has_trouble ? &*attempt->second.save_problem : nullptr;
}

// Returns the end of a sentence that states that the stop saved no checkpoint, and why. Empty if
// the newest attempt had no trouble saving.
std::string UnsavedText(const Observations& observations, const JobEntry& entry) {
  const SaveProblem* trouble = ProblemOf(observations, entry);
  const auto could_not_write = std::ranges::find_if(entry.exited_ranks, [](const auto& exited) {
    return exited.second.exit_code() == static_cast<int>(ExitCode::kCannotWrite);
  });
  std::string why;
  if (could_not_write != entry.exited_ranks.end()) {
    why = absl::StrCat("rank ", could_not_write->first, " exited with code ",
                       could_not_write->second.exit_code(), " (cannot write)");
  } else if (trouble != nullptr) {
    why = trouble->message;
  } else {
    return "";
  }
  return absl::StrCat("; no checkpoint was saved when the ranks stopped (", SinceText(entry.job),
                      "): ", why);
}

// Returns the places that SIGKILL ended during the stop, in ascending order.
std::vector<int> KilledPlaces(const JobEntry& entry) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  std::vector<int> places;
  for (const auto& [member, exited] : entry.exited_ranks) {
    const bool was_killed = exited.signal() == SIGKILL && !exited.out_of_memory();
    if (was_killed && IsSeated(entry, member)) places.push_back(PlaceOf(attempt.ranks(member)));
  }
  std::ranges::sort(places);
  return places;
}

std::string KilledText(const JobEntry& entry, const std::vector<int>& killed) {
  if (killed.empty() || entry.kill_requested) return "";
  return absl::StrCat("; SIGKILL ended ", RanksText(killed), ", which still ran after stop_grace (",
                      DurationText(StopGraceMs(entry)), ")");
}

// Returns, for example, "; steps 101 to 340 are in no checkpoint". Empty if the newest checkpoint
// has all steps.
std::string LostStepsText(const JobEntry& entry, int64_t last_step) {
  const int64_t saved =
      std::max(NextStartingPoint(entry.job).step, LiveAttempt(entry)->resume_step());
  if (last_step <= saved) return "";
  const std::string steps = last_step == saved + 1
                                ? absl::StrCat("step ", last_step, " is")
                                : absl::StrCat("steps ", saved + 1, " to ", last_step, " are");
  return absl::StrCat("; ", steps, " in no checkpoint");
}

}  // namespace

std::optional<v1::HealthFinding> WhyUnsaved(const Observations& observations,
                                            const JobEntry& entry) {
  const SaveProblem* trouble = ProblemOf(observations, entry);
  if (trouble == nullptr || entry.job.state() != v1::JOB_STATE_RUNNING) return std::nullopt;
  v1::HealthFinding finding;
  finding.set_word(v1::HEALTH_WORD_UNSAVED);
  finding.set_since_ms(trouble->since_ms);
  finding.set_message(
      absl::StrCat(SinceText(entry.job), ", because the save of step ", trouble->step,
                   trouble->blocked ? " is blocked: " : " failed: ", trouble->message));
  const std::string& directory = entry.job.spec().checkpoint().dir();
  finding.set_advice(trouble->unshared ? absl::StrCat("mount the same storage at ", directory,
                                                      " on every node of the job")
                                       : absl::StrCat("free disk space in ", directory));
  return finding;
}

std::string StopLossText(const Observations& observations, const JobEntry& entry,
                         int64_t last_step) {
  const std::vector<int> killed = KilledPlaces(entry);
  const std::string unsaved = entry.kill_requested ? "" : UnsavedText(observations, entry);
  std::string text = absl::StrCat(KilledText(entry, killed), unsaved);
  // Ranks that exited by themselves may have saved without a report.
  if (!killed.empty() || !unsaved.empty()) text += LostStepsText(entry, last_step);
  return text;
}

}  // namespace trainyard::controller
