#include "controller/core/explain/save_hint.h"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/starting_point.h"
#include "controller/core/state/attempts/work_at_risk.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/support/text.h"
#include "proto/contract/exit_code.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// Shells and containers report a signal as this exit code plus the number of the signal.
constexpr int kExitCodeOfSignal = 128;

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

// Returns the cause of a failed checkpoint. Omits the text after the first semicolon: the trainer's
// next action, which does not apply to a rank that has exited.
std::string_view CauseOfFailedSave(const SaveProblem& trouble) {
  return std::string_view(trouble.message).substr(0, trouble.message.find("; "));
}

bool CouldNotWrite(const v1::RankExited& exited) {
  return exited.exit_code() == static_cast<int>(ExitCode::kCannotWrite);
}

// Returns the places that SIGKILL ended during the stop, in ascending order.
std::vector<int> KilledPlaces(const JobEntry& entry) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  std::vector<int> places;
  for (const auto& [member, exited] : entry.exited_ranks) {
    const bool was_killed = (exited.signal() == SIGKILL && !exited.out_of_memory()) ||
                            exited.exit_code() == kExitCodeOfSignal + SIGKILL;
    if (was_killed && IsSeated(entry, member)) places.push_back(PlaceOf(attempt.ranks(member)));
  }
  std::ranges::sort(places);
  return places;
}

// Returns why the ranks of the newest attempt exited without a checkpoint. Empty if nothing shows
// that a save failed.
std::string WhyNotSaved(const Observations& observations, const JobEntry& entry) {
  constexpr char kFailed[] = "no checkpoint was saved when the ranks stopped: ";
  const auto rank = std::ranges::find_if(
      entry.exited_ranks, [](const auto& exited) { return CouldNotWrite(exited.second); });
  if (rank != entry.exited_ranks.end()) {
    return absl::StrCat(kFailed, "rank ", rank->first, " exited with code ",
                        rank->second.exit_code(), " (cannot write)");
  }
  const SaveProblem* trouble = ProblemOf(observations, entry);
  if (trouble != nullptr) return absl::StrCat(kFailed, std::string(CauseOfFailedSave(*trouble)));
  // A program that has never reported a checkpoint may save without reporting it.
  const bool may_have_saved = entry.job.checkpoints().empty() || KilledPlaces(entry).empty();
  return may_have_saved ? "" : "the ranks were killed before they saved a checkpoint";
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
      absl::StrCat(SinceText(entry.job), ", because the checkpoint of step ", trouble->step,
                   trouble->blocked ? " is blocked: " : " failed: ", trouble->message));
  const std::string& directory = entry.job.spec().checkpoint().dir();
  finding.set_advice(trouble->unshared ? absl::StrCat("mount the same storage at ", directory,
                                                      " on every node of the job")
                                       : absl::StrCat("free disk space in ", directory));
  return finding;
}

std::string KilledText(const JobEntry& entry) {
  const std::vector<int> killed = KilledPlaces(entry);
  if (killed.empty() || entry.kill_requested) return "";
  return absl::StrCat("; SIGKILL ended ", RanksText(killed), ", which still ran after stop_grace (",
                      DurationText(StopGraceMs(entry)), ")");
}

LostWork LostByStop(const Observations& observations, const JobEntry& entry, int64_t last_step) {
  const std::string why = WhyNotSaved(observations, entry);
  if (why.empty()) return {};
  const WorkAtRisk work = WorkAtRiskOf(entry.job, *NewestAttempt(entry), last_step);
  if (work.steps == 0) return {};
  const std::string steps = work.saved_step > 0 ? absl::StrCat(Counted(work.steps, "step"),
                                                               " after step ", work.saved_step)
                                                : absl::StrCat("all ", Counted(work.steps, "step"));
  return {work.steps,
          absl::StrCat(steps, work.steps == 1 ? " is" : " are", " lost, because ", why)};
}

}  // namespace trainyard::controller
