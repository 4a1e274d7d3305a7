#include "worker/node_checks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/no_threads.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;

std::map<std::string, v1::NodeCheck> ByName(const std::vector<v1::NodeCheck>& checks) {
  std::map<std::string, v1::NodeCheck> named;
  for (const v1::NodeCheck& check : checks) named[check.name()] = check;
  return named;
}

class NodeChecksTest : public testing::Test {
 protected:
  CheckedPlaces Places() const {
    return {.data_dir = directory_.path(),
            .secrets_dir = directory_.path() + "/secrets",
            .checkpoint_root = directory_.path() + "/shared/checkpoints",
            .inventory = {}};
  }
  TemporaryDir directory_;
};

TEST_F(NodeChecksTest, EveryCheckHasAFindingAndAFailureHasANextStep) {
  const auto checks = CheckNode(Places());
  EXPECT_GE(checks.size(), 9u);
  for (const v1::NodeCheck& check : checks) {
    EXPECT_NE(check.found(), "") << check.name();
    EXPECT_EQ(check.advice().empty(), check.ok()) << check.name();
  }
  const auto named = ByName(checks);
  EXPECT_TRUE(named.at("data").ok());
  EXPECT_TRUE(named.at("secrets").ok()) << "none is fine";
  EXPECT_TRUE(named.at("checkpoints").ok()) << "it can be made";
}

TEST_F(NodeChecksTest, NamesTheLaunchersOfContainers) {
  const std::string path = getenv("PATH");
  setenv("PATH", directory_.path().c_str(), 1);
  EXPECT_EQ(ByName(CheckNode(Places())).at("launchers").found(), "none");
  for (const char* name : {"/enroot", "/podman"}) {
    const int fd = open((directory_.path() + name).c_str(), O_CREAT | O_WRONLY, 0755);
    ASSERT_GE(fd, 0);
    close(fd);
  }
  EXPECT_EQ(ByName(CheckNode(Places())).at("launchers").found(), "podman, enroot");
  setenv("PATH", path.c_str(), 1);
}

TEST_F(NodeChecksTest, SecretsThatOthersReadAndMissingDisksFail) {
  ASSERT_EQ(mkdir((directory_.path() + "/secrets").c_str(), 0755), 0);
  EXPECT_THAT(ByName(CheckNode(Places())).at("secrets").advice(), HasSubstr("chmod 700"));
  CheckedPlaces places = Places();
  places.data_dir = "/proc/nothing/here";
  EXPECT_FALSE(ByName(CheckNode(places)).at("disk").ok());
}

TEST_F(NodeChecksTest, RoundsComeAfterEachOtherAndAtOnceForANewController) {
  NodeChecks checks;
  const auto begin = std::chrono::steady_clock::now();
  const auto take = [&](std::chrono::seconds after) {
    // The first round runs on a separate thread. Therefore Take is repeated until the round has
    // ended.
    for (auto taken = checks.Take(Places(), begin + after);;
         taken = checks.Take(Places(), begin + after)) {
      if (!taken.empty()) return taken.size();
    }
  };
  EXPECT_TRUE(checks.Take(Places(), begin).empty()) << "they take their time";
  EXPECT_GE(take(std::chrono::seconds(1)), 9u);
  EXPECT_TRUE(checks.Take(Places(), begin + std::chrono::seconds(2)).empty());
  checks.Restart();
  EXPECT_GE(take(std::chrono::seconds(3)), 9u);
}

TEST_F(NodeChecksTest, WithoutAThreadTheNextRoundTriesAgain) {
  NodeChecks checks;
  const auto begin = std::chrono::steady_clock::now();
  {
    const NoThreads none;
    EXPECT_TRUE(checks.Take(Places(), begin).empty());
  }
  std::vector<v1::NodeCheck> taken;
  while (taken.empty()) taken = checks.Take(Places(), begin + std::chrono::seconds(31));
  EXPECT_GE(taken.size(), 9u);
}

}  // namespace
}  // namespace trainyard::worker
