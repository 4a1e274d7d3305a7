// Planned hand-overs between two controllers on one database, with real processes.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/chaos_job.h"
#include "tests/integration/controller_pair.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr int kHandOvers = 3;
constexpr char kNoController[] = "127.0.0.1:1";

class HandOverTest : public ControllerPair {
 protected:
  void SetUp() override { StartPair(); }

  // Waits until the refusal of a hand-over to a wrong address contains the text.
  bool WaitForRefusal(const std::string& text) const {
    return Eventually(
        [&] {
          const CommandResult refused = Cli({"server", "hand-over", "--to", kNoController});
          EXPECT_NE(refused.exit_code, 0);
          return refused.error.find(text) != std::string::npos;
        },
        Seconds(30));
  }

  std::vector<v1::Event> HandOversInLog() const {
    std::vector<v1::Event> found;  // Newest first.
    const v1::ListEventsResponse response = cluster_->Events(1000);
    for (const v1::EventEntry& entry : response.events()) {
      if (entry.event().has_leadership_handed_over()) found.push_back(entry.event());
    }
    return found;
  }
};

TEST_F(HandOverTest, ATrainingRunAndAllSubmissionsContinue) {
  ChaosJob chaos(*cluster_, "chaos", kWorkerNodes);
  ASSERT_TRUE(cluster_->WaitForStep(chaos.id(), 5)) << cluster_->DaemonLogs();
  std::atomic<bool> stop = false;
  double longest = 0;
  std::thread submitter([&] {
    while (!stop && !HasFailure()) longest = std::max(longest, SubmitSmallJob());
  });
  std::vector<std::string> leaders = {members_[leader_].address};
  for (int i = 0; i < kHandOvers && !HasFailure(); ++i) {
    HandOver();
    leaders.push_back(members_[leader_].address);
    const int64_t step = cluster_->Job(chaos.id()).progress().step();
    EXPECT_TRUE(cluster_->WaitForStep(chaos.id(), step + 1)) << cluster_->DaemonLogs() << Logs();
  }
  stop = true;
  submitter.join();
  EXPECT_LT(longest, 10) << "a submission waits for the next leader only";
  const std::vector<v1::Event> events = HandOversInLog();
  ASSERT_EQ(events.size(), static_cast<std::size_t>(kHandOvers));
  for (int i = 0; i < kHandOvers; ++i) {
    const v1::Event& event = events[kHandOvers - 1 - i];
    EXPECT_THAT(event.actor(), StartsWith("user "));
    EXPECT_EQ(event.leadership_handed_over().from(), leaders[i]);
    EXPECT_EQ(event.leadership_handed_over().to(), leaders[i + 1]);
  }
  ASSERT_NO_FATAL_FAILURE(chaos.FinishInOneAttempt("a hand-over ends no attempt"));
  CheckSmallJobs();
  EXPECT_EQ(CheckTerms(), 1 + kHandOvers) << "each hand-over begins one term";
}

TEST_F(HandOverTest, WithoutAReadyStandbyTheLeaderGoesOnLeading) {
  const std::string standby = members_[1 - leader_].address;
  EXPECT_TRUE(WaitForRefusal(std::string(kNoController) +
                             " is not a standby of this cluster; ready standbys: " + standby))
      << Logs();
  const CommandResult itself = Cli({"server", "hand-over", "--to", members_[leader_].address});
  EXPECT_THAT(itself.error, HasSubstr("leads already"));
  members_[1 - leader_].process->Signal(SIGKILL);
  members_[1 - leader_].process->Wait();
  EXPECT_TRUE(WaitForRefusal("no standby is ready")) << Logs();
  for (const auto& to : {std::vector<std::string>{}, {"--to", standby}}) {
    std::vector<std::string> command = {"server", "hand-over"};
    command.insert(command.end(), to.begin(), to.end());
    const CommandResult refused = Cli(command);
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.error, HasSubstr("no standby is ready"));
  }
  EXPECT_TRUE(members_[leader_].process->Running());
  SubmitSmallJob();
  CheckSmallJobs();
  EXPECT_TRUE(HandOversInLog().empty());
}

TEST_F(HandOverTest, ASuccessorThatStopsLeavesTheLeadershipToTheOther) {
  const int former = leader_;
  const int next = 1 - former;
  bool accepted = false;
  std::vector<std::thread> callers;
  // On a slow machine, the report of the stopped standby may be too old for the request.
  for (int i = 0; i < 5 && !accepted; ++i) {
    members_[next].process->Signal(SIGCONT);
    ASSERT_TRUE(WaitForRefusal("ready standbys: " + members_[next].address)) << Logs();
    members_[next].process->Signal(SIGSTOP);
    // The command waits in vain for the stopped standby.
    callers.emplace_back([&] {
      EXPECT_NE(Cli({"server", "hand-over", "--to", members_[next].address}).exit_code, 0);
    });
    accepted = members_[former].process->Wait(Seconds(5)) == kExitLeadershipLost;
  }
  EXPECT_TRUE(accepted) << Logs();
  StartMember(former);
  EXPECT_LT(SubmitSmallJob(), 10) << "the wait for the named successor has a limit";
  for (std::thread& caller : callers) caller.join();
  members_[next].process->Signal(SIGCONT);
  EXPECT_TRUE(FindLeader()) << Logs();
  EXPECT_EQ(leader_, former);
  CheckSmallJobs();
}

}  // namespace
}  // namespace trainyard::test
