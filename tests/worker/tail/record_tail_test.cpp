#include "worker/tail/record_tail.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/worker/tail/growing_file.h"

namespace trainyard::worker {
namespace {

constexpr ClockReading kTimeOfRead{1700000000000, 900};

std::string MetricsLine(int step) {
  return absl::StrCat("{\"type\":\"metrics\",\"step\":", step, ",\"loss\":1}\n");
}

class RecordTailTest : public testing::Test {
 protected:
  // Returns a tail whose account starts at byte `account_offset`.
  RecordTail Make(int64_t account_offset = 0) {
    const auto parse = [this](const TailPosition& position) {
      absl::StatusOr<v1::TelemetryBatch> batch = ReadTelemetry(position);
      if (batch.ok()) parsed_ += batch->records_size();
      return batch;
    };
    return {file_.path(), parse, account_offset, account_};
  }

  // Returns the steps that the stream reads from `offset` on. Advances `offset`.
  std::vector<int64_t> Stream(RecordTail& tail, int64_t& offset) {
    const auto batch = tail.ReadForStream(offset, false, kTimeOfRead);
    std::vector<int64_t> steps;
    EXPECT_EQ(batch->begin_offset(), offset);
    for (const v1::TelemetryRecord& record : batch->records()) {
      steps.push_back(record.metrics().step());
    }
    offset = batch->end_offset();
    return steps;
  }

  const GrowingFile file_;
  const std::shared_ptr<RankAccount> account_ = std::make_shared<RankAccount>();
  int parsed_ = 0;
};

using Steps = std::vector<int64_t>;

TEST_F(RecordTailTest, ALineIsParsedOnceWhicheverReaderComesFirst) {
  RecordTail tail = Make();
  int64_t sent = 0;
  for (int step = 1; step <= 20; ++step) {
    file_.Append(MetricsLine(step));
    if (step % 5 == 0) tail.ReadForAccount(false, kTimeOfRead);
    EXPECT_EQ(Stream(tail, sent), Steps{step});
    EXPECT_EQ(account_->step(), step);
  }
  EXPECT_EQ(parsed_, 20);
}

TEST_F(RecordTailTest, TheAccountIsCurrentWhileTheStreamWaits) {
  RecordTail tail = Make();
  for (int step = 1; step <= 3; ++step) {
    file_.Append(MetricsLine(step));
    tail.ReadForAccount(false, kTimeOfRead);
  }
  EXPECT_EQ(account_->step(), 3);
  int64_t sent = 0;
  EXPECT_EQ(Stream(tail, sent), Steps{1}) << "kept";
  EXPECT_EQ(Stream(tail, sent), (Steps{2, 3})) << "read again";
  EXPECT_EQ(parsed_, 3 + 2);
  file_.Append(MetricsLine(4));
  EXPECT_EQ(Stream(tail, sent), Steps{4});
  tail.ReadForAccount(false, kTimeOfRead);
  EXPECT_EQ(parsed_, 3 + 2 + 1) << "from here on once";
}

// After a reconnect, the stream starts again at an earlier position. The account must not count any
// record twice.
TEST_F(RecordTailTest, TheAccountTakesNoRecordTwice) {
  RecordTail tail = Make();
  file_.Append("{\"type\":\"checkpoint\",\"step\":1,\"path\":\"/c\",\"blocking_seconds\":2}\n");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(tail.ReadForStream(0, false, kTimeOfRead).ok());
    tail.ReadForAccount(false, kTimeOfRead);
  }
  EXPECT_EQ(account_->newest().checkpoint_seconds(), 2);
}

TEST_F(RecordTailTest, ABacklogIsReadUpToTheAccountAndThenOnce) {
  for (int step = 1; step <= 4; ++step) file_.Append(MetricsLine(step));
  const auto begin = static_cast<int64_t>(MetricsLine(1).size());
  RecordTail tail = Make(2 * begin);
  int64_t sent = 0;
  EXPECT_EQ(Stream(tail, sent), (Steps{1, 2}));
  EXPECT_EQ(account_->step(), 0) << "the account begins with step 3";
  EXPECT_EQ(Stream(tail, sent), (Steps{3, 4}));
  EXPECT_EQ(account_->step(), 4);
}

TEST_F(RecordTailTest, AnAccountThatStandsWithinALineDoesNotHoldUpTheStream) {
  file_.Append(MetricsLine(1));
  RecordTail tail = Make(5);
  int64_t sent = 0;
  EXPECT_EQ(Stream(tail, sent), Steps{1});
}

TEST_F(RecordTailTest, ManyRecordsAreNotHeld) {
  RecordTail tail = Make();
  std::string lines;
  while (lines.size() <= RecordTail::kHeldBytes) lines += MetricsLine(1);
  file_.Append(lines);
  tail.ReadForAccount(false, kTimeOfRead);
  const int before = parsed_;
  int64_t sent = 0;
  EXPECT_EQ(static_cast<int>(Stream(tail, sent).size()), before);
  EXPECT_EQ(parsed_, 2 * before);
}

}  // namespace
}  // namespace trainyard::worker
