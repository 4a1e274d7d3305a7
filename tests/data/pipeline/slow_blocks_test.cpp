#include "data/pipeline/slow_blocks.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

class SlowBlocksTest : public testing::Test {
 protected:
  SlowBlocksTest() {
    std::vector<InputFile> files;
    for (int i = 0; i < 12; ++i) {
      const std::string name = std::string(1, static_cast<char>('a' + i)) + ".jsonl";
      files.push_back({files_.Write(name, "{\"text\": \"wagon\"}\n"), InputKind::kJsonLines});
    }
    PlanLimits limits;
    limits.files_per_block = 1;
    plan_ = *Plan::Make(files, {}, limits);
    slow_.emplace(*plan_);
  }

  TextDirectory files_;
  std::optional<Plan> plan_;
  std::optional<SlowBlocks> slow_;
};

TEST_F(SlowBlocksTest, ABlockIsPrintedOnce) {
  EXPECT_EQ(slow_->LineOf({.number = 2, .seconds = 59.9, .rank = 3}), "");
  EXPECT_EQ(
      slow_->LineOf({.number = 2, .seconds = 75.5, .rank = 3}),
      "block 2 has been in work for 75 s on rank 3: " + (files_ / "b.jsonl") + ", from byte 0");
  EXPECT_EQ(slow_->LineOf({.number = 2, .seconds = 90, .rank = 3}), "");
}

TEST_F(SlowBlocksTest, TheNumberOfLinesIsLimited) {
  for (size_t number = 1; number <= SlowBlocks::kLinesMax; ++number) {
    EXPECT_NE(slow_->LineOf({.number = number, .seconds = 60}), "");
  }
  EXPECT_EQ(slow_->LineOf({.number = SlowBlocks::kLinesMax + 1, .seconds = 60}), "");
}

}  // namespace
}  // namespace trainyard::data
