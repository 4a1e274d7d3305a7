#include "proto/parsers/hugging_face_parser.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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

std::string Bar(int step, int total, const std::string& rate = "1.00it/s") {
  return "\r  1%|█         | " + std::to_string(step) + "/" + std::to_string(total) +
         " [00:01<01:30,  " + rate + "]";
}

// tqdm erases the bar before it writes a line, and then draws the bar again.
std::string Line(const std::string& text, const std::string& bar) {
  return "\r                                        \r" + text + "\n" + bar;
}

class HuggingFaceParserTest : public testing::Test {
 protected:
  std::vector<v1::MetricsRecord> Records(const std::string& text, std::size_t piece_bytes = 0) {
    return RecordsIn(text, *parser_, piece_bytes);
  }

  const std::unique_ptr<LogParser> parser_ = MakeParser(v1::LOG_PARSER_KIND_HUGGING_FACE);
};

TEST_F(HuggingFaceParserTest, MetricsHaveTheStepOfTheProgressBar) {
  const std::string text =
      "\r  0%|          | 0/100 [00:00<?, ?it/s]" + Bar(9, 100) + Bar(10, 100) +
      Line("{'loss': 3.9000, 'grad_norm': 1.21, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
           Bar(10, 100)) +
      Bar(11, 100, "2.50s/it") + "\n";
  for (const std::size_t piece : {0, 1, 7, 50}) {
    const auto records = Records(text, piece);
    ASSERT_FALSE(records.empty());
    for (const v1::MetricsRecord& record : records) EXPECT_EQ(record.total_steps(), 100);
    const auto values = ValuesByStep(records);
    ASSERT_THAT(values, SizeIs(2)) << "bars count once the total is known; piece " << piece;
    EXPECT_THAT(values.at(10),
                UnorderedElementsAre(Pair("loss", 3.9), Pair("grad_norm", 1.21), Pair("lr", 4.5e-5),
                                     Pair("epoch", 0.1), Pair("step_seconds", 1)));
    EXPECT_THAT(values.at(11), ElementsAre(Pair("step_seconds", 2.5)));
  }
}

TEST_F(HuggingFaceParserTest, ConsecutiveRecordsOfAStepAreOne) {
  const auto records = Records(Bar(10, 100) + Line("{'loss': 3.9, 'epoch': 0.1}", Bar(10, 100)) +
                               Bar(10, 100) + Bar(11, 100) + "\n");
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].step(), 10);
  EXPECT_EQ(records[1].step(), 11);
}

// An evaluation moves the cursor in order to draw its bar below the bar of the training.
TEST_F(HuggingFaceParserTest, AnEvaluationHasTheStepOfTheTraining) {
  std::string text = Bar(20, 100) + Line("{'loss': 3.8, 'epoch': 0.2}", Bar(20, 100));
  for (int i = 0; i <= 7; ++i) text += "\n" + Bar(i, 7) + "\x1b[A";
  text += Line(
      "\x1b[A{'eval_loss': 2.123, 'eval_accuracy': np.float64(0.4), 'eval_runtime': 3.1, "
      "'eval_samples_per_second': 13.5, 'epoch': 0.2}",
      Bar(20, 100));
  const auto values = ValuesByStep(Records(text));
  ASSERT_THAT(values, SizeIs(1));
  EXPECT_THAT(
      values.at(20),
      UnorderedElementsAre(Pair("loss", 3.8), Pair("val_loss", 2.123), Pair("eval_accuracy", 0.4),
                           Pair("eval_runtime", 3.1), Pair("eval_samples_per_second", 13.5),
                           Pair("epoch", 0.2), Pair("step_seconds", 1)));
}

TEST_F(HuggingFaceParserTest, EvaluationSetsHaveAnyName) {
  const auto values = ValuesByStep(
      Records(Bar(20, 100) + "\n{'loss': 3.8, 'epoch': 0.2}\n"
                             "{'eval_snli_loss': 1.076, 'eval_snli_runtime': 13.4, 'epoch': 0.59}\n"
                             "{'eval_multi_nli_loss': 1.087, 'epoch': 0.59}\n"));
  EXPECT_EQ(values.at(20).at("snli_loss"), 1.076);
  EXPECT_EQ(values.at(20).at("multi_nli_loss"), 1.087);
}

TEST_F(HuggingFaceParserTest, TheRecordNamesItsEvaluationSets) {
  const auto records = Records(Bar(20, 100) +
                               "\n{'loss': 3.8, 'epoch': 0.2}\n"
                               "{'eval_loss': 2.1, 'eval_snli_loss': 1.1, 'epoch': 0.2}\n"
                               "{'eval_loss': 2.0, 'epoch': 0.2}\n");
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_THAT(records[0].evaluation_sets(), testing::UnorderedElementsAre("val", "snli"));
  EXPECT_EQ(records[0].values().at("val_loss"), 2.0);
}

// Outside of the training, an evaluation draws only its own bar. This test has one evaluation
// before the training and another after the training.
TEST_F(HuggingFaceParserTest, OtherBarsCountNoSteps) {
  const std::string before = Bar(0, 7) + Bar(7, 7) + "\n{'eval_loss': 9.0, 'epoch': 0}\n";
  EXPECT_THAT(Records(before), IsEmpty());
  const std::string text = before + Bar(0, 30) + Bar(30, 30) +
                           Line("{'loss': 3.8, 'epoch': 1.0}", Bar(30, 30)) +
                           "\n{'train_runtime': 100.0, 'train_loss': 2.5, 'epoch': 1.0}\n" +
                           "\rMap: 100%|██████| 1000/1000 [00:01<00:00, 900.00 examples/s]" +
                           Bar(3, 7) + Bar(7, 7) + "\n{'eval_loss': 2.0, 'epoch': 1.0}\n";
  const auto values = ValuesByStep(Records(text));
  ASSERT_THAT(values, SizeIs(1));
  EXPECT_EQ(values.at(30).at("val_loss"), 2.0);
  EXPECT_EQ(values.at(30).at("train_runtime"), 100);
}

