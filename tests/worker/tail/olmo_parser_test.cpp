#include "proto/parsers/olmo_parser.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/tail/parsed_text.h"

namespace trainyard::worker {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr char kStepHead[] = "2024-08-06 09:59:26.181 node-1:0  olmo.train:908  INFO    ";

class OlmoParserTest : public testing::Test {
 protected:
  std::vector<v1::MetricsRecord> Records(const std::string& text, std::size_t piece_bytes = 0) {
    return RecordsIn(text, *parser_, piece_bytes);
  }

  const std::unique_ptr<LogParser> parser_ = MakeParser(v1::LOG_PARSER_KIND_OLMO, 8);
};

TEST_F(OlmoParserTest, AStepHasTheMetricsOfTheLinesBelow) {
  const std::string text = "    System/Peak GPU Memory (MB)=6,784\n" + std::string(kStepHead) +
                           "[step=2/739328,epoch=0]\n"
                           "    optim/total_grad_norm=0.0002\n"
                           "    optim/learning_rate_group0=4.00E-07\n"
                           "    optim/learning_rate_group1=5.00E-07\n"
                           "    train/CrossEntropyLoss=1.7872662283480167e-06\n"
                           "    train/Perplexity=1.000\n"
                           "    throughput/total_tokens=2,097,152\n"
                           "    throughput/device/tokens_per_second=26,668\n"
                           "    throughput/device/batches_per_second=0.0250\n"
                           "    System/Peak GPU Memory (MB)=53,695\n";
  for (const std::size_t piece : {0, 1, 40, 300}) {
    const auto records = Records(text, piece);
    for (const v1::MetricsRecord& record : records) EXPECT_EQ(record.total_steps(), 739328);
    if (piece == 0) {
      EXPECT_THAT(records, SizeIs(1));
    }
    EXPECT_THAT(
        ValuesByStep(records),
        ElementsAre(Pair(
            2, UnorderedElementsAre(Pair("grad_norm", 0.0002), Pair("lr", 4e-7),
                                    Pair("optim/learning_rate_group1", 5e-7),
                                    Pair("loss", DoubleNear(1.787e-6, 1e-9)), Pair("perplexity", 1),
                                    Pair("tokens", 2097152), Pair("tokens_per_second", 8 * 26668),
                                    Pair("step_seconds", DoubleNear(40, 1e-9)),
                                    Pair("memory_bytes", 53695e6)))));
  }
}

TEST_F(OlmoParserTest, ReadsOlmoCore) {
  const auto records =
      Records(std::string(kStepHead) +
              "[step=9/???,epoch=1]\n"  // Progress without metrics.
              "2026-01-01 10:00:02\tnode-1:0\tolmo_core.train:12\tINFO\t"
              "[step=10/10000,epoch=1,eta=1day2:03:04]\n"
              "    train/CE loss=2.345\n    train/PPL=10.43\n    optim/total grad norm=nan\n"
              "    optim/LR (group 0)=3.00E-04\n    throughput/device/TPS=10,000\n"
              "    throughput/device/TPS (actual avg)=9,000\n    throughput/device/BPS=0.5000\n"
              "    throughput/device/MFU=41.50\n    throughput/total tokens=4,194,304\n"
              "    train/block 03/load imbalance=1.25\n");
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].step(), 9);
  EXPECT_EQ(records[0].total_steps(), 0);
  EXPECT_THAT(records[0].values(), IsEmpty());
  EXPECT_EQ(records[1].step(), 10);
  EXPECT_EQ(records[1].total_steps(), 10000);
  EXPECT_THAT(records[1].values(),
              UnorderedElementsAre(
                  Pair("loss", 2.345), Pair("perplexity", 10.43),
                  Pair("grad_norm", testing::IsNan()), Pair("lr", 3e-4),
                  Pair("tokens_per_second", 80000), Pair("throughput/device/tps_actual_avg", 9000),
                  Pair("step_seconds", 2), Pair("mfu", DoubleNear(0.415, 1e-12)),
                  Pair("tokens", 4194304), Pair("train/block_03/load_imbalance", 1.25)));
}

TEST_F(OlmoParserTest, AnEvaluationHasTheStepOfTheTraining) {
  const auto records = Records(
      "[step=1000/10000,epoch=1]\n    train/CE loss=2.3\nRunning lm evals...\n"
      "[eval=lm,step=5/12]\n[eval=lm,step=12/12]\nFinished lm evals in 12.0 seconds. Metrics:\n"
      "    c4_en-validation/CE loss=3.214\n    c4_en-validation/PPL=24.87\n"
      "    arc_challenge (accuracy)=0.3200\n"
      "    eval/pile-validation/CrossEntropyLoss=2.9\n"
      "    eval/lm/wiki/CE loss=2.7\n"
      "Evaluation speed:\n    c4_en-validation/CE loss (+variants): 12.0 sec (12 batches)\n");
  const auto values = ValuesByStep(records);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_THAT(records[0].evaluation_sets(),
              UnorderedElementsAre("c4_en-validation", "pile-validation", "wiki"));
  EXPECT_THAT(values.at(1000),
              UnorderedElementsAre(Pair("loss", 2.3), Pair("c4_en-validation_loss", 3.214),
                                   Pair("c4_en-validation_perplexity", 24.87),
                                   Pair("arc_challenge_accuracy", 0.32),
                                   Pair("pile-validation_loss", 2.9), Pair("wiki_loss", 2.7)));
}

TEST_F(OlmoParserTest, UnderstandsPrefixes) {
  const auto values =
      ValuesByStep(Records("[rank0]: 2026-01-01 10:00:02 INFO [step=10/100,epoch=1]\n"
                           "[rank0]:     train/CE loss=2.3\n0:     train/PPL=9.9\n"));
  EXPECT_THAT(values, ElementsAre(Pair(
                          10, UnorderedElementsAre(Pair("loss", 2.3), Pair("perplexity", 9.9)))));
}

TEST_F(OlmoParserTest, LeavesOtherLinesAlone) {
  EXPECT_THAT(Records("    train/CE loss=2.3\n"), IsEmpty()) << "no step is known";
  const auto records = Records(
      "[step=10/100,epoch=1]\nseed=1\nhttp://a/b=1\n    train/CE loss=high\n    path=/a/b=3\n"
      "    a/=3\n    /a=3\n[step=x/100,epoch=1]\n");
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_THAT(records[0].values(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::worker
