// Tests real gangs in which one rank sees a different directory at the checkpoint path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "tests/trainer/parallel/free_port.h"
#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

class SharedDirectoryOfGangTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to mount a directory for one rank alone";
  }
  std::string Shared() const { return folder_.path() / "checkpoints"; }
  // The directory that the second rank sees instead of the shared one.
  std::string Own() const {
    fs::create_directories(folder_.path() / "own");
    return folder_.path() / "own";
  }
  TrainerStart StartOf(int64_t rank, int64_t port, std::map<std::string, std::string> more = {}) {
    return {.rank = rank, .world_size = 2, .port = port, .variables = std::move(more)};
  }
  // Runs two ranks until they exit with `code`. The second rank sees the directory Own(). Returns
  // the output of the first rank.
  std::string ExpectRefused(int code, const std::map<std::string, std::string>& variables = {}) {
    const int64_t port = FreePort();
    TrainerStart second_start = StartOf(1, port, variables);
    second_start.run = "second";
    second_start.own_checkpoints = Own();
    TrainerStart first_start = StartOf(0, port, variables);
    first_start.run = "first";
    TrainerProcess first(folder_, first_start), second(folder_, second_start);
    EXPECT_EQ(first.Wait(), code) << first.Output();
    EXPECT_EQ(second.Wait(), code) << second.Output();
    EXPECT_THAT(second.Output(), HasSubstr("on storage that all ranks share"));
    EXPECT_TRUE(first.Losses().empty()) << "no step is trained before";
    return first.Output();
  }

  TrainerFolder folder_;
};

TEST_F(SharedDirectoryOfGangTest, RanksThatSeeDifferentDirectoriesDoNotTrain) {
  EXPECT_THAT(ExpectRefused(78),
              AllOf(HasSubstr("The checkpoint directory " + Shared() +
                              " is not on storage that all ranks share: it is visible to rank 0 "
                              "on "),
                    HasSubstr(" but not to rank 1 on "),
                    HasSubstr("Mount the same storage at this path on every node")));
  EXPECT_TRUE(fs::is_empty(Own())) << "not a byte is written there";
}

// An earlier attempt shared the directory. Therefore the error must allow another attempt, which
// may succeed on other nodes or after the directory is mounted again.
TEST_F(SharedDirectoryOfGangTest, ALaterAttemptThatLostTheDirectoryIsTriedAgain) {
  folder_.spec["train"]["steps"] = 6;
  TrainToTheEnd(folder_, {.world_size = 2, .port = FreePort()});
  folder_.spec["train"]["steps"] = 8;
  EXPECT_THAT(ExpectRefused(75, {{"TRAINYARD_ATTEMPT", "2"},
                                 {"TRAINYARD_RESUME_FROM", Shared() + "/step_000000006"}}),
              HasSubstr("but not to rank 1 on "));
}

}  // namespace
}  // namespace trainyard::trainer