TEST_F(HuggingFaceParserTest, TheTotalMayBePrintedBeforeTheTraining) {
  const auto values = ValuesByStep(
      Records("[INFO|trainer.py:2414] 2026-01-15 10:27:59,137 >>   Total optimization steps = 1,000"
              "\n" +
              Bar(5, 1000) + Bar(6, 1000, "4.00it/s") + Bar(3, 7) + "\n"));
  EXPECT_THAT(values, ElementsAre(Pair(5, ElementsAre(Pair("step_seconds", 1))),
                                  Pair(6, ElementsAre(Pair("step_seconds", 0.25)))));
}

// The controller refuses a record with a larger total, and ends the worker's session.
TEST_F(HuggingFaceParserTest, ATotalBeyondTheLargestStepIsUnknown) {
  for (const char* total : {"9,999,999,999,999", "1000000000000000000000000000000"}) {
    const auto records = Records(absl::StrCat("Total optimization steps = ", total,
                                              "\n{'loss': 3.9, 'epoch': 0.1, 'step': 5}\n"));
    ASSERT_THAT(records, SizeIs(1)) << total;
    EXPECT_EQ(records[0].step(), 5);
    EXPECT_EQ(records[0].total_steps(), 0);
  }
}

// Version 5 writes numbers as strings. Some programs with version 3 or 4 write the step.
TEST_F(HuggingFaceParserTest, ReadsNewerAndOlderLines) {
  const auto newer = ValuesByStep(Records(
      Bar(10, 100) +
      "\n{'loss': '3.9', 'grad_norm': '1.21', 'learning_rate': '4.9e-05', 'epoch': '0.1'}\n"));
  EXPECT_THAT(newer.at(10), UnorderedElementsAre(Pair("loss", 3.9), Pair("grad_norm", 1.21),
                                                 Pair("lr", 4.9e-5), Pair("epoch", 0.1)));
  const auto older = ValuesByStep(Records(
      "[INFO|trainer_tf.py:398] 2021-01-15 10:28:50,371 >> {'loss': 0.6347228, 'learning_rate': "
      "4.891304e-05, 'epoch': 0.08695652173913043, 'step': 10}\n"
      "{\"loss\": 7.1527, \"learning_rate\": 4.8e-05, \"epoch\": 0.03, \"step\": 500}\n"));
  EXPECT_THAT(older.at(10), UnorderedElementsAre(Pair("loss", 0.6347228), Pair("lr", 4.891304e-5),
                                                 Pair("epoch", DoubleNear(0.08695652, 1e-6))));
  EXPECT_EQ(older.at(500).at("loss"), 7.1527);
}

TEST_F(HuggingFaceParserTest, ReadsNumbersThatAreNotFiniteAndTokens) {
  const auto values = ValuesByStep(
      Records(Bar(10, 100) +
              "\n{'loss': 0.0, 'grad_norm': nan, 'num_tokens': 81920.0, 'learning_rate': 1e-05, "
              "'epoch': 0.6}\n"));
  EXPECT_TRUE(std::isnan(values.at(10).at("grad_norm")));
  EXPECT_EQ(values.at(10).at("loss"), 0);
  EXPECT_EQ(values.at(10).at("tokens"), 81920);
}

// On the line of the bar, output of DeepSpeed may follow.
TEST_F(HuggingFaceParserTest, TextMayFollowABar) {
  const auto values = ValuesByStep(
      Records("\r  8%|█████████████     | 1999/24128 [1:52:09<20:27:23,  3.33s/it][2021-11-26 "
              "03:07:16,494] [INFO] [logging.py:69:log_dist] [Rank 0] step=2000, skipped=1995\n"
              "\r  8%|█████████████     | 2000/24128 [1:52:12<20:27:20,  3.33s/it]{'loss': 0.5, "
              "'learning_rate': 0.001, 'epoch': 0.08}\n"));
  ASSERT_THAT(values, SizeIs(1));
  EXPECT_EQ(values.at(2000).at("loss"), 0.5);
}

TEST_F(HuggingFaceParserTest, LeavesOtherLinesAlone) {
  const std::string others =
      "{'loss': 3.9, 'epoch': 0.1}\n"  // Without a bar, the step is unknown.
      "{'lr': 0.1, 'seed': 3}\n{}\n{'loss'\n'epoch': 0.1}\n12%|\n"
      "\r 53%|█████▎    | 2.24G/4.26G [01:53<01:34, 21.3MB/s]\n"
      "\r 99%|█████▎    | 8/4 [01:53<01:34, 1it/s]\n"
      "\r  1%|█ | 99999999999999999999/999999999999999999999 [0<1, 1it/s]\n";
  EXPECT_THAT(Records(others), IsEmpty());
}

TEST_F(HuggingFaceParserTest, UnderstandsPrefixes) {
  const auto values =
      ValuesByStep(Records("[rank0]:  10%|█         | 10/100 [00:01<01:30,  1.00it/s]\n"
                           "[rank0]: {'loss': 3.9, 'epoch': 0.1}\n"
                           "0:  11%|█         | 11/100 [00:01<01:30,  1.00it/s]\n"));
  ASSERT_THAT(values, SizeIs(2));
  EXPECT_EQ(values.at(10).at("loss"), 3.9);
}

}  // namespace
}  // namespace trainyard::worker
