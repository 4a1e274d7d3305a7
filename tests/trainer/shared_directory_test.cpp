// Real gangs whose ranks see different directories at the path of their checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/trainer/healing_gang.h"
#include "tests/trainer/parallel/free_port.h"
#include "tests/trainer/trainer_process.h"
#include "trainer/checkpoint/checkpoint_reader.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

// One path that leads every process to a directory of its own: it runs in its own folder.
constexpr char kOwnDirectory[] = "/proc/self/cwd/checkpoints";

class SharedDirectoryOfGangTest : public testing::Test {
 protected:
  // Lets the process of this folder see `directory` of the test's folder at kOwnDirectory.
  void Mount(const std::string& run, const std::string& directory) const {
    fs::create_directories(folder_.path() / directory);
    fs::create_directories(folder_.path() / run);
    const fs::path link = folder_.path() / run / "checkpoints";
    fs::remove(link);
    fs::create_directory_symlink(folder_.path() / directory, link);
  }
  TrainerStart StartOf(int64_t rank, int64_t port, std::map<std::string, std::string> more = {}) {
    more["TRAINYARD_CHECKPOINT_DIR"] = kOwnDirectory;
    return {.rank = rank, .world_size = 2, .port = port, .variables = std::move(more)};
  }
  // Runs two ranks to their ends, both of which must be `code`, and returns rank 0's output.
  std::string ExpectBothEnd(int code, const std::map<std::string, std::string>& variables = {}) {
    const int64_t port = FreePort();
    TrainerProcess first(folder_, StartOf(0, port, variables));
    TrainerProcess second(folder_, StartOf(1, port, variables));
    EXPECT_EQ(first.Wait(), code) << first.Output();
    EXPECT_EQ(second.Wait(), code) << second.Output();
    EXPECT_THAT(second.Output(), HasSubstr("on storage that all ranks share"));
    EXPECT_TRUE(first.Losses().empty() || code == 0) << "no step is trained before";
    return first.Output();
  }

  TrainerFolder folder_;
};

TEST_F(SharedDirectoryOfGangTest, RanksThatSeeDifferentDirectoriesDoNotTrain) {
  Mount("run_rank0", "a");
  Mount("run_rank1", "b");
  EXPECT_THAT(ExpectBothEnd(78),
              AllOf(HasSubstr("The checkpoint directory " + std::string(kOwnDirectory) +
                              " is not on storage that all ranks share: it is there for rank 0 "
                              "on "),
                    HasSubstr(" but not for rank 1 on "),
                    HasSubstr("Mount the same storage at this path on every node")));
  EXPECT_TRUE(fs::is_empty(folder_.path() / "b")) << "not a byte is written there";
}

// The gang has shared the directory before: other nodes, or a mount, may help the next attempt.
TEST_F(SharedDirectoryOfGangTest, ALaterAttemptThatLostTheDirectoryIsTriedAgain) {
  Mount("run_rank0", "a");
  Mount("run_rank1", "a");
  folder_.spec["train"]["steps"] = 6;
  {
    const int64_t port = FreePort();
    TrainerProcess first(folder_, StartOf(0, port)), second(folder_, StartOf(1, port));
    EXPECT_EQ(first.Wait(), 0) << first.Output();
    EXPECT_EQ(second.Wait(), 0) << second.Output();
  }
  Mount("run_rank1", "b");
  folder_.spec["train"]["steps"] = 8;
  const std::string checkpoint = std::string(kOwnDirectory) + "/step_000000006";
  const std::map<std::string, std::string> next = {{"TRAINYARD_ATTEMPT", "2"},
                                                   {"TRAINYARD_RESUME_FROM", checkpoint}};
  const int64_t port = FreePort();
  TrainerProcess first(folder_, StartOf(0, port, next)), second(folder_, StartOf(1, port, next));
  EXPECT_EQ(first.Wait(), 75) << first.Output();
  EXPECT_EQ(second.Wait(), 75) << second.Output();
  EXPECT_THAT(first.Output(), HasSubstr("but not for rank 1 on "));
}

// Not 74, which would mark a sound checkpoint as damaged.
TEST_F(SharedDirectoryOfGangTest, ACheckpointThatOnlySomeRanksSeeIsNotTakenForDamaged) {
  folder_.spec["train"]["steps"] = 2;
  folder_.spec["schedule"]["warmup_steps"] = 0;
  TrainToTheEnd(folder_, {.run = "earlier", .checkpoints = "earlier"});
  Mount("run_rank0", "a");
  Mount("run_rank1", "a");
  fs::create_directory_symlink(folder_.path() / "earlier",
                               folder_.path() / "run_rank0" / "elsewhere");
  folder_.spec["train"]["steps"] = 4;
  const std::string output = ExpectBothEnd(
      78, {{"TRAINYARD_RESUME_FROM", "/proc/self/cwd/elsewhere/step_000000002"}});
  EXPECT_THAT(output, HasSubstr("The checkpoint /proc/self/cwd/elsewhere/step_000000002 is not on "
                                "storage that all ranks share: it is there for rank 0 on "));
}

// Storage that is unmounted while the gang trains.
TEST_F(SharedDirectoryOfGangTest, ASaveWithoutTheFilesOfARankSaysWhoseAreMissing) {
  Mount("run_rank0", "a");
  Mount("run_rank1", "a");
  folder_.spec["train"]["steps"] = 1000000;
  folder_.spec["checkpoint"]["every_steps"] = 1000;
  folder_.spec["evaluation"]["every_steps"] = 0;
  const int64_t port = FreePort();
  TrainerProcess first(folder_, StartOf(0, port)), second(folder_, StartOf(1, port));
  ASSERT_TRUE(first.WaitForStep(1)) << first.Output();
  Mount("run_rank1", "b");
  ASSERT_TRUE(second.WaitForRecord("alert", [](const json& alert) {
    return alert["code"] == "checkpoint_unshared";
  })) << second.Output();
  EXPECT_TRUE(fs::is_empty(folder_.path() / "b"));
  ASSERT_TRUE(first.WaitForRecord("alert", [](const json& alert) {
    const std::string message = alert["message"];
    return alert["code"] == "checkpoint_late" &&
           message.find("No file of ranks 1 is there") != std::string::npos;
  })) << json(first.Records("alert")).dump();
}

TEST_F(SharedDirectoryOfGangTest, ASpareThatSeesAnotherDirectoryIsRefusedWhenItJoins) {
  Mount("run_rank0", "a");
  Mount("run_rank1", "a");
  Mount("spare1_rank0", "b");
  Mount("spare2_rank0", "a");
  folder_.spec["train"]["steps"] = 1000000;
  HealingGang gang(folder_, 2, {{"TRAINYARD_CHECKPOINT_DIR", kOwnDirectory}});
  ASSERT_TRUE(gang.WaitForStep(3));
  gang.Kill(1);
  gang.Replace({1});
  EXPECT_EQ(gang.Rank(0).Wait(), 75) << gang.Rank(0).Output();
  EXPECT_EQ(gang.Rank(1).Wait(), 75) << gang.Rank(1).Output();
  EXPECT_THAT(gang.Rank(1).Output(), HasSubstr("but not for rank 1 on "));
}

}  // namespace
}  // namespace trainyard::trainer
