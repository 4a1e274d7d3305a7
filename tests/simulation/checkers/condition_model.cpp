#include "tests/simulation/checkers/condition_model.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace trainyard::simulation {
namespace {

bool IsMetBy(v1::JobCondition kind, v1::JobState outcome) {
  switch (kind) {
    case v1::JOB_CONDITION_SUCCESS:
      return outcome == v1::JOB_STATE_SUCCEEDED;
    case v1::JOB_CONDITION_FAILURE:
      return outcome == v1::JOB_STATE_FAILED;
    default:
      return kind == v1::JOB_CONDITION_END;
  }
}

}  // namespace

std::string ConditionModel::Note(const v1::Event& event) {
  if (event.has_job_submitted()) return NoteSubmitted(event.job_submitted());
  if (event.has_checkpoint_published()) NoteCheckpoint(event.checkpoint_published());
  if (event.has_attempt_rolled_back()) {
    const v1::AttemptRolledBack& back = event.attempt_rolled_back();
    rollbacks_[back.job_id()].push_back({back.attempt(), back.rollback().first_bad_step()});
  }
  if (!event.has_job_ended()) return "";
  const v1::JobEnded& ended = event.job_ended();
  outcomes_[ended.job_id()] = ended.state();
  for (auto& [id, conditions] : conditions_) {
    for (Condition& condition : conditions) {
      if (condition.named == ended.job_id())
        condition.met |= IsMetBy(condition.kind, ended.state());
    }
  }
  return "";
}

std::string ConditionModel::NoteSubmitted(const v1::JobSubmitted& submitted) {
  for (const v1::Prerequisite& prerequisite : submitted.after()) {
    Condition condition{prerequisite.job_id(), prerequisite.condition(), prerequisite.step()};
    const auto outcome = outcomes_.find(condition.named);
    const bool has_ended = outcome != outcomes_.end();
    if (condition.kind == v1::JOB_CONDITION_CHECKPOINT) {
      condition.met = prerequisite.has_checkpoint_step();
      const int64_t step = prerequisite.checkpoint_step();
      if (condition.met && (step < condition.step || !saved_[condition.named].contains(step))) {
        return absl::StrCat("job ", submitted.job_id(), " was submitted with a wrong checkpoint");
      }
    } else if (has_ended) {
      condition.met = IsMetBy(condition.kind, outcome->second);
    }
    if (prerequisite.outcome() != (has_ended ? outcome->second : v1::JOB_STATE_UNSPECIFIED)) {
      return absl::StrCat("job ", submitted.job_id(), " was submitted with a wrong outcome");
    }
    conditions_[submitted.job_id()].push_back(condition);
  }
  return "";
}

void ConditionModel::NoteCheckpoint(const v1::CheckpointPublished& published) {
  if (IsRolledBack(published.job_id(), published.checkpoint())) return;
  const int64_t step = published.checkpoint().step();
  saved_[published.job_id()].insert(step);
  for (auto& [id, conditions] : conditions_) {
    for (Condition& condition : conditions) {
      const bool is_it = condition.named == published.job_id() && condition.step <= step &&
                         condition.kind == v1::JOB_CONDITION_CHECKPOINT;
      if (is_it) condition.met = true;
    }
  }
}

bool ConditionModel::IsRolledBack(int64_t job_id, const v1::Checkpoint& checkpoint) const {
  const auto rollbacks = rollbacks_.find(job_id);
  return rollbacks != rollbacks_.end() &&
         std::ranges::any_of(rollbacks->second, [&](const auto& rollback) {
           return checkpoint.attempt() <= rollback.first && checkpoint.step() >= rollback.second;
         });
}

bool ConditionModel::AreMet(int64_t job_id) const {
  const auto found = conditions_.find(job_id);
  return found == conditions_.end() || std::ranges::all_of(found->second, &Condition::met);
}

bool ConditionModel::HaveFailed(int64_t job_id, bool checkpoints) const {
  const auto found = conditions_.find(job_id);
  return found != conditions_.end() &&
         std::ranges::any_of(found->second, [&](const Condition& condition) {
           const bool counts = checkpoints || condition.kind != v1::JOB_CONDITION_CHECKPOINT;
           return counts && !condition.met && outcomes_.contains(condition.named);
         });
}

}  // namespace trainyard::simulation
