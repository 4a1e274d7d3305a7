// dataset.
#include <string>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kReport[] = R"({
  "format": "trainyard-data-report", "version": 1,
  "steps": [
    {"directory": "/out/filter", "name": "filter", "tokens": null,
     "run": {"documents_in": 200, "documents_out": 150, "bytes_out": 2048,
             "dropped": [{"reason": "words", "documents": 50, "bytes": 100,
                          "samples": ["/in/a.jsonl:3"]}]},
     "problems": ["an input has changed"]},
    {"directory": "/out/tokenize", "name": "prepare", "run": null,
     "tokens": {"splits": [{"name": "train", "documents": 150, "tokens": 1000, "bytes": 2048,
                            "bytes_per_token": 2.048}]},
     "problems": []}]})";

class DatasetTest : public CliFixture {};

TEST_F(DatasetTest, EachStepHasItsDocuments) {
  answers().data_report.set_report(kReport);
  const CliResult result = Run({"dataset", "17"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("filter +150 +2.0 KiB +75.00 % +/out/filter"));
  EXPECT_THAT(result.out, ContainsRegex("- words +50 +100 B +25.00 % +first /in/a.jsonl:3"));
  EXPECT_THAT(result.out,
              ContainsRegex("prepare train +150 +2.0 KiB +- +1[^ ]*k tokens, 2.05 bytes"));
  EXPECT_THAT(result.out, HasSubstr("problem: an input has changed"));
}

TEST_F(DatasetTest, JsonIsTheReport) {
  answers().data_report.set_report(kReport);
  const CliResult result = Run({"dataset", "17", "-o", "json"});
  EXPECT_EQ(nlohmann::json::parse(result.out), nlohmann::json::parse(kReport));
  EXPECT_THAT(result.out, Not(HasSubstr("problem:")));
}

TEST_F(DatasetTest, WithoutAReportTheCauseIsNamed) {
  answers().data_report.clear_report();
  EXPECT_THAT(Run({"dataset", "17"}).err, HasSubstr("has sent no report of a data set"));
  answers().data_report.set_report("{");
  EXPECT_THAT(Run({"dataset", "17"}).err, HasSubstr("is not a JSON object"));
}

TEST_F(DatasetTest, AReportOfAnotherReleaseIsPrintedAsFarAsItIsKnown) {
  answers().data_report.set_report(
      R"({"steps": [7, {"name": 7, "run": {"documents_out": "x", "dropped": [null]}},
                    {"name": "later", "tokens": {"splits": 5}}]})");
  const CliResult result = Run({"dataset", "17"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

}  // namespace
}  // namespace trainyard::cli
