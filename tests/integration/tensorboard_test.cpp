// The TensorBoard event files of a program as the source of its metrics.
#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

class TensorboardTest : public testing::Test {
 protected:
  TensorboardTest() { std::filesystem::create_directories(PathOf("work")); }

  std::string PathOf(const std::string& name) const {
    return absl::StrCat(cluster_.directory(), "/", name);
  }

  // `script` is a line of a shell in which `write FIRST LAST EXIT_CODE` writes steps.
  int64_t SubmitJob(const std::string& name, const std::string& script) {
    return cluster_.Submit(cluster_.WriteJob(
        name, absl::StrCat("name: ", name, "\ncommand:\n  - sh\n  - -c\n  - |\n    write() { ",
                           "python3 -B ", SOURCE_ROOT, "/tests/integration/event_writer.py ",
                           "runs/", name, " \"$@\"; }\n    ", script, "\n",
                           "working_directory: ", PathOf("work"), "\ntensorboard: runs/", name,
                           "\nrestart: {backoff: 100ms}\nresources: {device: cpu}\n")));
  }

  MiniCluster cluster_{1};
};

TEST_F(TensorboardTest, MetricsArriveOnTheControllerWhileTheProgramRuns) {
  const int64_t job = SubmitJob("events", "write 1 100 0; exit $?");
  ASSERT_TRUE(cluster_.WaitForStep(job, 20)) << cluster_.DaemonLogs();
  EXPECT_EQ(cluster_.Job(job).state(), v1::JOB_STATE_RUNNING) << "metrics came only at the end";
  ASSERT_EQ(cluster_.WaitForEnd(job).state(), v1::JOB_STATE_SUCCEEDED);
  ASSERT_TRUE(Eventually([&] { return cluster_.Series(job, "loss").size() == 100; }))
      << cluster_.Series(job, "loss").size();
  const std::map<int64_t, double> loss = cluster_.Series(job, "loss");
  for (const auto& [step, value] : loss) EXPECT_FLOAT_EQ(value, 4.0F / static_cast<float>(step));
  EXPECT_EQ(cluster_.Series(job, "lr").size(), 100U);
  EXPECT_EQ(cluster_.Job(job).attempts(0).last_step(), 100);
}

TEST_F(TensorboardTest, ARestartReadsOnlyItsOwnSteps) {
  const int64_t job = SubmitJob("restarted",
                                "if [ $TRAINYARD_ATTEMPT = 1 ]; then write 1 40 3; else write 31 "
                                "60 0; fi");
  ASSERT_EQ(cluster_.WaitForEnd(job).state(), v1::JOB_STATE_SUCCEEDED) << cluster_.DaemonLogs();
  EXPECT_EQ(cluster_.Job(job).attempts_size(), 2);
  ASSERT_TRUE(Eventually([&] { return cluster_.Series(job, "loss").size() == 60; }))
      << cluster_.Series(job, "loss").size();
  EXPECT_EQ(cluster_.RawSeries(job, "loss", 1).steps_size(), 40);
  const v1::Series second = cluster_.RawSeries(job, "loss", 2);
  ASSERT_EQ(second.steps_size(), 30);
  EXPECT_EQ(second.steps(0), 31) << "the file of the first attempt was read again";
}

}  // namespace
}  // namespace trainyard::test
