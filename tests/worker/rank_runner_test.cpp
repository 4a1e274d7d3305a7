#include "worker/rank_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

class RankRunnerTest : public testing::Test {
 protected:
  LaunchFiles Files(const std::string& name) {
    std::filesystem::create_directories(directory_.File(name));
    return {.rank_dir = directory_.File(name),
            .spec_path = directory_.File(name + "/spec.json"),
            .spec_json = "{}",
            .checkpoint_dir = directory_.File("checkpoints-" + name)};
  }
  RankLaunch Sleep(const LaunchFiles& files) {
    return {.argv = {"/bin/sleep", "600"}, .environment = {}, .working_directory = files.rank_dir};
  }
  bool RunUntil(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      loop_.restart();
      loop_.run_one_for(std::chrono::milliseconds(20));
    }
    return done();
  }

  TemporaryDirectory directory_;
  boost::asio::io_context loop_;
  std::vector<RankKey> launched_, ended_;
  std::vector<std::string> failures_;
  RankRunner::Handler handler_{
      .on_launch_failed =
          [this](const RankKey&, const absl::Status& status) {
            failures_.emplace_back(status.message());
          },
      .on_launched = [this](const RankKey& key) { launched_.push_back(key); },
      .on_observed =
          [this](const RankKey& key, const RankObservation& observation) {
            if (observation.state.presence == RankPresence::kExited) ended_.push_back(key);
          }};
};

// A file server that does not answer holds up the job whose checkpoints it keeps, and no other.
TEST_F(RankRunnerTest, HungCheckpointDirectoryLeavesOtherJobsAlone) {
  std::promise<void> answer;
  const std::shared_future<void> answered = answer.get_future().share();
  const LaunchFiles hung = Files("hung"), sound = Files("sound");
  RankRunner runner(loop_, SHIM_PROGRAM, handler_, [&](const std::string& path) {
    if (path == hung.checkpoint_dir) answered.wait();
    return MakeDirectories(path);
  });
  const RankKey first{{1, 1}, 0}, second{{2, 1}, 0};
  runner.Launch(first, hung, Sleep(hung));
  runner.Launch(second, sound, Sleep(sound));
  ASSERT_TRUE(RunUntil([&] { return !launched_.empty(); }));
  EXPECT_EQ(launched_, std::vector{second});
  runner.Signal(second, sound.rank_dir, true);
  EXPECT_TRUE(RunUntil([&] { return ended_ == std::vector{second}; }));

  answer.set_value();
  ASSERT_TRUE(RunUntil([&] { return launched_.size() == 2; }));
  EXPECT_EQ(launched_.back(), first);
  runner.Signal(first, hung.rank_dir, true);
  EXPECT_TRUE(RunUntil([&] { return ended_.size() == 2; }));
}

TEST_F(RankRunnerTest, CheckpointDirectoryThatCannotBeMadeFailsTheLaunch) {
  LaunchFiles files = Files("rank");
  files.checkpoint_dir = "/proc/no/such";
  RankRunner runner(loop_, SHIM_PROGRAM, handler_);
  runner.Launch({{1, 1}, 0}, files, Sleep(files));
  ASSERT_TRUE(RunUntil([&] { return !failures_.empty(); }));
  EXPECT_THAT(failures_.front(), testing::HasSubstr("/proc/no"));
  EXPECT_TRUE(launched_.empty());
}

}  // namespace
}  // namespace trainyard::worker
