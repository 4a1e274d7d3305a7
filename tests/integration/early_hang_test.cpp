// Tests, with real processes, gangs that hang before their pace is known or after a rank has
// exited.
#include <chrono>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using std::chrono::steady_clock;
using testing::ElementsAre;
using testing::HasSubstr;

// Each rank runs the given number of steps of 0.2 s and reports the steps in its telemetry. The
// next action depends on its argument: "exit" exits with 0, "hang" writes no output or telemetry,
// and "wait" waits in an all-reduce that rank 1 does not join.
constexpr char kProgram[] = R"(import json, os, sys, time
rank = int(os.environ["RANK"])
steps, end = int(sys.argv[1]), sys.argv[2 + rank]
with open(os.environ["TRAINYARD_TELEMETRY"], "a") as out:
    def tell(**fields):
        print(json.dumps({"time_ms": int(time.time() * 1000), **fields}), file=out, flush=True)
    tell(type="phase", phase="train", step=0)
    for step in range(1, steps + 1):
        time.sleep(0.2)
        tell(type="metrics", step=step, loss=1.0, step_seconds=0.2)
    if end == "wait":
        tell(type="flight", group="world", ranks="0-1", sequence=steps + 1,
             operation="all-reduce", entered_ms=int(time.time() * 1000))
while end != "exit":
    time.sleep(60)
)";

// Prints its steps in the format of nanoGPT, and writes no telemetry.
constexpr char kPrintingProgram[] = R"(import os, sys, time
for i in range(1, 11):
    print("iter %d: loss %.3f, time 100.00ms, mfu 1.00%%" % (i, 5 - i / 10), flush=True)
    time.sleep(0.1)
while sys.argv[1 + int(os.environ["RANK"])] != "exit":
    time.sleep(60)
)";

class EarlyHangTest : public testing::Test {
 protected:
  EarlyHangTest() : cluster_(2) {}

  // Submits a job with two ranks that is never restarted.
  void Submit(const std::string& program, const std::string& arguments, const std::string& more) {
    const std::string path = absl::StrCat(cluster_.directory(), "/train.py");
    WriteFile(path, program);
    job_ = cluster_.Submit(cluster_.WriteJob(
        "hangs", absl::StrCat("name: hangs\nresources: {nodes: 2, device: cpu}\n",
                              "command: [/usr/bin/python3, ", path, ", ", arguments, "]\n",
                              "restart: {max_restarts: 0}\n", more)));
  }

  v1::Job Ended() {
    const v1::Job job = cluster_.WaitForEnd(job_, Seconds(90));
    EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED) << cluster_.DaemonLogs();
    EXPECT_EQ(job.verdict().cause(), v1::VERDICT_CAUSE_STALLED) << job.verdict().summary();
    return job;
  }

  MiniCluster cluster_;
  int64_t job_ = 0;
};

// The hang occurs so early that the workers do not know the gang's pace yet: fewer than three steps
// have been reported.
TEST_F(EarlyHangTest, AHangInTheFirstSecondsOfTrainingIsFound) {
  Submit(kProgram, "2, hang, hang", "watchdog: {min_stall: 3s}\n");
  const steady_clock::time_point begin = steady_clock::now();
  const v1::Job job = Ended();
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_THAT(job.verdict().summary(), HasSubstr("after step 2 (limit 3 s)"));
}

TEST_F(EarlyHangTest, ARankThatRanOutOfDataIsNamed) {
  Submit(kProgram, "20, wait, exit", "watchdog: {min_stall: 3s}\n");
  const v1::Job job = Ended();
  EXPECT_THAT(job.verdict().summary(),
              HasSubstr("rank 1 exited with 0 at step 20 while rank 0 waits in all-reduce 21 of "
                        "group world"));
  EXPECT_THAT(job.verdict().ranks(), ElementsAre(1));
  EXPECT_EQ(job.verdict().node_id(), "") << "its node is not to blame";
}

TEST_F(EarlyHangTest, ARankThatNeverExitsIsNamed) {
  Submit(kPrintingProgram, "hang, exit",
         "log_parser: {kind: nanogpt}\nwatchdog: {min_stall: 2s, longest_pause: 12s}\n");
  ASSERT_TRUE(Eventually([&] {
    return cluster_.Cli({"why", "hangs"}).output.find("rank 1 exited with 0 while rank 0") !=
           std::string::npos;
  })) << cluster_.Cli({"why", "hangs"}).output;
  EXPECT_THAT(cluster_.Cli({"why", "hangs"}).output,
              HasSubstr("it is restarted after 12 s without a step, a phase, telemetry or output"));
  const v1::Job job = Ended();
  EXPECT_THAT(job.verdict().summary(),
              HasSubstr("rank 1 exited with 0 while rank 0 still runs (step 10) (rank 0 on "));
  EXPECT_THAT(job.verdict().ranks(), ElementsAre(0));
}

// Programs other than trainyard-trainer may work for hours without reporting progress.
TEST_F(EarlyHangTest, AProgramThatReportsNothingIsLeftAloneAndWhySaysSo) {
  Submit("import os, time\nif os.environ['RANK'] == '0': time.sleep(60)\n", "x",
         "watchdog: {min_stall: 1s}\n");
  ASSERT_TRUE(Eventually([&] {
    return cluster_.Cli({"why", "hangs"}).output.find("rank 1 exited with 0 while rank 0") !=
           std::string::npos;
  })) << cluster_.Cli({"why", "hangs"}).output;
  EXPECT_THAT(cluster_.Cli({"why", "hangs"}).output,
              HasSubstr("reports neither steps nor phases: stalls are not detected"));
  EXPECT_EQ(cluster_.Job(job_).state(), v1::JOB_STATE_RUNNING);
}

}  // namespace
}  // namespace trainyard::test
