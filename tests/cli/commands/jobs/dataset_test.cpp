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

// Job 17 makes the data set that jobs 18 and 20 read, and job 19 reads another one.
class DataLinksTest : public CliFixture {
 protected:
  DataLinksTest() {
    v1::ListJobsResponse page;
    AddJob(20, "copy", v1::JOB_KIND_UNSPECIFIED, page);
    AddJob(19, "other", v1::JOB_KIND_UNSPECIFIED, page);
    AddJob(18, "llama", v1::JOB_KIND_UNSPECIFIED, page);
    AddJob(17, "corpus", v1::JOB_KIND_DATA, page);
    answers().pages = {page};
    nlohmann::json made = nlohmann::json::parse(kReport);
    made["data_sets"] = {Set("/out/tokenize", "00000000000000aa"), Set("/out/more", "")};
    SetReport("17", made);
    SetReport("18", Use({Set("/out/tokenize", "00000000000000aa")}));
    SetReport("19", Use({Set("/out/tokenize", "00000000000000bb"), Set("/text", "")}));
    SetReport("20", Use({Set("/disk", "00000000000000aa")}));
  }

  static void AddJob(int64_t id, const std::string& name, v1::JobKind kind,
                     v1::ListJobsResponse& page) {
    v1::Job& job = *page.add_jobs();
    job.set_id(id);
    job.mutable_spec()->set_name(name);
    job.mutable_spec()->set_kind(kind);
  }
  static nlohmann::json Set(const std::string& path, const std::string& checksum) {
    return {{"path", path}, {"xxh64", checksum}, {"tokens", 1500}};
  }
  static nlohmann::json Use(const nlohmann::json::array_t& sets) {
    return {{"format", "trainyard-data-use"}, {"version", 1}, {"data_sets", sets}};
  }
  void SetReport(const std::string& job, const nlohmann::json& report) {
    answers().data_reports[job].set_report(report.dump());
  }
};

TEST_F(DataLinksTest, ADataJobNamesTheJobsThatReadItsData) {
  const CliResult result = Run({"dataset", "17"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("problem: an input has changed\n"
                                    "read by: job 20 copy, as /disk\n"
                                    "read by: job 18 llama, as /out/tokenize\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("job 19")));
  const auto json = nlohmann::json::parse(Run({"dataset", "17", "-o", "json"}).out);
  ASSERT_EQ(json["linked_jobs"].size(), 2u);
  EXPECT_EQ(json["linked_jobs"][1]["job"], 18);
  EXPECT_EQ(json["linked_jobs"][1]["path"], "/out/tokenize");
}

TEST_F(DataLinksTest, ATrainingJobNamesTheJobsThatMadeItsData) {
  EXPECT_THAT(Run({"dataset", "20"}).out,
              ContainsRegex("/disk +1[^ ]*k +00000000000000aa +job 17 corpus"));
  const CliResult other = Run({"dataset", "19"});
  EXPECT_THAT(other.out, ContainsRegex("/out/tokenize +1[^ ]*k +00000000000000bb +-"));
  EXPECT_THAT(other.out, ContainsRegex("/text +1[^ ]*k +- +-"));
}

// A job that has just been deleted has no report.
TEST_F(DataLinksTest, JobsWithoutAReportAreNotLinked) {
  answers().data_reports.erase("18");
  EXPECT_THAT(Run({"dataset", "17"}).out, Not(HasSubstr("job 18")));
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
