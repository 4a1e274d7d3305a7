#include "cli/output/jobs/environment_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

v1::EnvironmentRecord Record() {
  v1::EnvironmentRecord record;
  record.set_attempt(2);
  record.set_interpreter("/venv/bin/python");
  record.set_interpreter_version("3.11.2");
  record.set_cuda("12.4.127");
  record.set_nccl("2.21.5");
  record.add_packages("numpy==2.1.0");
  record.add_packages("torch==2.5.1");
  record.set_packages_omitted(3);
  return record;
}

TEST(EnvironmentViewTest, SummarizesTheSoftware) {
  EXPECT_EQ(EnvironmentSummary(Record()), "Python 3.11.2, 5 packages, CUDA 12.4.127, NCCL 2.21.5");
  v1::EnvironmentRecord record;
  record.set_driver("550.54");
  record.set_image("image:1");
  record.set_problem("no Python\ninterpreter");
  EXPECT_EQ(EnvironmentSummary(record), "driver 550.54, image image:1, no Python interpreter");
}

TEST(EnvironmentViewTest, ListsThePackages) {
  const std::string text = EnvironmentText(Record());
  EXPECT_THAT(text, HasSubstr("\nEnvironment of attempt 2\n"));
  EXPECT_THAT(text, HasSubstr("/venv/bin/python\n"));
  EXPECT_THAT(text, HasSubstr("numpy==2.1.0 torch==2.5.1 and 3 more\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("Driver")));
  EXPECT_EQ(EnvironmentText({}), "");
}

}  // namespace
}  // namespace trainyard::cli
