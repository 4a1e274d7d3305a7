#include "data/stages/block_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/stages/binary_part.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;
using State = BlockQueue::State;

// A run of four blocks, one per file.
class BlockQueueTest : public testing::Test {
 protected:
  BlockQueueTest() {
    std::vector<InputFile> files;
    for (const char* name : {"a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"}) {
      files.push_back({files_.Write(name, "{\"text\": \"wagon\"}\n"), InputKind::kJsonLines});
    }
    PlanLimits limits;
    limits.files_per_block = 1;
    plan_ = *Plan::Make(files, {}, limits);
    Open();
  }

  void Open() {
    directory_.reset();
    std::vector<BlockRecord> records;
    auto opened = RunDirectory::Open(files_ / "out", *plan_, false, &records);
    ASSERT_TRUE(opened.ok()) << opened.status();
    directory_ = *std::move(opened);
    totals_.emplace(*plan_, BadLinePolicy());
    for (BlockRecord& record : records) ASSERT_EQ(totals_->Add(record), absl::OkStatus());
    queue_ = std::make_unique<BlockQueue>(*plan_, directory_.get(), &*totals_);
  }

  // Writes a part as a holder of the lease does.
  BlockRecord Process(const BlockLease& lease, const std::string& text) {
    auto part = BinaryPartWriter::Create(directory_->names(), lease, "numbers");
    EXPECT_TRUE(part.ok()) << part.status();
    EXPECT_EQ((*part)->Append(text), absl::OkStatus());
    BlockRecord record;
    record.block = lease.block;
    record.counts.documents_in = 1;
    record.counts.sums["tokens"] = 5;
    record.parts = {*(*part)->Finish()};
    return record;
  }

  BlockLease Take(int holder) {
    const BlockQueue::Offer offer = queue_->Take(holder);
    EXPECT_EQ(offer.state, State::kLeased);
    return offer.lease;
  }

  TextDirectory files_;
  std::optional<Plan> plan_;
  std::unique_ptr<RunDirectory> directory_;
  std::optional<RunTotals> totals_;
  std::unique_ptr<BlockQueue> queue_;
};

TEST_F(BlockQueueTest, LeasesEachBlockOnceInOrder) {
  for (size_t block = 0; block < 4; ++block) EXPECT_EQ(Take(1).block, block);
  EXPECT_EQ(queue_->Take(2).state, State::kWait);
}

TEST_F(BlockQueueTest, EndsWhenAllBlocksAreRecorded) {
  for (size_t block = 0; block < 4; ++block) {
    const BlockLease lease = Take(BlockQueue::kLocalHolder);
    EXPECT_EQ(queue_->Commit(lease, Process(lease, "5")), absl::OkStatus());
  }
  EXPECT_EQ(queue_->Take(1).state, State::kEnded);
  EXPECT_EQ(queue_->Wait(), absl::OkStatus());
  EXPECT_EQ(queue_->Counts().documents_in, 4);
  EXPECT_EQ(queue_->Counts().sums.at("tokens"), 20);
  EXPECT_EQ(queue_->TakeForeignBytes(), 0);
  Open();
  EXPECT_EQ(totals_->blocks(), 4u);
  EXPECT_EQ(totals_->sums().at("tokens"), 20);
}

TEST_F(BlockQueueTest, ReturnsTheBlocksOfALostHolder) {
  const BlockLease first = Take(1);
  const BlockLease second = Take(2);
  queue_->Release(1);
  EXPECT_FALSE(queue_->Continues(first));
  EXPECT_TRUE(queue_->Continues(second));
  EXPECT_EQ(Take(2).block, first.block);
  EXPECT_EQ(Take(2).block, 2u);
}

TEST_F(BlockQueueTest, FindsTheBlockThatHasBeenInWorkForTheLongestTime) {
  EXPECT_FALSE(queue_->LongestRunning());
  const BlockLease first = Take(3);
  const BlockLease second = Take(4);
  ASSERT_TRUE(queue_->LongestRunning());
  EXPECT_EQ(queue_->LongestRunning()->block, first.block);
  EXPECT_EQ(queue_->LongestRunning()->holder, 3);
  EXPECT_GE(queue_->LongestRunning()->seconds, 0);
  ASSERT_EQ(queue_->Commit(first, Process(first, "1")), absl::OkStatus());
  ASSERT_TRUE(queue_->LongestRunning());
  EXPECT_EQ(queue_->LongestRunning()->block, second.block);
  // A block that is leased again begins again, so that the other one is older.
  const BlockLease third = Take(3);
  queue_->Release(4);
  EXPECT_EQ(Take(3).block, second.block);
  EXPECT_EQ(queue_->LongestRunning()->block, third.block);
}

