// A gang with spare nodes, and functions that send reports of its ranks.
#ifndef TRAINYARD_TESTS_CONTROLLER_CORE_VERDICT_HEAL_FIXTURE_H_
#define TRAINYARD_TESTS_CONTROLLER_CORE_VERDICT_HEAL_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {

// Returns the first event of this kind; nullptr if there is none.
inline const v1::Event* Find(const std::vector<v1::Event>& events, v1::Event::KindCase kind) {
  const auto found = std::ranges::find(events, kind, &v1::Event::kind_case);
  return found == events.end() ? nullptr : &*found;
}

// A gang on nodes with two ranks each. The first nodes (a and b in most tests) train; the others
// are spares.
class HealPolicyTest : public ::testing::Test {
 protected:
  void Start(int spares, int nodes = 2) {
    for (int i = 0; i < nodes + spares; ++i) {
      cluster_.AddNode(std::string(1, static_cast<char>('a' + i)), 2);
    }
    job_ = cluster_.Submit(SparesSpec("job", nodes, 2, spares));
    cluster_.RunJob(job_);
  }

  // Every node reports its members as running, and the gang as training at `step`. If `adopted` is
  // true, the members that occupy places also report the newest generation.
  void Report(int64_t step, bool adopted = true, const std::string& phase = "train") {
    for (const std::string& node_id : GangNodes(Attempt())) {
      v1::AttemptReport& report = cluster_.Report(node_id, job_);
      report.clear_ranks();
      for (const v1::RankPlacement& member : Attempt().ranks()) {
        if (member.node_id() != node_id) continue;
        v1::RankReport& rank = *report.add_ranks();
        rank.set_rank(member.rank());
        rank.set_running(!Entry().exited_ranks.contains(member.rank()));
        rank.set_phase(IsStandby(member) ? "standby" : phase);
        rank.set_step(step);
        rank.set_last_activity_ms(step);
        rank.mutable_newest()->set_step(step);
        if (adopted && IsSeated(member)) {
          rank.set_ordered_generation(GenerationOf(Attempt()));
          rank.mutable_newest()->set_generation(GenerationOf(Attempt()));
        }
      }
    }
  }

  void Train(int64_t step) {
    Report(step);
    cluster_.Step(job_, 0, step, 0.5);
    cluster_.Pass(1000);
  }

  void Kill(int rank, int signal = 9) {
    v1::RankExited exited;
    exited.set_rank(rank);
    exited.set_signal(signal);
    exited.set_time_ms(cluster_.now);
    cluster_.Exit(job_, exited);
  }

  const v1::Attempt& Attempt() const { return cluster_.Attempt(job_); }
  const JobEntry& Entry() const { return cluster_.state.jobs.at(job_); }
  // Returns each place with the member that occupies it, such as "0:0 1:1 2:4 3:5".
  std::string Seats() const {
    std::string text;
    const auto members = SeatedMembers(Attempt());
    for (std::size_t place = 0; place < members.size(); ++place) {
      absl::StrAppend(&text, place == 0 ? "" : " ", place, ":", members[place]->rank());
    }
    return text;
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_VERDICT_HEAL_FIXTURE_H_
