// A command hook at two controllers on one database, with real processes. Each leader continues
// after the last event that its predecessor has delivered and stored.
#include <signal.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "controller/store/postgres/postgres_leader_notes.h"
#include "controller/store/support/leader_notes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/temporary_directory.h"
#include "tests/integration/controller_pair.h"

namespace trainyard::test {
namespace {

using testing::ElementsAreArray;

class HookFailoverTest : public ControllerPair {
 protected:
  void SetUp() override {
    const std::string calls = CallsFile();
    const std::string config = hook_directory_.File("hooks.yaml");
    WriteFile(config, absl::StrCat("hooks:\n  - name: pager\n    on: [job_done]\n",
                                   "    command: [/bin/sh, -c, 'cat >> ", calls, "; echo >> ",
                                   calls, "']\n"));
    flags_ = {"--config", config};
    StartPair();
  }

  std::string CallsFile() const { return hook_directory_.File("calls"); }

  // Returns the notices that the command has received so far.
  std::vector<nlohmann::json> Calls() const {
    std::vector<std::string> lines = absl::StrSplit(ReadFile(CallsFile()), '\n');
    lines.pop_back();  // Has no line end yet, or is empty.
    std::vector<nlohmann::json> calls;
    for (const std::string& line : lines) calls.push_back(nlohmann::json::parse(line));
    return calls;
  }

  // Waits until the hook has been called for all small jobs, and until the leader has stored this.
  void WaitForCalls() const {
    CheckSmallJobs();
    ASSERT_FALSE(small_jobs_.empty());
    ASSERT_TRUE(Eventually([&] { return Calls().size() >= small_jobs_.size(); })) << Logs();
    const nlohmann::json newest = Calls().back();
    const std::string position = absl::StrCat(newest.value("cluster_id", std::string()), " ",
                                              newest.value("sequence", uint64_t{0}));
    controller::PostgresLeaderNotes notes(settings_, 0);
    const std::string name = absl::StrCat(controller::kHookNote, "pager");
    ASSERT_TRUE(Eventually([&] { return notes.Read(name).value_or("") == position; })) << Logs();
  }

  const TemporaryDirectory hook_directory_;
};

TEST_F(HookFailoverTest, EachLeaderContinuesAfterTheLastStoredEvent) {
  SubmitSmallJob();
  ASSERT_NO_FATAL_FAILURE(WaitForCalls());
  const int failed = leader_;
  members_[failed].process->Signal(SIGKILL);
  members_[failed].process->Wait();
  SubmitSmallJob();
  StartMember(failed);
  ASSERT_TRUE(FindLeader()) << Logs();
  ASSERT_EQ(leader_, 1 - failed);
  ASSERT_NO_FATAL_FAILURE(WaitForCalls());
  HandOver();
  ASSERT_EQ(leader_, failed) << "the first leader leads again";
  SubmitSmallJob();
  ASSERT_NO_FATAL_FAILURE(WaitForCalls());
  std::vector<int64_t> called;
  for (const nlohmann::json& call : Calls()) called.push_back(call.value("job_id", int64_t{0}));
  std::vector<int64_t> jobs;
  for (const auto& [id, name] : small_jobs_) jobs.push_back(id);
  EXPECT_THAT(called, ElementsAreArray(jobs)) << "each event is delivered once";
}

}  // namespace
}  // namespace trainyard::test
