#include "worker/core/environment_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::worker {
namespace {

EnvironmentOptions AllOptions() {
  return {.state_dir = "/data/environments",
          .modules = {"cuda/12.4", "gcc"},
          .venv = "/venv=1",
          .conda = "/conda",
          .setup = {"pip", "--flag=x", "", "--"},
          .setup_timeout_s = 90,
          .launcher = "podman",
          .image = "example/image:1",
          .mounts = {"/a:/b"},
          .launcher_options = {"--memory=1g"},
          .records = true,
          .interactive = true,
          .terminal = true,
          .command = {"python3", "--", "a b", ""}};
}

TEST(EnvironmentOptionsTest, ArgumentsAreReadAsTheyWereWritten) {
  EXPECT_EQ(ParseEnvironmentArguments(EnvironmentArguments(AllOptions())), AllOptions());
  EnvironmentOptions least;
  least.command = {"true"};
  EXPECT_EQ(ParseEnvironmentArguments(EnvironmentArguments(least)), least);
}

TEST(EnvironmentOptionsTest, OtherArgumentsAreRefused) {
  EXPECT_EQ(ParseEnvironmentArguments({}), std::nullopt);
  EXPECT_EQ(ParseEnvironmentArguments({"--venv=/v"}), std::nullopt) << "no command";
  EXPECT_EQ(ParseEnvironmentArguments({"--"}), std::nullopt);
  EXPECT_EQ(ParseEnvironmentArguments({"--venv", "--", "true"}), std::nullopt);
  EXPECT_EQ(ParseEnvironmentArguments({"--vent=/v", "--", "true"}), std::nullopt);
  EXPECT_EQ(ParseEnvironmentArguments({"--setup-timeout=x", "--", "true"}), std::nullopt);
}

TEST(EnvironmentOptionsTest, ContainsTheSectionOfTheJobFile) {
  v1::EnvironmentSpec spec;
  spec.add_modules("cuda");
  spec.set_venv("/venv");
  spec.add_setup("pip");
  spec.mutable_setup_timeout()->set_seconds(60);
  EnvironmentOptions options = OptionsOf(spec);
  EXPECT_THAT(options.modules, testing::ElementsAre("cuda"));
  EXPECT_EQ(options.venv, "/venv");
  EXPECT_THAT(options.setup, testing::ElementsAre("pip"));
  EXPECT_EQ(options.setup_timeout_s, 60);
  EXPECT_EQ(options.launcher, "");
  spec.mutable_container()->set_image("i");
  spec.mutable_container()->set_launcher(v1::CONTAINER_LAUNCHER_ENROOT);
  spec.mutable_container()->add_mounts("/data");
  spec.mutable_container()->add_options("-x");
  options = OptionsOf(spec);
  EXPECT_EQ(options.launcher, "enroot");
  EXPECT_EQ(options.image, "i");
  EXPECT_THAT(options.mounts, testing::ElementsAre("/data"));
  EXPECT_THAT(options.launcher_options, testing::ElementsAre("-x"));
}

}  // namespace
}  // namespace trainyard::worker
