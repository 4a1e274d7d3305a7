#include "worker/rank_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>

#include "absl/strings/str_cat.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

class RankRunnerTest : public testing::Test {
 protected:
  LaunchFiles Files(const std::string& name) {
    std::filesystem::create_directories(directory_.File(name));
    return {.place = RankPlace(directory_.File(name), "test-" + directory_.File(name)),
            .run_dir = directory_.File(name),
            .spec_path = directory_.File(name + "/spec.json"),
            .spec_json = "{}",
            .checkpoint_dir = directory_.File("checkpoints-" + name)};
  }
  ProcessLaunch Sleep(const LaunchFiles& files) {
    return {.argv = {"/bin/sleep", "600"},
            .environment = {},
            .working_directory = files.run_dir.text()};
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
  std::vector<RankKey> launched_, ended_, killed_;
  std::vector<std::string> failures_;
  std::vector<v1::StartFault> faults_;
  RankRunner::Handler handler_{
      .on_launch_failed =
          [this](const RankKey&, const absl::Status& status, v1::StartFault fault) {
            failures_.emplace_back(status.message());
            faults_.push_back(fault);
          },
      .on_launched = [this](const RankKey& key) { launched_.push_back(key); },
      .on_observed =
          [this](const RankKey& key, const RankObservation& observation) {
            if (observation.state.presence == RankPresence::kExited) ended_.push_back(key);
          },
      .on_killed = [this](const RankKey& key, bool) { killed_.push_back(key); }};
};

// A hung file server may block only jobs with checkpoints on this server.
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
  runner.Signal(second, sound.place, true);
  EXPECT_TRUE(RunUntil([&] { return ended_ == std::vector{second}; }));

  answer.set_value();
  ASSERT_TRUE(RunUntil([&] { return launched_.size() == 2; }));
  EXPECT_EQ(launched_.back(), first);
  runner.Signal(first, hung.place, true);
  EXPECT_TRUE(RunUntil([&] { return ended_.size() == 2; }));
}

// Simulates a make_directory that hangs, but not longer than the test.
struct HungServer {
  std::promise<void> answer;
  std::shared_future<void> answered = answer.get_future().share();
  ~HungServer() { answer.set_value(); }
  RankRunner::MakeDirectory For(const std::string& part) const {
    return [answered = answered, part](const std::string& path) {
      if (path.find(part) != std::string::npos) answered.wait();
      return MakeDirectories(path);
    };
  }
};

TEST_F(RankRunnerTest, NumberOfHungDirectoriesBlocksNoOtherLaunch) {
  const HungServer server;
  RankRunner runner(loop_, SHIM_PROGRAM, handler_, server.For("hung"));
  for (int job = 1; job <= 20; ++job) {
    const LaunchFiles hung = Files(absl::StrCat("hung", job));
    runner.Launch({{job, 1}, 0}, hung, Sleep(hung));
  }
  const LaunchFiles sound = Files("sound");
  const RankKey key{{21, 1}, 0};
  runner.Launch(key, sound, Sleep(sound));
  ASSERT_TRUE(RunUntil([&] { return !launched_.empty(); }));
  EXPECT_EQ(launched_, std::vector{key});
  runner.Signal(key, sound.place, true);
  EXPECT_TRUE(RunUntil([&] { return !ended_.empty(); }));
}

TEST_F(RankRunnerTest, TooManyHungDirectoriesAreRefused) {
  const HungServer server;
  RankRunner runner(loop_, SHIM_PROGRAM, handler_, server.For("hung"));
  for (std::size_t job = 1; job <= DirectoryMaker::kMostAtOnce + 1; ++job) {
    const LaunchFiles hung = Files(absl::StrCat("hung", job));
    runner.Launch({{static_cast<int64_t>(job), 1}, 0}, hung, Sleep(hung));
  }
  ASSERT_EQ(failures_.size(), 1u);
  EXPECT_THAT(failures_.front(),
              testing::HasSubstr("64 earlier requests to create directories have no answer"));
}

TEST_F(RankRunnerTest, LaunchWaitsForTheCode) {
  std::promise<void> answer;
  const std::shared_future<void> answered = answer.get_future().share();
  RankRunner runner(loop_, SHIM_PROGRAM, handler_, MakeDirectories, [&](const std::string& id) {
    answered.wait();
    return id == "sound" ? absl::OkStatus() : absl::NotFoundError("no snapshot " + id);
  });
  LaunchFiles coded = Files("coded"), lost = Files("lost"), plain = Files("plain");
  coded.code_snapshot = "sound";
  lost.code_snapshot = "lost";
  const RankKey first{{1, 1}, 0}, second{{2, 1}, 0}, third{{3, 1}, 0};
  runner.Launch(first, coded, Sleep(coded));
  runner.Launch(second, lost, Sleep(lost));
  runner.Launch(third, plain, Sleep(plain));
  ASSERT_TRUE(RunUntil([&] { return !launched_.empty(); }));
  EXPECT_EQ(launched_, std::vector{third});
  answer.set_value();
  ASSERT_TRUE(RunUntil([&] { return launched_.size() == 2 && !failures_.empty(); }));
  EXPECT_EQ(launched_.back(), first);
  EXPECT_EQ(failures_, std::vector<std::string>{"no snapshot lost"});
  EXPECT_EQ(faults_, std::vector{v1::START_FAULT_JOB});
  runner.Signal(first, coded.place, true);
  runner.Signal(third, plain.place, true);
  EXPECT_TRUE(RunUntil([&] { return ended_.size() == 2; }));
}

TEST_F(RankRunnerTest, CancelledLaunchFailsAtOnceThoughItsDirectoryHangs) {
  auto server = std::make_unique<HungServer>();
  auto runner = std::make_unique<RankRunner>(loop_, SHIM_PROGRAM, handler_, server->For("hung"));
  const LaunchFiles hung = Files("hung");
  const RankKey key{{1, 1}, 0};
  runner->Launch(key, hung, Sleep(hung));
  runner->CancelLaunch(key);
  ASSERT_EQ(failures_.size(), 1u);
  EXPECT_THAT(failures_.front(), testing::HasSubstr("stopped while its code and directories"));
  runner->CancelLaunch(key);
  EXPECT_EQ(failures_.size(), 1u);
  // The next rank with the hung directory also waits. This rank starts when the server answers.
  const RankKey next{{1, 2}, 0};
  runner->Launch(next, hung, Sleep(hung));
  server.reset();
  ASSERT_TRUE(RunUntil([&] { return !launched_.empty(); }));
  EXPECT_EQ(launched_, std::vector{next});
  runner->Signal(next, hung.place, true);
  EXPECT_TRUE(RunUntil([&] { return !ended_.empty(); }));
}

TEST_F(RankRunnerTest, EndDoesNotWaitForAHungDirectory) {
  const HungServer server;
  {
    RankRunner runner(loop_, SHIM_PROGRAM, handler_, server.For("hung"));
    const LaunchFiles hung = Files("hung");
    runner.Launch({{1, 1}, 0}, hung, Sleep(hung));
  }
  EXPECT_TRUE(launched_.empty());
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
