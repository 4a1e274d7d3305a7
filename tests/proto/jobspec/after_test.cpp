// Tests `after` in job files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(AfterTest, AJobCannotWaitForItself) {
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "after: [tokens, 12, '@last']\n")), IsEmpty());
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "after: [hello]\n")),
              ElementsAre(HasSubstr("a job cannot wait for itself")));
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "after: ['Not a job']\n")),
              ElementsAre(HasSubstr("an entry must match")));
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "after: tokens\n")),
              ElementsAre(HasSubstr("`after` must be a list")));
}

}  // namespace
}  // namespace trainyard
