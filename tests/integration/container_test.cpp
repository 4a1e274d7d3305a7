// Runs a job in a container of podman, whose image is imported from a small tree. The test is
// skipped, with the reason, if podman or the kernel refuses containers.
// tests/worker/environment/environment_test.cpp tests the command line with a stand-in.
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"
#include "tests/integration/terminal_process.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

// Makes a tree of three programs, their libraries and /marker below $1, and imports it as image $2.
constexpr char kImport[] = R"script(set -e
mkdir -p "$1/bin" "$1/tmp" "$1/proc" "$1/sys" "$1/dev" "$1/etc"
for program in sh cat sleep; do
  cp -L "/bin/$program" "$1/bin/"
  for library in $(ldd "/bin/$program" | grep -o '/lib[^ ]*'); do
    mkdir -p "$1/$(dirname "$library")"
    cp -L "$library" "$1/$library"
  done
done
echo inside > "$1/marker"
tar -C "$1" -c . | podman import - "$2"
)script";

class ContainerTest : public testing::Test {
 protected:
  ContainerTest() : image_(absl::StrCat("localhost/trainyard-test-", getpid())) {}
  ~ContainerTest() override {
    if (has_image_) RunCommand({"/usr/bin/env", "podman", "rmi", "--force", image_});
  }

  // Imports the image and runs a container. Returns the reason if this machine cannot.
  std::string Import() {
    if (RunCommand({"/usr/bin/env", "podman", "--version"}).exit_code != 0) {
      return "podman is not installed";
    }
    const CommandResult imported =
        RunCommand({"/bin/sh", "-c", kImport, "import", PathOf("tree"), image_});
    has_image_ = imported.exit_code == 0;
    if (!has_image_) return absl::StrCat("podman cannot import an image: ", imported.error);
    const CommandResult ran = RunCommand({"/usr/bin/env", "podman", "run", "--rm", "--network=host",
                                          "--ipc=host", image_, "cat", "/marker"});
    if (ran.output == "inside\n") return "";
    return absl::StrCat("podman cannot run a container: ", ran.error);
  }

  std::string PathOf(const std::string& name) const {
    return absl::StrCat(cluster_.directory(), "/", name);
  }

  const std::string image_;
  bool has_image_ = false;
  MiniCluster cluster_{1, 1};
};

TEST_F(ContainerTest, RankExecAndShellRunInTheImageWithTheDirectoriesOfTheJob) {
  if (const std::string reason = Import(); !reason.empty()) {
    GTEST_SKIP() << absl::StripAsciiWhitespace(reason);
  }
  const int64_t id = cluster_.Submit(cluster_.WriteJob(
      "contained", absl::StrCat("name: contained\nresources: {device: cpu}\nenv: {COLOR: green}\n"
                                "environment: {container: {image: ",
                                image_, ", launcher: podman}}\n",
                                "command: [sh, -c, 'cat /marker; echo $COLOR $TRAINYARD_JOB_ID; "
                                "while [ ! -e go ]; do sleep 0.1; done']\n")));
  const auto output = [&] {
    std::string text;
    for (const v1::LogLine& line : cluster_.Logs(id, 0, 1))
      absl::StrAppend(&text, line.text(), "\n");
    return text;
  };
  ASSERT_TRUE(Eventually([&] { return output().find("green") != std::string::npos; }))
      << output() << cluster_.DaemonLogs();
  EXPECT_THAT(output(), HasSubstr(absl::StrCat("inside\ngreen ", id, "\n")));

  const std::string job = absl::StrCat(id);
  CommandResult result =
      cluster_.Cli({"exec", job, "--", "sh", "-c", "cat /marker -; echo $COLOR"});
  EXPECT_EQ(result.output, "inside\ngreen\n") << result.error;
  result = cluster_.Cli({"exec", job, "--", "sh", "-c", "exit 6"});
  EXPECT_EQ(result.exit_code, 6) << result.error;
  TerminalProcess shell({ProgramPath("trainyard"), "--server", cluster_.address(), "shell", job});
  shell.Type("cat /marker; exit 4\n");
  EXPECT_EQ(shell.Wait(), 4) << shell.output();
  EXPECT_THAT(shell.output(), HasSubstr("inside"));

  std::ofstream(PathOf(absl::StrCat("worker0/runs/", id, "/1/rank0/go"))) << "go";
  const v1::Job ended = cluster_.WaitForEnd(id);
  EXPECT_EQ(ended.state(), v1::JOB_STATE_SUCCEEDED) << ended.DebugString();
  EXPECT_EQ(ended.environment().image(), image_);
  EXPECT_NE(ended.environment().image_digest(), "");
}

}  // namespace
}  // namespace trainyard::test
