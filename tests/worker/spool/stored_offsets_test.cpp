#include "worker/spool/stored_offsets.h"

#include "gtest/gtest.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

StreamPosition PositionOf(int rank, int64_t acknowledged) {
  StreamPosition position;
  position.id.set_job_id(1);
  position.id.set_attempt(2);
  position.id.set_rank(rank);
  position.id.set_kind(v1::STREAM_KIND_LOG);
  position.acknowledged = acknowledged;
  return position;
}

TEST(StoredOffsetsTest, ReadsBackWhatWasKeptLast) {
  TemporaryDir dir;
  StoredOffsets offsets(dir.File("stored"));
  EXPECT_TRUE(offsets.Read().empty());
  offsets.Keep({PositionOf(0, 5), PositionOf(1, 0), PositionOf(2, 7)});
  offsets.Keep({PositionOf(0, 6), PositionOf(1, 0), PositionOf(2, 7)});
  const auto kept = StoredOffsets(dir.File("stored")).Read();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].acknowledged, 6);
  EXPECT_EQ(kept[1].id.rank(), 2);
  EXPECT_EQ(kept[1].id.kind(), v1::STREAM_KIND_LOG);
}

TEST(StoredOffsetsTest, WritesOnlyWhatHasChanged) {
  TemporaryDir dir;
  StoredOffsets offsets(dir.File("stored"));
  offsets.Keep({PositionOf(0, 5)});
  std::filesystem::remove(dir.File("stored"));
  offsets.Keep({PositionOf(0, 5)});
  EXPECT_FALSE(std::filesystem::exists(dir.File("stored")));
}

TEST(StoredOffsetsTest, WhatCannotBeReadIsNothing) {
  TemporaryDir dir;
  WriteText(dir.File("stored"), "no offsets");
  EXPECT_TRUE(StoredOffsets(dir.File("stored")).Read().empty());
}

}  // namespace
}  // namespace trainyard::worker
