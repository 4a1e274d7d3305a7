// Tests that a flood of checkpoint records harms only the job that sends them.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Steady = std::chrono::steady_clock;

// Publishes checkpoint records at 2 MB/s until the file `stop` appears. Then writes the step of the
// last checkpoint into the file `last`.
constexpr char kFlood[] = R"(
import os, sys, time
folder = sys.argv[1]
telemetry = open(os.environ["TRAINYARD_TELEMETRY"], "ab", buffering=0)
step, begin, written = 0, time.monotonic(), 0
while not os.path.exists(folder + "/stop"):
    lines = []
    while len(lines) < 1000:
        step += 1
        lines.append(b'{"type":"checkpoint","step":%d,"path":"/ck/%d"}\n' % (step, step))
    chunk = b"".join(lines)
    telemetry.write(chunk)
    written += len(chunk)
    time.sleep(max(0, begin + written / 2e6 - time.monotonic()))
with open(folder + "/last.tmp", "w") as file:
    file.write(str(step))
os.rename(folder + "/last.tmp", folder + "/last")
)";

class FloodTest : public testing::Test {
 protected:
  // Starts the flood and waits until it has reached the controller.
  void StartFlood() {
    WriteFile(cluster_.directory() + "/flood.py", kFlood);
    flood_ = cluster_.Submit(Job("flood", absl::StrCat("[/usr/bin/python3, ", cluster_.directory(),
                                                       "/flood.py, ", cluster_.directory(), "]")));
    ASSERT_TRUE(cluster_.WaitForCheckpoint(flood_, 50'000)) << cluster_.DaemonLogs();
  }
  // Ends the flood and returns the step of its last checkpoint.
  int64_t EndFlood() {
    WriteFile(cluster_.directory() + "/stop", "");
    const std::string last = cluster_.directory() + "/last";
    EXPECT_TRUE(Eventually([&] { return fs::exists(last); })) << cluster_.DaemonLogs();
    int64_t step = 0;
    EXPECT_TRUE(absl::SimpleAtoi(ReadFile(last), &step));
    return step;
  }

  std::string Job(const std::string& name, const std::string& command) {
    return cluster_.WriteJob(name, absl::StrCat("name: ", name,
                                                "\nresources: {device: cpu}\nrestart: "
                                                "{max_restarts: 0}\ncommand: ",
                                                command, "\n"));
  }

  // Runs a command as another user. The command must not take long despite the flood.
  void Command(const std::vector<std::string>& arguments) {
    const Steady::time_point begin = Steady::now();
    const CommandResult result = cluster_.Cli(arguments);
    EXPECT_EQ(result.exit_code, 0) << arguments[0] << ": " << result.error;
    const Seconds passed = Steady::now() - begin;
    EXPECT_LT(passed.count(), 5.0) << arguments[0];
  }

  bool SaysWhatWasLeftOut() const {
    const v1::GetJobResponse described = cluster_.Described(flood_);
    return std::ranges::any_of(described.alerts(), [](const v1::Alert& alert) {
      return alert.code() == "records_left_out";
    });
  }

  MiniCluster cluster_{1, 2};
  int64_t flood_ = 0;
};

TEST_F(FloodTest, RecordsOfOneJobRefuseAndDelayNobodyElse) {
  StartFlood();
  const uint64_t events = cluster_.Revision();
  for (int i = 0; i < 41; ++i) {
    Command({"submit", Job(absl::StrCat("other-", i), "[/bin/true]")});
  }
  Command({"submit", Job("victim", "[/bin/sleep, '1000']")});
  Command({"kill", "-y", "victim"});
  for (int i = 0; i < 41; ++i) {
    // Job 1 is the flood. The other jobs share the flood's node and worker stream.
    EXPECT_EQ(cluster_.WaitForEnd(2 + i).state(), v1::JOB_STATE_SUCCEEDED) << cluster_.DaemonLogs();
  }
  EXPECT_EQ(cluster_.WaitForEnd(43).state(), v1::JOB_STATE_STOPPED);
  // The limit allows for a dozen events of each other job and for the event budget of the flood.
  EXPECT_LT(cluster_.Revision() - events, 1500u);
  EXPECT_TRUE(Eventually([&] { return SaysWhatWasLeftOut(); }, Seconds(30)));
  EXPECT_THAT(cluster_.Cli({"why", "flood"}).output, HasSubstr("were not recorded"));
  const int64_t last = EndFlood();
  EXPECT_TRUE(cluster_.WaitForCheckpoint(flood_, last)) << "a restart would begin too early";
  const v1::Job job = cluster_.WaitForEnd(flood_);
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString().substr(0, 2000);
  EXPECT_EQ(cluster_.Nodes()["node0"].state(), v1::NODE_STATE_READY);
}

}  // namespace
}  // namespace trainyard::test
