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
  EXPECT_FALSE(answers().data_report_requests.back().without_report());
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

v1::ReportedDataSet& AddSet(const std::string& path, const std::string& checksum,
                            v1::GetDataReportResponse& response) {
  v1::ReportedDataSet& set = *response.add_data_sets();
  set.set_path(path);
  set.set_xxh64(checksum);
  set.set_tokens(1500);
  return set;
}

void AddJob(int64_t id, const std::string& name, const std::string& path,
            v1::ReportedDataSet& set) {
  v1::DataSetJob& job = *set.add_jobs();
  job.set_job_id(id);
  job.set_name(name);
  job.set_path(path);
}

TEST_F(DatasetTest, ADataJobNamesTheJobsThatReadItsData) {
  v1::GetDataReportResponse& response = answers().data_report;
  response.set_report(kReport);
  v1::ReportedDataSet& made = AddSet("/out/tokenize", "00000000000000aa", response);
  AddJob(20, "copy", "/disk", made);
  AddJob(18, "", "/out/tokenize", made);
  made.set_omitted_jobs(3);
  const CliResult result = Run({"dataset", "17"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("problem: an input has changed\n"
                                    "read by: job 20 copy, as /disk\n"
                                    "read by: job 18, as /out/tokenize\n"
                                    "read by: 3 older jobs\n"));
  const auto json = nlohmann::json::parse(Run({"dataset", "17", "-o", "json"}).out);
  ASSERT_EQ(json["linked_jobs"].size(), 2u);
  EXPECT_EQ(json["linked_jobs"][1]["job"], 18);
  EXPECT_EQ(json["linked_jobs"][1]["path"], "/out/tokenize");
  EXPECT_EQ(json["linked_jobs"][1]["xxh64"], "00000000000000aa");
}

TEST_F(DatasetTest, ATrainingJobNamesTheJobsThatMadeItsData) {
  v1::GetDataReportResponse& response = answers().data_report;
  response.set_report(R"({"format": "trainyard-data-use", "version": 1, "data_sets": []})");
  v1::ReportedDataSet& copy = AddSet("/disk", "00000000000000aa", response);
  AddJob(17, "corpus", "/out/tokenize", copy);
  AddSet("/text", "", response);
  for (v1::ReportedDataSet& set : *response.mutable_data_sets()) set.set_is_input(true);
  const CliResult result = Run({"dataset", "20"});
  EXPECT_THAT(result.out, HasSubstr("MADE BY"));
  EXPECT_THAT(result.out, ContainsRegex("/disk +1[^ ]*k +00000000000000aa +job 17 corpus"));
  EXPECT_THAT(result.out, ContainsRegex("/text +1[^ ]*k +- +-"));
  EXPECT_THAT(result.out, Not(HasSubstr("read by")));
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
