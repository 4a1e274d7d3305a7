#include "tests/integration/chaos_job.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace trainyard::test {
namespace {

constexpr char kTrainer[] = SOURCE_DIRECTORY "/chained_trainer.py";

// Returns a job file with a huge restart budget and no backoff, so that only the kills determine
// the number of restarts.
std::string JobFile(const std::string& name, const std::string& folder, int nodes) {
  return absl::StrCat("name: ", name, "\nresources: {nodes: ", nodes,
                      ", device: cpu}\ntorchrun_env: true\ncommand: [/usr/bin/python3, ", kTrainer,
                      ", ", folder, "]\nrestart: {max_restarts: 100000, backoff: 0}\n");
}

std::string MakeFolder(const MiniCluster& cluster, const std::string& name) {
  const std::string folder = absl::StrCat(cluster.directory(), "/", name);
  std::filesystem::create_directory(folder);
  return folder;
}

// Returns true if `stored` lines are all the output of a rank that recorded `written` lines. A rank
// of a failed attempt was killed or terminated, so the rank may have written one line more than it
// recorded.
bool IsAllOf(const v1::Attempt& attempt, std::size_t written, std::size_t stored) {
  const bool ended_by_itself = attempt.verdict().cause() == v1::VERDICT_CAUSE_COMPLETED;
  return stored == written || (!ended_by_itself && stored == written + 1);
}

}  // namespace

ChaosJob::ChaosJob(MiniCluster& cluster, const std::string& name, int nodes)
    : cluster_(cluster), folder_(MakeFolder(cluster, name)), nodes_(nodes) {
  id_ = cluster.Submit(cluster.WriteJob(name, JobFile(name, folder_, nodes)));
}

int64_t ChaosJob::AttemptNumber() const {
  const v1::Job job = cluster_.Job(id_);
  return job.attempts_size() == 0 ? 0 : job.attempts(job.attempts_size() - 1).number();
}

pid_t ChaosJob::RunningRank(int64_t attempt_number, int rank) const {
  const pid_t pid = cluster_.RankPid(id_, attempt_number, rank);
  // The pid may have been reused by another process.
  const std::string command = pid == 0 ? "" : ReadFile(absl::StrCat("/proc/", pid, "/cmdline"));
  return command.find(folder_) == std::string::npos ? 0 : pid;
}

v1::Job ChaosJob::Finish() {
  WriteFile(folder_ + "/finish", "");
  return cluster_.WaitForEnd(id_);
}

void ChaosJob::ExpectAllStored(const v1::Job& job) const {
  std::string error;
  EXPECT_TRUE(Eventually([&] { return (error = FirstStoreError(job)).empty(); }, Seconds(30)))
      << error;
}

void ChaosJob::FinishInOneAttempt(const std::string& rule) {
  const v1::Job job = Finish();
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1) << rule << "\n" << job.DebugString();
  ExpectAllStored(job);
}

std::string ChaosJob::FirstStoreError(const v1::Job& job) const {
  if (std::string wrong = CheckMergedView(); !wrong.empty()) return wrong;
  for (const v1::Attempt& attempt : job.attempts()) {
    if (std::string wrong = CheckSteps(attempt); !wrong.empty()) return wrong;
    for (int rank = 0; rank < nodes_; ++rank) {
      if (std::string wrong = CheckOutput(attempt, rank); !wrong.empty()) return wrong;
    }
  }
  return "";
}

std::string ChaosJob::CheckMergedView() const {
  const v1::Series merged = cluster_.RawSeries(id_, "loss", 0);
  const int steps = std::stoi(ReadFile(folder_ + "/last"));
  if (merged.steps_size() != steps) {
    return absl::StrCat(merged.steps_size(), " points in the merged view of ", steps, " steps");
  }
  const std::vector<double> expected = UndisturbedLosses(steps);
  for (int i = 0; i < steps; ++i) {
    if (merged.steps(i) == i + 1 && merged.counts(i) == 1 && merged.last(i) == expected[i])
      continue;
    return absl::StrCat("point ", i, " of the merged view is ", merged.counts(i), " of step ",
                        merged.steps(i), " with ", merged.last(i), " instead of ", expected[i]);
  }
  return "";
}

std::string ChaosJob::CheckSteps(const v1::Attempt& attempt) const {
  const std::size_t written = LinesOf("metrics", attempt.number(), 0).size();
  const v1::Series own = cluster_.RawSeries(id_, "loss", attempt.number());
  if (!IsAllOf(attempt, written, own.steps_size())) {
    return absl::StrCat("attempt ", attempt.number(), " has ", own.steps_size(), " points, but ",
                        written, " were written");
  }
  for (int i = 0; i < own.steps_size(); ++i) {
    if (own.steps(i) == attempt.resume_step() + 1 + i && own.counts(i) == 1) continue;
    return absl::StrCat("point ", i, " of attempt ", attempt.number(), " is ", own.counts(i),
                        " of step ", own.steps(i), "; it began after ", attempt.resume_step());
  }
  return "";
}

std::string ChaosJob::CheckOutput(const v1::Attempt& attempt, int rank) const {
  const int64_t attempt_number = attempt.number();
  const std::vector<std::string> truth = LinesOf("truth", attempt_number, rank);
  const std::vector<v1::LogLine> stored = cluster_.Logs(id_, rank, attempt_number);
  const std::string where =
      absl::StrCat("output of rank ", rank, " in attempt ", attempt_number, ": ");
  if (!IsAllOf(attempt, truth.size(), stored.size())) {
    return absl::StrCat(where, stored.size(), " lines of ", truth.size());
  }
  int64_t offset = 0;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const bool same = i == truth.size() || stored[i].text() == truth[i];
    if (!same || stored[i].offset() != offset) {
      return absl::StrCat(where, "line ", i, " is `", stored[i].text(), "` at ", stored[i].offset(),
                          " instead of ", offset);
    }
    offset += static_cast<int64_t>(stored[i].text().size()) + 1;
  }
  return "";
}

std::vector<std::string> ChaosJob::LinesOf(const std::string& kind, int64_t attempt_number,
                                           int rank) const {
  std::vector<std::string> lines = absl::StrSplit(
      ReadFile(absl::StrCat(folder_, "/", kind, "-", attempt_number, "-", rank)), '\n');
  lines.pop_back();  // Removes the "" after the last newline.
  return lines;
}

std::vector<double> UndisturbedLosses(int64_t steps) {
  std::vector<double> losses;
  uint64_t state = 0;
  for (int64_t step = 1; step <= steps; ++step) {
    state = (state ^ static_cast<uint64_t>(step)) * 6364136223846793005u + 1442695040888963407u;
    losses.push_back(static_cast<double>(state >> 11) * 0x1.0p-53);
  }
  return losses;
}

}  // namespace trainyard::test
