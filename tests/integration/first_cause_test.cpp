// Tests, with real processes of other programs, that the verdict names the first cause, and that a
// stop reaches every process of a rank.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

// Rank 1 prints its error first, but exits last. Rank 0 loses its peer and aborts at once.
constexpr char kLateExit[] = R"(import os, sys, time
if os.environ["RANK"] == "0":
    time.sleep(1)
    print("[rank0]:[E] ProcessGroupNCCL.cpp: [Rank 0] Watchdog caught collective operation "
          "timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE) ran for 600000 milliseconds", flush=True)
    print("terminate called after throwing an instance of 'c10::DistBackendError'", flush=True)
    os.abort()
try:
    raise RuntimeError("shard 7 is damaged")
except RuntimeError:
    import traceback
    traceback.print_exc()
    sys.stderr.flush()
time.sleep(4)
sys.exit(1)
)";

// A launcher that ignores SIGTERM. Its child runs in a session of its own, and saves on SIGTERM.
constexpr char kSigtermIgnored[] = R"(import os, signal, subprocess, sys, time
CHILD = """
import signal, sys, time
def stop(*_):
    print("child saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("child started", flush=True)
while True:
    time.sleep(0.1)
"""
signal.signal(signal.SIGTERM, lambda *_: print("launcher got TERM", flush=True))
subprocess.Popen([sys.executable, "-c", CHILD], start_new_session=True)
while True:
    time.sleep(0.1)
)";

class FirstCauseTest : public testing::Test {
 protected:
  int64_t Submit(int nodes, const std::string& program, const std::string& settings) {
    const std::string path = cluster_.directory() + "/program.py";
    WriteFile(path, program);
    return cluster_.Submit(cluster_.WriteJob(
        "cause", absl::StrCat("name: cause\nresources: {nodes: ", nodes, ", device: cpu}\n",
                              "command: [/usr/bin/python3, ", path, "]\n",
                              "restart: {max_restarts: 0}\n", settings)));
  }

  MiniCluster cluster_{2};
};

TEST_F(FirstCauseTest, TheErrorPrecedesTheAbortOfAPeer) {
  const v1::Job job = cluster_.WaitForEnd(Submit(2, kLateExit, ""), Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.attempts(0).verdict().rank(), 1) << job.verdict().summary();
  EXPECT_EQ(job.attempts(0).verdict().error_line(), "RuntimeError: shard 7 is damaged");
}

TEST_F(FirstCauseTest, AStopReachesChildrenInSessionsOfTheirOwn) {
  const int64_t job_id = Submit(1, kSigtermIgnored, "stop_grace: 2s\n");
  const auto texts = [&] {
    std::vector<std::string> lines;
    for (const v1::LogLine& line : cluster_.Logs(job_id, 0, 1)) lines.push_back(line.text());
    return lines;
  };
  const bool started = Eventually([&] {
    const std::vector<std::string> lines = texts();
    return !lines.empty() && lines.back() == "child started";
  });
  ASSERT_TRUE(started);
  EXPECT_EQ(cluster_.Cli({"stop", absl::StrCat(job_id)}).exit_code, 0);
  const v1::Job job = cluster_.WaitForEnd(job_id, Seconds(60));
  EXPECT_EQ(job.state(), v1::JOB_STATE_STOPPED);
  EXPECT_THAT(texts(), AllOf(Contains("launcher got TERM"), Contains("child saved")));
  EXPECT_THAT(
      job.verdict().summary(),
      HasSubstr("stopped by a user; SIGKILL ended rank 0, which still ran after stop_grace"));
}

TEST_F(FirstCauseTest, ASignalBelowAWrapperIsNamed) {
  const v1::Job job =
      cluster_.WaitForEnd(Submit(1,
                                 "import subprocess, sys\n"
                                 "code = subprocess.call(['sh', '-c', 'kill -9 $$'])\n"
                                 "sys.exit(128 - code)\n",
                                 ""),
                          Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(job.verdict().summary(),
              HasSubstr("exited with code 137, because SIGKILL ended a process that it started"));
}

}  // namespace
}  // namespace trainyard::test
