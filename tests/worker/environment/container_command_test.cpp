#include "worker/environment/container_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::worker {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

EnvironmentOptions Container(const std::string& launcher) {
  EnvironmentOptions options;
  options.launcher = launcher;
  options.image = "image:1";
  options.mounts = {"/data", "/a:/b"};
  options.launcher_options = {"--memory=1g"};
  return options;
}

ContainerSite SiteWith(const Variables& variables) { return {"/work", variables}; }

TEST(ContainerCommandTest, PodmanGetsMountsNamesOfVariablesAndOptions) {
  const ContainerSite site = SiteWith({{"HOME", "/root"},
                                       {"PATH", "/bin"},
                                       {"RANK", "3"},
                                       {"TRAINYARD_RUN_DIR", "/runs/3"},
                                       {"WANDB_API_KEY", "secret"}});
  EXPECT_THAT(
      ContainerCommand(Container("podman"), site, {"python3", "a b"}),
      ElementsAre("podman", "run", "--rm", "--network=host", "--ipc=host", "--volume=/a:/b",
                  "--volume=/data:/data", "--volume=/runs/3:/runs/3", "--volume=/work:/work",
                  "--workdir=/work", "--env=RANK", "--env=TRAINYARD_RUN_DIR", "--env=WANDB_API_KEY",
                  "--memory=1g", "image:1", "python3", "a b"));
}

TEST(ContainerCommandTest, OtherLaunchersHaveTheirOwnOptions) {
  const ContainerSite site = SiteWith({{"RANK", "3"}, {"TRAINYARD_RUN_DIR", "/work"}});
  EXPECT_THAT(ContainerCommand(Container("apptainer"), site, {"x"}),
              ElementsAre("apptainer", "exec", "--bind=/a:/b", "--bind=/data:/data",
                          "--bind=/work:/work", "--pwd=/work", "--memory=1g", "image:1", "x"));
  EXPECT_THAT(ContainerCommand(Container("enroot"), site, {"x"}),
              ElementsAre("enroot", "start", "--rw", "--mount=/a:/b", "--mount=/data:/data",
                          "--mount=/work:/work", "--env=RANK", "--env=TRAINYARD_RUN_DIR",
                          "--memory=1g", "image:1", "x"));
}

TEST(ContainerCommandTest, PodmanConnectsStandardInputAndATerminalOnlyIfAsked) {
  const ContainerSite site = SiteWith({});
  EnvironmentOptions options = Container("podman");
  options.interactive = true;
  EXPECT_THAT(ContainerCommand(options, site, {"x"}),
              AllOf(Contains("--interactive"), Not(Contains("--tty"))));
  options.terminal = true;
  EXPECT_THAT(ContainerCommand(options, site, {"x"}), Contains("--tty"));
  options.launcher = "apptainer";
  EXPECT_THAT(ContainerCommand(options, site, {"x"}), Not(Contains("--tty")));
}

TEST(ContainerCommandTest, GpusAreVisibleOnlyIfTheJobHasThem) {
  const auto command = [](const std::string& launcher, const std::string& devices) {
    return ContainerCommand(Container(launcher), SiteWith({{"CUDA_VISIBLE_DEVICES", devices}}),
                            {"x"});
  };
  EXPECT_THAT(command("podman", "GPU-a"), Contains("--device=nvidia.com/gpu=all"));
  EXPECT_THAT(command("apptainer", "GPU-a"), Contains("--nv"));
  EXPECT_THAT(command("podman", ""), Not(Contains("--device=nvidia.com/gpu=all")));
  EXPECT_THAT(command("apptainer", ""), Not(Contains("--nv")));
}

}  // namespace
}  // namespace trainyard::worker
