#include "data/pipeline/ranks.h"

#include <gtest/gtest.h>

#include <map>

namespace trainyard::data {
namespace {

absl::StatusOr<Ranks> Read(const std::map<std::string, std::string>& environment) {
  return ReadRanks([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(RanksTest, OneProcessNeedsNoVariables) {
  const auto ranks = Read({});
  ASSERT_TRUE(ranks.ok()) << ranks.status();
  EXPECT_EQ(ranks->world_size, 1);
  EXPECT_FALSE(ranks->is_rank);
}

TEST(RanksTest, ReadsTheVariablesOfTheWorker) {
  const auto ranks = Read({{"RANK", "2"},
                           {"WORLD_SIZE", "3"},
                           {"MASTER_ADDR", "10.0.0.1"},
                           {"MASTER_PORT", "4000"},
                           {"OMP_NUM_THREADS", "8"},
                           {"TRAINYARD_JOB_ID", "7"},
                           {"TRAINYARD_ATTEMPT", "4"},
                           {"TRAINYARD_TELEMETRY", "/run/t"}});
  ASSERT_TRUE(ranks.ok()) << ranks.status();
  EXPECT_EQ(ranks->rank, 2);
  EXPECT_EQ(ranks->world_size, 3);
  EXPECT_EQ(ranks->address, "10.0.0.1");
  EXPECT_EQ(ranks->port, 4000);
  EXPECT_EQ(ranks->threads, 8);
  EXPECT_EQ(ranks->attempt, "7/4");
  EXPECT_EQ(ranks->telemetry, "/run/t");
  EXPECT_TRUE(ranks->is_rank);
}

TEST(RanksTest, RefusesIncompleteVariables) {
  EXPECT_FALSE(Read({{"WORLD_SIZE", "3"}}).ok());
  EXPECT_FALSE(Read({{"WORLD_SIZE", "3"}, {"RANK", "3"}}).ok());
  EXPECT_FALSE(Read({{"WORLD_SIZE", "0"}, {"RANK", "0"}}).ok());
  EXPECT_FALSE(Read({{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"MASTER_PORT", "70000"}}).ok());
  EXPECT_FALSE(Read({{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"MASTER_PORT", "4000"}}).ok());
  EXPECT_FALSE(Read({{"OMP_NUM_THREADS", "many"}}).ok());
  EXPECT_TRUE(Read({{"WORLD_SIZE", "1"}, {"RANK", "0"}}).ok());
}

TEST(RanksTest, ExitCodesAreThoseOfTheContract) {
  EXPECT_EQ(ExitCodeOfRank(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeOfRank(absl::InvalidArgumentError("")), 78);
  EXPECT_EQ(ExitCodeOfRank(absl::NotFoundError("")), 66);
  EXPECT_EQ(ExitCodeOfRank(absl::DataLossError("")), 65);
  EXPECT_EQ(ExitCodeOfRank(absl::UnavailableError("")), 69);
  EXPECT_EQ(ExitCodeOfRank(absl::AbortedError("")), 75);
  EXPECT_EQ(ExitCodeOfRank(absl::FailedPreconditionError("")), 75);
  EXPECT_EQ(ExitCodeOfRank(absl::ResourceExhaustedError("")), 73);
  EXPECT_EQ(ExitCodeOfRank(absl::CancelledError("")), 143);
  EXPECT_EQ(ExitCodeOfRank(absl::InternalError("")), 70);
}

}  // namespace
}  // namespace trainyard::data
