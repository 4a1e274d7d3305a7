#include "controller/core/explain/save_hint.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/state/starting_point.h"
#include "proto/contract/exit_code.h"

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

}  // namespace trainyard::controller
