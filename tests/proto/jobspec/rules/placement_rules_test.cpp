#include "proto/jobspec/rules/placement_rules.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using testing::HasSubstr;

// Returns the errors of a job with this section `placement`, or "" if the job is valid.
std::string ErrorOfPlacement(const std::string& section) {
  return absl::StrJoin(Errors(absl::StrCat(kCommandJob, "placement: ", section, "\n")), "; ");
}

TEST(PlacementRulesTest, AcceptsNodesRangesAndLabels) {
  EXPECT_EQ(ErrorOfPlacement("{nodes: [\"gpu[01-16]\", gpu20], exclude: [gpu07]}"), "");
  EXPECT_EQ(ErrorOfPlacement("{labels: {pool: a, device: NVIDIA H200}}"), "");
}

TEST(PlacementRulesTest, LabelsOfExtendedFilesAreMergedAndRemoved) {
  const Files files = {
      {"base", absl::StrCat(kCommandJob, "placement: {labels: {pool: a, rack: r1}}\n")},
      {"job.yaml", "extends: base\nplacement: {labels: {rack: null, ib: 1}}\n"}};
  const auto job = ResolveJobFile("job.yaml", {"placement.labels.zone=z2"}, ReaderOf(files));
  ASSERT_TRUE(job.ok()) << job.status();
  const auto& labels = job->spec.placement().labels();
  EXPECT_EQ((std::map<std::string, std::string>(labels.begin(), labels.end())),
            (std::map<std::string, std::string>{{"ib", "1"}, {"pool", "a"}, {"zone", "z2"}}));
  EXPECT_EQ(job->origins.count("placement.labels.pool"), 1U);
  EXPECT_EQ(job->origins.count("placement.labels.rack"), 0U);
}

TEST(PlacementRulesTest, RejectsInvalidRangesAndLabels) {
  EXPECT_THAT(
      ErrorOfPlacement("{nodes: [\"gpu[9-1]\"]}"),
      HasSubstr("`placement.nodes`: `gpu[9-1]` is not a name of nodes: `9-1` is not a number "
                "or an ascending range"));
  EXPECT_THAT(ErrorOfPlacement("{exclude: [\"gpu[1\"]}"), HasSubstr("brackets do not match"));
  EXPECT_THAT(ErrorOfPlacement("{nodes: [\"g[1-20000]\", h]}"), HasSubstr("more than 20000 names"));
  EXPECT_THAT(ErrorOfPlacement("{labels: {\"a b\": c}}"), HasSubstr("its name needs"));
  EXPECT_THAT(ErrorOfPlacement("{labels: {a: \"\"}}"), HasSubstr("its value needs"));
}

}  // namespace
}  // namespace trainyard
