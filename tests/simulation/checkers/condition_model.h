// The conditions in `after` of all jobs, derived from the event log without the controller's code.
#ifndef TRAINYARD_TESTS_SIMULATION_CHECKERS_CONDITION_MODEL_H_
#define TRAINYARD_TESTS_SIMULATION_CHECKERS_CONDITION_MODEL_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trainyard/v1/event.pb.h"

namespace trainyard::simulation {

class ConditionModel {
 public:
  // Returns a description of a wrong event; "" if the event is right.
  std::string Note(const v1::Event& event);

  // Returns true if all conditions of the job are met.
  bool AreMet(int64_t job_id) const;

  // Returns true if a job that this job names has ended without meeting its condition. Conditions
  // on checkpoints count only if `checkpoints` is true.
  bool HaveFailed(int64_t job_id, bool checkpoints) const;

 private:
  struct Condition {
    int64_t named = 0;
    v1::JobCondition kind = v1::JOB_CONDITION_UNSPECIFIED;
    int64_t step = 0;
    bool met = false;
  };

  std::string NoteSubmitted(const v1::JobSubmitted& submitted);
  void NoteCheckpoint(const v1::CheckpointPublished& published);
  bool IsRolledBack(int64_t job_id, const v1::Checkpoint& checkpoint) const;

  std::map<int64_t, std::vector<Condition>> conditions_;
  std::map<int64_t, v1::JobState> outcomes_;
  // The steps of published checkpoints, by job.
  std::map<int64_t, std::set<int64_t>> saved_;
  // The attempt and the first bad step of each rollback, by job.
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> rollbacks_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_CHECKERS_CONDITION_MODEL_H_
