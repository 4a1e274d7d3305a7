#include "data/prepare/cleaning/decontaminate_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/prepare/splits/prepared_data.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

TEST(DecontaminateDataTest, DropsDocumentsOfAnEvaluationSet) {
  const TextDirectory directory;
  directory.Write("eval/a.txt", Prose(200, 1));
  directory.Write("in/a.txt", Prose(200, 1));
  directory.Write("in/b.txt", Prose(200, 2));
  DecontaminateOptions options;
  options.inputs = {directory / "in"};
  options.against = {directory / "eval"};
  options.out = directory / "out";
  options.ngram = 5;
  options.jobs = 1;
  Progress progress = QuietProgress();
  const auto summary = DecontaminateData(options, &progress, kNeverCancelled);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->result.documents_out, 1);
  EXPECT_EQ(summary->settings.min_words, 5) << "no text has fewer words than a run";
  options.out = directory / "eval/out";
  EXPECT_THAT(DecontaminateData(options, &progress, kNeverCancelled).status().message(),
              HasSubstr("contain each other"));
  options.against = {directory / "none"};
  options.out = directory / "out2";
  EXPECT_EQ(DecontaminateData(options, &progress, kNeverCancelled).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(DecontaminateDataTest, PrintsASummary) {
  DecontaminateSummary summary = {"clean", 2, {8, 5, 2, 0.7}, {}};
  DecontaminationResult& result = summary.result;
  result.evaluation_documents = 1319;
  result.ngrams = 50000;
  result.documents_in = 1000;
  result.documents_out = 990;
  result.bytes_in = 9000;
  result.bytes_out = 8000;
  result.overlapped = {{"q.jsonl", 10, 1000, {"a.jsonl:5", "a.jsonl:9"}}};
  const std::string start =
      "documents    1,000 from 2 files: 990 kept, 10 dropped (1.00%)\n"
      "text         9.0 kB: 8.0 kB kept\n"
      "evaluation   1,319 documents, 50,000 different runs of words\n";
  const std::string end =
      "rule         at least 2 runs of 8 words and at least 70 % of them are those of one "
      "evaluation document\n"
      "overlap      10 documents with q.jsonl, first a.jsonl:5\n"
      "directory    clean\n"
      "next         trainyard data prepare clean --tokenizer TOKENIZER --out DIR\n";
  EXPECT_EQ(DecontaminateText(summary), start + end);
  result.ignored = 3;
  EXPECT_EQ(DecontaminateText(summary),
            start + "ignored      3 evaluation documents with fewer than 5 words\n" + end);
  result.overlapped.resize(25, result.overlapped[0]);
  EXPECT_THAT(DecontaminateText(summary), HasSubstr("overlap      with 5 other files"));
}

}  // namespace
}  // namespace trainyard::data
