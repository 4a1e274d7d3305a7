#include "proto/parsers/output_parser.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/limits.h"
#include "proto/parsers/log_parser.h"

namespace trainyard {
namespace {

using testing::ElementsAre;

std::unique_ptr<LogParser> MakeParser(v1::LogParserKind kind) {
  v1::LogParserSpec spec;
  spec.set_kind(kind);
  return *MakeLogParser(spec, 1);
}

// Returns "step loss" of each record, if the output arrives in pieces of this size.
std::vector<std::string> LossesOf(v1::LogParserKind kind, const std::string& output,
                                  std::size_t piece_bytes) {
  const std::unique_ptr<LogParser> parser = MakeParser(kind);
  std::vector<std::string> found;
  OutputParser reader(*parser, [&](const v1::MetricsRecord& record) {
    const auto loss = record.values().find("loss");
    found.push_back(
        absl::StrCat(record.step(), " ", loss == record.values().end() ? 0 : loss->second));
  });
  for (std::size_t at = 0; at < output.size(); at += piece_bytes) {
    reader.Add(std::string_view(output).substr(at, piece_bytes));
  }
  reader.End();
  EXPECT_EQ(reader.records(), static_cast<int64_t>(found.size()));
  return found;
}

TEST(OutputParserTest, FindsTheSameRecordsInPiecesOfAnySize) {
  const std::string output =
      "starting\r\n\n[rank0]: iter 1: loss 4.5, time 20.0ms\rno step\riter 2: loss 4.25, time 2ms\n"
      "iter 3: loss 4.0, time 2ms";
  for (std::size_t bytes = 1; bytes <= output.size(); ++bytes) {
    EXPECT_THAT(LossesOf(v1::LOG_PARSER_KIND_NANOGPT, output, bytes),
                ElementsAre("1 4.5", "2 4.25", "3 4"))
        << bytes;
  }
}

TEST(OutputParserTest, LinesOfOneStepBecomeOneRecord) {
  const std::string output =
      "[step=5/10,epoch=1]\n    train/CrossEntropyLoss=3.5\n    optim/total_grad_norm=1.25\n"
      "[step=6/10,epoch=1]\n    train/CrossEntropyLoss=3.25\n";
  EXPECT_THAT(LossesOf(v1::LOG_PARSER_KIND_OLMO, output, 7), ElementsAre("5 3.5", "6 3.25"));
}

TEST(OutputParserTest, LongLineIsReadInPieces) {
  const std::string output =
      std::string(3 * kMaxLineBytes + 5, 'x') + "\niter 7: loss 1.5, time 2ms\n";
  EXPECT_THAT(LossesOf(v1::LOG_PARSER_KIND_NANOGPT, output, 10'000), ElementsAre("7 1.5"));
  const std::unique_ptr<LogParser> parser = MakeParser(v1::LOG_PARSER_KIND_NANOGPT);
  OutputParser reader(*parser, [](const v1::MetricsRecord&) {});
  reader.Add(output);
  reader.End();
  EXPECT_EQ(reader.lines(), 5);
}

}  // namespace
}  // namespace trainyard
