#include "worker/position_keeper.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

using std::chrono::milliseconds;

class PositionKeeperTest : public testing::Test {
 protected:
  PositionKeeperTest() {
    auto opened = DataDir::Open(directory_.path() + "/worker");
    EXPECT_TRUE(opened.ok()) << opened.status();
    data_dir_ = *std::move(opened);
  }

  static v1::ControllerMessage Start(uint64_t sequence) {
    v1::ControllerMessage message;
    message.mutable_start_attempt()->mutable_log_mark()->set_term(1);
    message.mutable_start_attempt()->mutable_log_mark()->set_sequence(sequence);
    return message;
  }
  static v1::ControllerMessage Acknowledgement(uint64_t sequence) {
    v1::ControllerMessage message;
    message.mutable_facts_acknowledged()->mutable_log_mark()->set_term(1);
    message.mutable_facts_acknowledged()->mutable_log_mark()->set_sequence(sequence);
    return message;
  }
  static StreamPosition PositionAt(int64_t acknowledged) {
    StreamPosition position;
    position.id.set_job_id(1);
    position.id.set_attempt(1);
    position.id.set_kind(v1::STREAM_KIND_LOG);
    position.acknowledged = acknowledged;
    return position;
  }
  // Returns the sequence number that the worker will find at its next start.
  uint64_t KeptSequence() const {
    return PositionKeeper(*data_dir_, "cluster").newest_mark().sequence();
  }

  const TemporaryDirectory directory_;
  std::unique_ptr<DataDir> data_dir_;
};

TEST_F(PositionKeeperTest, AStartIsActedUponOnlyOnceItsMarkIsOnDisk) {
  PositionKeeper keeper(*data_dir_, "cluster");
  EXPECT_EQ(keeper.newest_mark().sequence(), 0u);
  keeper.Take(Acknowledgement(7), "cluster");
  EXPECT_EQ(keeper.newest_mark().sequence(), 7u);
  EXPECT_EQ(KeptSequence(), 0u) << "an acknowledgement can wait";
  keeper.Take(Start(8), "cluster");
  EXPECT_EQ(KeptSequence(), 8u);
}

TEST_F(PositionKeeperTest, PositionsAreWrittenAtIntervals) {
  PositionKeeper keeper(*data_dir_, "cluster");
  PositionKeeper::Clock::time_point now{PositionKeeper::kEvery};
  keeper.Keep({PositionAt(5)}, "cluster", now);
  ASSERT_EQ(keeper.ReadOffsets().size(), 1u);
  keeper.Take(Acknowledgement(7), "cluster");
  now += PositionKeeper::kEvery - milliseconds(1);
  keeper.Keep({PositionAt(6)}, "cluster", now);
  EXPECT_EQ(keeper.ReadOffsets().front().acknowledged, 5);
  EXPECT_EQ(KeptSequence(), 0u);
  now += milliseconds(1);
  keeper.Keep({PositionAt(6)}, "cluster", now);
  EXPECT_EQ(keeper.ReadOffsets().front().acknowledged, 6);
  EXPECT_EQ(KeptSequence(), 7u);
}

TEST_F(PositionKeeperTest, AHigherTermIsOnDiskBeforeItsCommandIsExecuted) {
  v1::ControllerMessage welcome;
  welcome.set_leader_term(4);
  welcome.mutable_welcome()->set_cluster_id("cluster");
  {
    PositionKeeper keeper(*data_dir_, "");
    EXPECT_EQ(keeper.leader_term(), 1);
    ASSERT_TRUE(keeper.Admit(welcome, "").ok()) << "the first Welcome names the cluster";
  }
  PositionKeeper keeper(*data_dir_, "cluster");
  EXPECT_EQ(keeper.leader_term(), 4);
  v1::ControllerMessage command = Start(8);
  command.set_leader_term(3);
  EXPECT_TRUE(absl::IsAborted(keeper.Admit(command, "cluster")));
  command.set_leader_term(4);
  EXPECT_TRUE(keeper.Admit(command, "cluster").ok());
  EXPECT_EQ(PositionKeeper(*data_dir_, "another cluster").leader_term(), 1);
}

}  // namespace
}  // namespace trainyard::worker
