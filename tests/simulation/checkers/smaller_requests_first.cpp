// A waiting job is not overtaken by a later job of the same user, queue and priority that requests
// at least as much (nodes, slots, cores and memory) and ends no sooner: the slots of the later job
// would have sufficed for the earlier one. Jobs that have run before are left out, because they
// avoid nodes on which they failed, and jobs whose layout the controller chooses, because their
// layout decides.
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/slots/class_of_job.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

using controller::JobClass;

class SmallerRequestsFirstChecker : public Checker {
 public:
  const char* Name() const override { return "smaller requests first"; }

  std::string Check(const Step& step) override {
    std::string violation;
    for (std::size_t i = step.first_new; i < step.log.size() && violation.empty(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_job_placed()) violation = CheckPlaced(event.job_placed(), step);
    }
    NoteWaiting(step);
    return violation;
  }

 private:
  std::string CheckPlaced(const v1::JobPlaced& placed, const Step& step) {
    waiting_.erase(placed.job_id());
    if (first_.contains(placed.job_id())) return "";
    const auto found = step.state.jobs.find(placed.job_id());
    if (found == step.state.jobs.end() || placed.attempt() > 1) return "";
    const JobClass its_class = controller::ClassOf(found->second.job);
    for (const auto& [id, other] : waiting_) {
      // A job that was paused or stopped in this step does not wait any more. A job that was moved
      // in this step had another place in the queue.
      const auto job = step.state.jobs.find(id);
      if (job == step.state.jobs.end() || job->second.job.state() != v1::JOB_STATE_QUEUED) continue;
      if (controller::ClassOf(job->second.job) != other) continue;
      const bool is_earlier = NumberOf(other, id) < NumberOf(its_class, placed.job_id());
      if (is_earlier && Suffices(its_class, other)) {
        return absl::StrCat("job ", placed.job_id(), " overtook job ", id);
      }
    }
    return "";
  }

  // An element of an array has the place of the array.
  static int64_t NumberOf(const JobClass& job_class, int64_t job_id) {
    return job_class.array_id != 0 ? job_class.array_id : job_id;
  }

  // Returns true if the slots of a job of class `its` suffice for a job of class `other`.
  static bool Suffices(const JobClass& its, const JobClass& other) {
    return its.kind == other.kind && its.queue == other.queue && its.user == other.user &&
           its.priority == other.priority && its.nodes >= other.nodes &&
           its.slots_per_node >= other.slots_per_node &&
           its.host_per_rank.cpus >= other.host_per_rank.cpus &&
           its.host_per_rank.memory_bytes >= other.host_per_rank.memory_bytes &&
           its.checkpoint_parent == other.checkpoint_parent &&
           (other.placement.empty() || its.placement == other.placement) &&
           its.longest_hold_ms == other.longest_hold_ms;
  }

  // A job counts from the step after it began to wait: in the same step, its submission may have
  // come after the pass.
  void NoteWaiting(const Step& step) {
    waiting_.clear();
    first_.clear();
    for (const auto& [job_class, jobs] : step.state.pending_classes) {
      const int64_t alone = job_class.only_job;
      if (alone != 0 && step.state.jobs.at(alone).job.preempts()) first_.insert(alone);
      if (alone != 0) continue;
      for (const int64_t id : jobs) waiting_.emplace(id, job_class);
    }
  }

  std::map<int64_t, JobClass> waiting_;
  // Waiting jobs for which other jobs were preempted. They precede all others.
  std::set<int64_t> first_;
};

}  // namespace

std::unique_ptr<Checker> SmallerRequestsFirst() {
  return std::make_unique<SmallerRequestsFirstChecker>();
}

}  // namespace trainyard::simulation
