#include "proto/jobspec/rules/code_rules.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using testing::HasSubstr;

constexpr char kId[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

// Returns the errors of a job with this section `code`, or "" if the job is valid.
std::string ErrorOfCode(const std::string& section) {
  return absl::StrJoin(Errors(absl::StrCat(kCommandJob, "code: ", section, "\n")), "; ");
}

v1::JobSpec SpecOfCode(const std::string& section) {
  const Files files = {{"job.yaml", absl::StrCat(kCommandJob, "code: ", section, "\n")}};
  const auto job = ResolveJobFile("job.yaml", {}, ReaderOf(files));
  EXPECT_TRUE(job.ok()) << job.status();
  return job.ok() ? job->spec : v1::JobSpec();
}

TEST(CodeRulesTest, AcceptsADirectoryASnapshotAndADirectoryInPlace) {
  EXPECT_EQ(ErrorOfCode("{path: /src, ignore: [\"*.bin\"], max_size: 300MB, max_files: 10}"), "");
  EXPECT_EQ(ErrorOfCode(absl::StrCat("{snapshot: ", kId, "}")), "");
  EXPECT_EQ(ErrorOfCode("{path: /src, in_place: true}"), "");
}

TEST(CodeRulesTest, RefusesContradictions) {
  EXPECT_THAT(ErrorOfCode("{git: false}"), HasSubstr("`code.path` is missing"));
  EXPECT_THAT(ErrorOfCode("{path: /src, in_place: true, max_files: 10}"),
              HasSubstr("`code.in_place` copies nothing"));
  EXPECT_THAT(ErrorOfCode(absl::StrCat("{snapshot: ", kId, ", in_place: true}")),
              HasSubstr("`code.snapshot` names a copy; remove one of them"));
  EXPECT_THAT(ErrorOfCode("{snapshot: ../../x}"), HasSubstr("code.snapshot"));
  EXPECT_THAT(ErrorOfCode("{path: /src, max_size: 20GB}"), HasSubstr("code.max_size"));
  EXPECT_THAT(ErrorOfCode("{path: /src, max_files: 100001}"), HasSubstr("code.max_files"));
}

TEST(CodeRulesTest, NeedsACommand) {
  const std::string job = "name: a\nkind: data\npipeline: /p.yaml\ncode: {path: /src}\n";
  EXPECT_THAT(absl::StrJoin(Errors(job), "; "),
              HasSubstr("`code` is the source of a `command`, but this job prepares data"));
}

TEST(CodeRulesTest, AppearsOnlyInJobsThatSetIt) {
  const Files files = {{"job.yaml", kCommandJob}};
  const auto job = ResolveJobFile("job.yaml", {}, ReaderOf(files));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_FALSE(job->spec.has_code());
  EXPECT_FALSE(NeedsSnapshot(job->spec));
}

TEST(CodeRulesTest, ASnapshotReplacesAnInheritedPathAndTheReverse) {
  const Files files = {{"base", absl::StrCat(kCommandJob, "code: {path: /src}\n")},
                       {"job.yaml", absl::StrCat("extends: base\ncode: {snapshot: ", kId, "}\n")}};
  const auto job = ResolveJobFile("job.yaml", {}, ReaderOf(files));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_FALSE(job->spec.code().has_path());
  EXPECT_FALSE(NeedsSnapshot(job->spec));
}

TEST(CodeRulesTest, KnowsWhichSpecsNeedASnapshot) {
  EXPECT_TRUE(NeedsSnapshot(SpecOfCode("{path: /src}")));
  EXPECT_FALSE(NeedsSnapshot(SpecOfCode("{path: /src, in_place: true}")));
  EXPECT_THAT(MissingSnapshot(SpecOfCode("{path: /src}")),
              HasSubstr("`code.path` /src is read by `trainyard submit`"));
  EXPECT_EQ(MissingSnapshot(SpecOfCode(absl::StrCat("{snapshot: ", kId, "}"))), "");
}

}  // namespace
}  // namespace trainyard
