#include "proto/jobspec/rules/environment_rules.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kJob[] = "name: a\ncommand: [x]\n";

std::vector<std::string> ErrorsOf(const std::string& environment) {
  return Errors(std::string(kJob) + "environment: " + environment + "\n");
}

TEST(EnvironmentRulesTest, TheSectionIsAbsentUnlessItIsWritten) {
  const auto job = Resolve(kJob);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_FALSE(job->spec.has_environment());
}

TEST(EnvironmentRulesTest, AWrittenSectionHasDefaults) {
  const auto job =
      Resolve(std::string(kJob) + "environment: {venv: v, setup: [pip, install, x]}\n");
  ASSERT_TRUE(job.ok()) << job.status();
  const v1::EnvironmentSpec& environment = job->spec.environment();
  EXPECT_TRUE(environment.venv().starts_with("/")) << "resolved against the folder of the file";
  EXPECT_THAT(environment.setup(), ElementsAre("pip", "install", "x"));
  EXPECT_EQ(environment.setup_timeout().seconds(), 1800);
  EXPECT_FALSE(environment.has_container());
  const auto boxed = Resolve(std::string(kJob) + "environment: {container: {image: i}}\n");
  ASSERT_TRUE(boxed.ok()) << boxed.status();
  EXPECT_EQ(boxed->spec.environment().container().launcher(), v1::CONTAINER_LAUNCHER_PODMAN);
}

TEST(EnvironmentRulesTest, AllPartsCanBeCombined) {
  EXPECT_THAT(
      ErrorsOf("{modules: [cuda/12.4, gcc@12], conda: /c, setup: [make], setup_timeout: 5m}"),
      IsEmpty());
  EXPECT_THAT(ErrorsOf("{modules: [apptainer], container: {image: a.sif, launcher: apptainer, "
                       "mounts: [/data, /a:/b], options: [--nv]}}"),
              IsEmpty());
}

TEST(EnvironmentRulesTest, ContradictionsAreRefused) {
  EXPECT_THAT(ErrorsOf("{venv: /v, conda: /c}"), ElementsAre(HasSubstr("exclude each other")));
  EXPECT_THAT(ErrorsOf("{venv: /v, container: {image: i}}"),
              ElementsAre(HasSubstr("install the packages in the image")));
  EXPECT_THAT(ErrorsOf("{setup: [\"\"]}"), ElementsAre(HasSubstr("name a program")));
  EXPECT_THAT(ErrorsOf("{container: {launcher: enroot}}"), ElementsAre(HasSubstr("is missing")));
  EXPECT_THAT(ErrorsOf("{container: {image: --privileged}}"),
              ElementsAre(HasSubstr("begins with")));
  EXPECT_THAT(ErrorsOf("{container: {image: i, launcher: docker}}"),
              ElementsAre(HasSubstr("podman")));
  for (const char* mount : {"data", "/a:b", "/a:/b:ro", "/a,/b"}) {
    EXPECT_THAT(ErrorsOf(std::string("{container: {image: i, mounts: ['") + mount + "']}}"),
                ElementsAre(HasSubstr("PATH:PATH_IN_CONTAINER")))
        << mount;
  }
  EXPECT_THAT(ErrorsOf("{modules: ['a; b']}"), ElementsAre(HasSubstr("must match")));
}

TEST(EnvironmentRulesTest, SecretsAreNotWrittenDown) {
  EXPECT_THAT(ErrorsOf("{setup: [login, hf_abcdefghijklmnopqrstuvwxyz0123456789]}"),
              ElementsAre(HasSubstr("looks like a secret")));
}

TEST(EnvironmentRulesTest, OnlyOwnProgramsRunInContainers) {
  EXPECT_THAT(Errors(kModelJob, {"environment.container.image=i"}),
              testing::Contains(HasSubstr("needs a `command`")));
}

}  // namespace
}  // namespace trainyard
