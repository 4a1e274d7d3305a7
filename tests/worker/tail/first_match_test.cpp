#include "worker/tail/first_match.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/worker/tail/growing_file.h"

namespace trainyard::worker {
namespace {

constexpr char kStep[] = "iter 3: loss 1.5000, time 20.00ms, mfu 10.00%\n";

std::string Noise(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "loading shard " + std::to_string(i) + "\n";
  return text;
}

class FirstMatchTest : public testing::Test {
 protected:
  FirstMatchTest() {
    v1::LogParserSpec spec;
    spec.set_kind(v1::LOG_PARSER_KIND_NANOGPT);
    parser_ = *MakeLogParser(spec, 1);
  }

  int64_t ReadOn(FirstMatch& match, int64_t kept_from = 0) {
    match.ReadOn(*parser_, kept_from, false);
    return match.unmatched_lines();
  }

  GrowingFile file_;
  std::unique_ptr<LogParser> parser_;
};

TEST_F(FirstMatchTest, CountsLinesUntilAStepIsFound) {
  FirstMatch match(file_.path());
  EXPECT_EQ(ReadOn(match), 0) << "there is no file yet";
  file_.Append(Noise(40) + "half a li");
  EXPECT_EQ(ReadOn(match), 40);
  file_.Append("ne\n");
  EXPECT_EQ(ReadOn(match), 41);
  file_.Append(kStep);
  EXPECT_EQ(ReadOn(match), 0);
  file_.Append(Noise(2000));
  EXPECT_EQ(ReadOn(match), 0) << "one match is enough";
}

// The step and the metrics are in different lines, which arrive one by one.
TEST_F(FirstMatchTest, KnowsTheLinesBefore) {
  v1::LogParserSpec spec;
  spec.set_kind(v1::LOG_PARSER_KIND_HUGGING_FACE);
  parser_ = *MakeLogParser(spec, 1);
  FirstMatch match(file_.path());
  file_.Append("\r 10%|#         | 10/100 [00:10<01:30,  1.00s/it]\r");
  EXPECT_GT(ReadOn(match), 0);
  file_.Append("{'loss': 3.9, 'epoch': 0.1}\n");
  EXPECT_EQ(ReadOn(match), 0);
}

TEST_F(FirstMatchTest, ARestartedWorkerComesToTheSameAnswer) {
  file_.Append(Noise(500));
  FirstMatch none(file_.path());
  EXPECT_EQ(ReadOn(none), 500);
  FirstMatch again(file_.path());
  EXPECT_EQ(ReadOn(again), 500);
  // The match is so far from the end that one call does not reach it.
  file_.Append(Noise(10'000) + kStep + Noise(10'000));
  FirstMatch matched(file_.path());
  for (int call = 0; call < 10; ++call) ReadOn(matched);
  EXPECT_EQ(matched.unmatched_lines(), 0);
}

TEST_F(FirstMatchTest, AMatchThatAnotherReaderFoundCounts) {
  file_.Append(Noise(50));
  FirstMatch match(file_.path());
  EXPECT_EQ(ReadOn(match), 50);
  match.Found();
  EXPECT_EQ(match.unmatched_lines(), 0);
}

TEST_F(FirstMatchTest, DroppedOutputIsNotRead) {
  const std::string dropped = Noise(50);
  file_.Append(dropped + Noise(7));
  FirstMatch match(file_.path());
  EXPECT_EQ(ReadOn(match, static_cast<int64_t>(dropped.size())), 7);
}

}  // namespace
}  // namespace trainyard::worker
