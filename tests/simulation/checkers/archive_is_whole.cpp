// Every submitted job that was not deleted is either in the state or in the archive, never in both.
// The archived record equals the job at its end. No process of an archived job is running, except
// on lost nodes.
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/time_shift.h"
#include "controller/core/state/jobs/origin_list.h"
#include "google/protobuf/util/message_differencer.h"
#include "proto/support/job_state.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class ArchiveIsWholeChecker : public Checker {
 public:
  const char* Name() const override { return "archive is whole"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_job_submitted()) submitted_.insert(event.job_submitted().job_id());
      if (event.has_job_deleted()) deleted_.insert(event.job_deleted().job_id());
      if (event.has_clock_set()) ShiftLastKnown(event.clock_set().step_ms());
      if (!event.has_job_archived()) continue;
      std::string wrong = CheckRecord(event.job_archived().job_id(), step);
      if (!wrong.empty()) return wrong;
    }
    for (const auto& [id, entry] : step.state.jobs)
      last_known_[id] = {entry.job, entry.origin_list};
    if (step.first_new == step.log.size()) return "";
    for (const int64_t id : submitted_) {
      const bool live = step.state.jobs.contains(id);
      if (deleted_.contains(id)) {
        if (live || step.archive.contains(id)) return absl::StrCat("deleted job ", id, " is there");
        continue;
      }
      if (live == step.archive.contains(id)) {
        return absl::StrCat("job ", id, live ? " is in state and archive" : " is lost");
      }
      if (!live && !controller::IsArchived(step.state, id)) {
        return absl::StrCat("the state does not know that job ", id, " is archived");
      }
    }
    return "";
  }

 private:
  // When the clock is set, shifts the times of the last known jobs. A job may be archived in that
  // step.
  void ShiftLastKnown(int64_t step_ms) {
    for (auto& [id, known] : last_known_) controller::ShiftTimes(step_ms, known.first);
  }

  std::string CheckRecord(int64_t id, const Step& step) {
    const auto found = step.archive.find(id);
    if (found == step.archive.end()) return absl::StrCat("job ", id, " has no record");
    v1::Job job = found->second.job();
    if (!HasEnded(job.state())) return absl::StrCat("job ", id, " is archived and has not ended");
    for (const auto& [key, process] : step.world.processes()) {
      if (process.attempt.job_id == id && !process.exited.has_value() &&
          step.state.nodes.at(process.node_id).node.state() != v1::NODE_STATE_LOST) {
        return absl::StrCat("job ", id, " is archived and runs on ", process.node_id);
      }
    }
    // Progress and newest steps are excluded, because observations are not stored.
    auto [expected, origin_list] = last_known_[id];
    controller::UnpackOrigins(origin_list, expected);
    for (v1::Job* one : {&job, &expected}) {
      one->clear_progress();
      for (v1::Attempt& attempt : *one->mutable_attempts()) attempt.clear_last_step();
    }
    // NaN must equal NaN, because the record of a job that was rolled back for a NaN loss contains
    // that loss.
    google::protobuf::util::DefaultFieldComparator comparator;
    comparator.set_treat_nan_as_equal(true);
    google::protobuf::util::MessageDifferencer differencer;
    differencer.set_field_comparator(&comparator);
    if (differencer.Compare(job, expected)) return "";
    return absl::StrCat("the record of job ", id, " is not the job as it ended");
  }

  std::set<int64_t> submitted_;
  std::set<int64_t> deleted_;
  // Each job and its origins.
  std::map<int64_t, std::pair<v1::Job, std::string>> last_known_;
};

}  // namespace

std::unique_ptr<Checker> ArchiveIsWhole() { return std::make_unique<ArchiveIsWholeChecker>(); }

}  // namespace trainyard::simulation