TEST_F(BlockQueueTest, RefusesTheRecordOfALostLease) {
  const BlockLease lost = Take(1);
  const BlockRecord late = Process(lost, "late");
  queue_->Release(1);
  const BlockLease lease = Take(2);
  EXPECT_EQ(queue_->Commit(lease, Process(lease, "new")), absl::OkStatus());
  EXPECT_EQ(queue_->Commit(lost, late).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(ReadFile(files_ / "out/numbers-00000.bin"), "new");
  EXPECT_GT(queue_->TakeForeignBytes(), 0);
}

// The log may end with half a record, so that nothing may be appended.
TEST_F(BlockQueueTest, ACommitFailsAfterAFailedOne) {
  const BlockLease first = Take(1);
  const BlockLease second = Take(1);
  const BlockRecord missing = Process(first, "5");
  std::filesystem::remove(files_ / "out/" +
                          PartNames::UnfinishedName(first, missing.parts[0].name));
  const absl::Status failure = queue_->Commit(first, missing);
  EXPECT_THAT(std::string(failure.message()), HasSubstr("cannot rename"));
  EXPECT_EQ(queue_->Commit(second, Process(second, "6")), failure);
  Open();
  EXPECT_EQ(totals_->blocks(), 0u);
}

TEST_F(BlockQueueTest, RemovesUnfinishedPartsOfALostHolder) {
  Process(Take(1), "late");
  Open();
  for (const std::string& name : files_.Names()) EXPECT_FALSE(PartNames::IsUnfinished(name));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(files_ / "out"),
                          std::filesystem::directory_iterator()),
            3);  // plan.json, records.log and .lock
}

TEST_F(BlockQueueTest, ReturnsTheErrorOfTheFirstFailedBlock) {
  const BlockLease first = Take(1);
  const BlockLease second = Take(1);
  queue_->Fail(second, absl::DataLossError("second"));
  EXPECT_TRUE(queue_->Continues(first));
  EXPECT_EQ(queue_->Take(2).state, State::kEnded);
  queue_->Fail(first, absl::DataLossError("first"));
  EXPECT_EQ(queue_->Wait(), absl::DataLossError("first"));
}

TEST_F(BlockQueueTest, FailsABlockThatSeveralHoldersLose) {
  for (int holder = 1; holder <= BlockQueue::kLossesMax; ++holder) {
    EXPECT_EQ(Take(holder).block, 0u);
    queue_->Release(holder);
  }
  const absl::Status status = queue_->Wait();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a.jsonl"));
}

TEST_F(BlockQueueTest, EndsWithoutItsHolders) {
  const BlockLease lease = Take(1);
  queue_->End(absl::CancelledError("interrupted"));
  EXPECT_EQ(queue_->Wait(), absl::CancelledError("interrupted"));
  EXPECT_EQ(queue_->Commit(lease, Process(lease, "late")).code(), absl::StatusCode::kAborted);
}

TEST(PartNamesTest, RecognizesParts) {
  const PartNames names("/out", 123456);
  EXPECT_EQ(names.Name("part", 12), "part-000012.jsonl.zst");
  EXPECT_EQ(names.Name("words", 12, kBinaryEnding), "words-000012.bin");
  EXPECT_TRUE(PartNames::IsPart("part-000012.jsonl.zst"));
  EXPECT_TRUE(PartNames::IsPart("words-00001.bin"));
  for (const char* name : {"plan.json", "part-.bin", "-1.bin", "part-1x.bin", "part-1", "train.bin",
                           "Part-1.bin", ""}) {
    EXPECT_FALSE(PartNames::IsPart(name)) << name;
  }
  const std::string unfinished = PartNames::UnfinishedName({12, 0xabc}, "words-00012.bin");
  EXPECT_EQ(unfinished, "unfinished-0000000000000abc-words-00012.bin");
  EXPECT_TRUE(PartNames::IsUnfinished(unfinished));
  EXPECT_FALSE(PartNames::IsPart(unfinished));
  EXPECT_FALSE(PartNames::IsUnfinished("unfinished-0000000000000abc-plan.json"));
}

}  // namespace
}  // namespace trainyard::data
