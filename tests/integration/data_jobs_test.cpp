// Tests data jobs on three nodes, of which one is lost.
#include <signal.h>

#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

// A cluster of three nodes, and a pipeline that runs for some seconds.
class DataJobsTest : public testing::Test {
 protected:
  DataJobsTest() {
    std::filesystem::create_directory(cluster_.directory() + "/in");
    for (const int file : {0, 1}) {
      WriteFile(absl::StrCat(cluster_.directory(), "/in/", file, ".jsonl"), Documents(file));
    }
    WriteFile(pipeline(), R"(inputs: in
out: out
jobs: 1
block_bytes: 8000
steps:
  - dedup
  - train_tokenizer: {vocab_size: 400}
  - count: {tokenizers: [gpt2]}
  - tokenize: {tokenizer: byte, val_fraction: 0.2}
)");
    const CommandResult alone = cluster_.Cli({"data", "run", pipeline()}, Seconds(120));
    EXPECT_EQ(alone.exit_code, 0) << alone.error;
    expected_ = Contents();
    std::filesystem::remove_all(out());
  }

  std::string pipeline() const { return cluster_.directory() + "/pipeline.yaml"; }
  std::string out() const { return cluster_.directory() + "/out"; }

  // Every fifth document is a copy of an earlier one.
  static std::string Documents(int file) {
    std::string lines;
    for (int i = 0; i < 1000; ++i) {
      absl::StrAppend(&lines, "{\"text\": \"document ", file, " of");
      const int source = i % 5 == 4 ? i / 2 : i;
      for (int word = 0; word < 60; ++word) {
        absl::StrAppend(&lines, " w", (source * 7919 + word * (file + 31) * 104729) % 5003);
      }
      lines += "\"}\n";
    }
    return lines;
  }

  // The files of the output by path, without locks and logs, which contain times.
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(out())) {
      const std::string file = entry.path().filename();
      const bool varies = file == ".lock" || file == ".pipeline" || file == "records.log";
      if (!varies && entry.is_regular_file()) contents[entry.path()] = ReadFile(entry.path());
    }
    return contents;
  }

  int64_t SubmitDataJob() {
    return cluster_.Submit(cluster_.WriteJob(
        "corpus", absl::StrCat("name: corpus\nkind: data\nresources: {nodes: 3}\nrestart: "
                               "{backoff: 0}\npipeline: ",
                               pipeline(), "\n")));
  }

  // Kills the worker and the process of the rank, like a machine that loses its power. Returns the
  // number of the node.
  int KillNodeOf(int64_t job_id, int rank) {
    const pid_t pid = cluster_.RankPid(job_id, 1, rank);
    EXPECT_GT(pid, 0);
    const v1::ListRanksResponse ranks = cluster_.Ranks(job_id);
    std::string node;
    for (const v1::RankStatus& status : ranks.ranks()) {
      if (status.rank() == rank) node = ranks.node_names().at(status.node_id());
    }
    const int number = node.back() - '0';
    cluster_.KillWorker(number);
    kill(pid, SIGKILL);
    return number;
  }

  // The first step has processed some blocks.
  bool WaitForBlocks() const {
    return Eventually([this] {
      return std::filesystem::exists(out() + "/.work/dedup-signatures/signatures-00003.bin");
    });
  }

  MiniCluster cluster_{3};
  std::map<std::string, std::string> expected_;
};

TEST_F(DataJobsTest, TheOthersCompleteTheDataOfALostNodeAndTrainingFollows) {
  const int64_t data = SubmitDataJob();
  const int64_t training = cluster_.Submit(cluster_.WriteJob(
      "training",
      absl::StrCat(TinyJob("training", out() + "/tokenize", 1, 20), "after: [", data, "]\n")));
  ASSERT_TRUE(WaitForBlocks()) << cluster_.DaemonLogs();
  EXPECT_EQ(cluster_.Job(training).state(), v1::JOB_STATE_QUEUED);
  KillNodeOf(data, 2);
  const v1::Job job = cluster_.WaitForEnd(data);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString() << cluster_.DaemonLogs();
  EXPECT_EQ(job.attempts_size(), 1) << "the others continue";
  EXPECT_EQ(Contents(), expected_);
  const v1::Job trained = cluster_.WaitForEnd(training);
  ASSERT_EQ(trained.state(), v1::JOB_STATE_SUCCEEDED) << trained.DebugString();
  EXPECT_EQ(cluster_.Series(training, "loss").rbegin()->first, 20);
}

TEST_F(DataJobsTest, TheOthersReportALostNode) {
  // Rank 0 is stopped, so that the job does not end before the node counts as lost.
  const int64_t data = SubmitDataJob();
  ASSERT_TRUE(WaitForBlocks()) << cluster_.DaemonLogs();
  const pid_t leader = cluster_.RankPid(data, 1, 0);
  kill(leader, SIGSTOP);
  KillNodeOf(data, 2);
  std::string why;
  EXPECT_TRUE(Eventually([&] {
    why = cluster_.Cli({"why", std::to_string(data)}).output;
    return why.find("continues without 1 rank") != std::string::npos;
  })) << why;
  EXPECT_THAT(why, HasSubstr("rank 2 on node"));
  EXPECT_THAT(why, HasSubstr("the gang prepares data"));
  kill(leader, SIGCONT);
  EXPECT_EQ(cluster_.WaitForEnd(data).state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(Contents(), expected_);
}

TEST_F(DataJobsTest, TheLossOfRankZeroRestartsTheJobFromItsFinishedBlocks) {
  const int64_t data = SubmitDataJob();
  ASSERT_TRUE(WaitForBlocks()) << cluster_.DaemonLogs();
  const int node = KillNodeOf(data, 0);
  EXPECT_TRUE(Eventually([&] { return cluster_.Job(data).state() == v1::JOB_STATE_RECOVERING; }))
      << cluster_.DaemonLogs();
  cluster_.StartWorker(node);
  const v1::Job job = cluster_.WaitForEnd(data);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString() << cluster_.DaemonLogs();
  EXPECT_EQ(job.attempts_size(), 2);
  EXPECT_EQ(Contents(), expected_);
  std::string output;
  for (const v1::LogLine& line : cluster_.Logs(data, 0, 2)) output += line.text() + "\n";
  EXPECT_THAT(output, HasSubstr("continuing, "));
}

}  // namespace
}  // namespace trainyard::test
