#include "data/prepare/splits/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SummaryTextTest, NamesTheNextCommand) {
  DataSummary summary;
  summary.directory = "/data/x";
  summary.files = 3;
  summary.tokenizer = "byte";
  summary.vocab_size = 257;
  summary.train = {1000, 10, 900, 3.25};
  summary.val = {100, 1, 90, 3};
  const std::string text = SummaryText(summary);
  EXPECT_THAT(text, HasSubstr("10 train, 1 val, from 3 files"));
  EXPECT_THAT(text, HasSubstr("1,000 train, 100 val"));
  EXPECT_THAT(text, HasSubstr("3.250 nats/token"));
  EXPECT_THAT(text, Not(HasSubstr("bad lines")));
  EXPECT_THAT(text, Not(HasSubstr("not UTF-8")));
  EXPECT_THAT(text, HasSubstr("--set data.path=/data/x --set model.vocab_size=257\n"));
}

TEST(SummaryTextTest, ReportsBadInput) {
  DataSummary summary;
  summary.bad_lines = "3 of 5000 lines skipped: 3 not JSON";
  summary.repaired = 1234;
  const std::string text = SummaryText(summary);
  EXPECT_THAT(text, HasSubstr("bad lines    3 of 5000 lines skipped: 3 not JSON; see bad.jsonl\n"));
  EXPECT_THAT(text,
              HasSubstr("not UTF-8    replaced by U+FFFD in 1,234 lines or blocks of text\n"));
}

}  // namespace
}  // namespace trainyard::data
