#include "controller/core/state/jobs/job_state_machine.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

// The transition table is incomplete if a state cannot be reached, or if a job cannot be stopped in
// a live state.
TEST(JobStateMachineTest, EveryStateIsReachableAndEveryLiveOneCanBeStopped) {
  // JobState_MIN is JOB_STATE_UNSPECIFIED, which no job has.
  for (int number = v1::JobState_MIN + 1; number <= v1::JobState_MAX; ++number) {
    const auto state = static_cast<v1::JobState>(number);
    const bool reachable =
        state == v1::JOB_STATE_QUEUED ||
        std::ranges::any_of(kJobTransitions, [=](const auto& edge) { return edge.to == state; });
    EXPECT_TRUE(reachable) << v1::JobState_Name(state);
    // Every job has either ended or can be stopped, never both.
    EXPECT_NE(HasEnded(state),
              CanMove(state, v1::JOB_STATE_STOPPING) || CanMove(state, v1::JOB_STATE_STOPPED))
        << v1::JobState_Name(state);
  }
}

// The diagram in controller/core/README.md has exactly the edges of kJobTransitions.
TEST(JobStateMachineTest, ReadmeDrawsTheTable) {
  std::ifstream file(TRAINYARD_CORE_README);
  std::stringstream text;
  text << file.rdbuf();
  std::set<std::string> drawn;
  for (std::string line; std::getline(text, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || line.find(" --> ") == std::string::npos) continue;
    // [*] is the diagram's start mark, not a state.
    if (line.find("[*]") == std::string::npos) drawn.insert(line.substr(begin));
  }
  std::set<std::string> table;
  for (const auto& edge : kJobTransitions) {
    table.insert(absl::StrCat(EnumText(edge.from), " --> ", EnumText(edge.to)));
  }
  EXPECT_EQ(drawn, table);
}

TEST(JobStateMachineDeathTest, RefusesMovesThatAreNotInTheTable) {
  v1::Job job;
  job.set_state(v1::JOB_STATE_SUCCEEDED);
  EXPECT_DEATH(MoveJob(v1::JOB_STATE_RUNNING, job), "cannot go from JOB_STATE_SUCCEEDED");
  v1::Attempt attempt;
  attempt.set_state(v1::ATTEMPT_STATE_ENDED);
  EXPECT_DEATH(MoveAttempt(v1::ATTEMPT_STATE_RUNNING, attempt), "cannot go from");
}

}  // namespace
}  // namespace trainyard::controller
