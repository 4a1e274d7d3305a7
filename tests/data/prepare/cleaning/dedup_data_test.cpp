#include "data/prepare/cleaning/dedup_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/prepare/splits/prepared_data.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<DedupSummary> DedupQuietly(const DedupOptions& options) {
  Progress progress = QuietProgress();
  return DedupData(options, &progress, kNeverCancelled);
}

DedupOptions PresetOptions(const TextDirectory& directory, const std::string& preset) {
  DedupOptions options;
  options.inputs = {directory / "in"};
  options.out = directory / preset;
  options.preset = preset;
  options.jobs = 2;
  return options;
}

TEST(DedupData, TheSummaryStatesTheParametersAndTheClusters) {
  const TextDirectory directory;
  directory.Write("in/a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"two\"}\n{\"text\":\"ONE\"}\n");
  const absl::StatusOr<DedupSummary> near = DedupQuietly(PresetOptions(directory, "near"));
  ASSERT_TRUE(near.ok()) << near.status();
  const std::string text = DedupText(*near);
  EXPECT_THAT(text, HasSubstr("3 from 1 files: 2 kept, 1 dropped (33.33%)"));
  EXPECT_THAT(text, HasSubstr("16 bands of 8, verified at 0.8, greedy"));
  EXPECT_THAT(text, HasSubstr("found          0.0%   0.0%   0.0%  94.7%  99.4%"));
  EXPECT_THAT(text, HasSubstr("clusters     1\n"));
  EXPECT_THAT(text, HasSubstr("2 documents, lowest similarity 1.00, kept " + directory.path() +
                              "/in/a.jsonl:1"));
  const std::string guide = DedupText(*DedupQuietly(PresetOptions(directory, "guide")));
  EXPECT_THAT(guide, HasSubstr("not verified, greedy"));
  EXPECT_THAT(guide, HasSubstr("39.9%"));
  EXPECT_THAT(DedupText(*DedupQuietly(PresetOptions(directory, "exact"))), Not(HasSubstr("found")));
}

TEST(DedupData, OutputIsAnInputOfOtherCommands) {
  const TextDirectory directory;
  directory.Write("in/a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"two\"}\n{\"text\":\"one\"}\n");
  ASSERT_TRUE(DedupQuietly(PresetOptions(directory, "near")).ok());
  DedupOptions again = PresetOptions(directory, "exact");
  again.inputs = {directory / "near"};
  const absl::StatusOr<DedupSummary> summary = DedupQuietly(again);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->result.documents_in, 2);
}

TEST(DedupData, RefusesAnOutputInItsInput) {
  const TextDirectory directory;
  directory.Write("in/a.jsonl", "{\"text\":\"one\"}\n");
  DedupOptions options = PresetOptions(directory, "near");
  options.out = directory / "in/out";
  EXPECT_EQ(DedupQuietly(options).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace trainyard::data
