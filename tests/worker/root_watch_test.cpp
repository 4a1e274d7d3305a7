#include "worker/root_watch.h"

#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/files/directory_nonce.h"
#include "tests/fakes/no_threads.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

v1::CheckpointRoot Seen(const std::string& path, const std::string& nonce) {
  v1::CheckpointRoot root;
  root.set_path(path);
  root.set_nonce(nonce);
  return root;
}

// Calls Tick until a check has given a new result. Checks run on a separate thread.
void AwaitNews(RootWatch& watch, RootWatch::Clock::time_point now) {
  while (!watch.Tick(now)) std::this_thread::yield();
}

TEST(RootWatchTest, MachinesThatShareADirectoryReadOneNonceAndOthersAnother) {
  const TemporaryDir directory;
  const std::string root = directory.path() + "/mnt/checkpoints";
  const v1::CheckpointRoot first = LookAtRoot(root), second = LookAtRoot(root);
  EXPECT_EQ(first.problem(), "");
  EXPECT_TRUE(IsNonce(first.nonce()));
  EXPECT_EQ(first.nonce(), second.nonce());
  const v1::CheckpointRoot other = LookAtRoot(directory.path() + "/other");
  EXPECT_TRUE(IsNonce(other.nonce()));
  EXPECT_NE(other.nonce(), first.nonce());
  struct stat info {};
  ASSERT_EQ(stat((root + "/" + kRootNonceFile).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u) << "ranks may run as another user";
}

TEST(RootWatchTest, AForeignNonceIsReadAndNeverReplaced) {
  const TemporaryDir directory;
  const std::string nonce(32, 'a');
  std::ofstream(directory.path() + "/" + kRootNonceFile) << nonce << "\n";
  EXPECT_EQ(LookAtRoot(directory.path()).nonce(), nonce);
}

TEST(RootWatchTest, DirectoriesThatCannotBeMadeOrAreDamagedSayWhy) {
  const TemporaryDir directory;
  EXPECT_THAT(LookAtRoot("/proc/nothing/here").problem(),
              HasSubstr("cannot create the directory: "));
  std::ofstream(directory.path() + "/" + kRootNonceFile) << "no nonce\n";
  const v1::CheckpointRoot damaged = LookAtRoot(directory.path());
  EXPECT_EQ(damaged.nonce(), "");
  EXPECT_THAT(damaged.problem(), HasSubstr("remove that file"));
}

TEST(RootWatchTest, LooksAtOnceThenTwiceAMinuteAndReportsEachLookOnce) {
  std::atomic<int> looks = 0;
  RootWatch watch([&](const std::string& path) {
    ++looks;
    return Seen(path, std::string(32, '1'));
  });
  const auto begin = RootWatch::Clock::now();
  EXPECT_FALSE(watch.Tick(begin)) << "no controller has named a root";
  EXPECT_EQ(watch.newest().path(), "");
  watch.Begin("/root");
  AwaitNews(watch, begin);
  EXPECT_EQ(watch.newest().path(), "/root");
  EXPECT_EQ(watch.TakeReport()->nonce(), std::string(32, '1'));
  EXPECT_FALSE(watch.TakeReport().has_value());
  EXPECT_FALSE(watch.Tick(begin + seconds(29)));
  EXPECT_EQ(looks, 1);
  while (!watch.TakeReport().has_value()) {
    EXPECT_FALSE(watch.Tick(begin + seconds(30))) << "nothing new, though reported";
  }
  EXPECT_EQ(looks, 2);
}

TEST(RootWatchTest, AnotherDirectoryIsNews) {
  std::atomic<char> directory = '1';
  RootWatch watch([&](const std::string& path) { return Seen(path, std::string(32, directory)); });
  const auto begin = RootWatch::Clock::now();
  watch.Begin("/root");
  AwaitNews(watch, begin);
  directory = '2';
  AwaitNews(watch, begin + seconds(30));
  EXPECT_EQ(watch.newest().nonce(), std::string(32, '2'));
}

TEST(RootWatchTest, AFileServerThatDoesNotAnswerIsReportedAndHoldsUpNobody) {
  const auto answers = std::make_shared<std::atomic<bool>>(false);
  RootWatch watch([answers](const std::string& path) {
    while (!*answers) std::this_thread::yield();
    return Seen(path, std::string(32, '1'));
  });
  const auto begin = RootWatch::Clock::now();
  watch.Begin("/root");
  EXPECT_FALSE(watch.Tick(begin));
  EXPECT_FALSE(watch.Tick(begin + seconds(9)));
  EXPECT_TRUE(watch.Tick(begin + RootWatch::kAnswerLimit));
  EXPECT_EQ(watch.newest().nonce(), "");
  EXPECT_THAT(watch.newest().problem(), HasSubstr("has not answered for 10 s"));
  EXPECT_FALSE(watch.Tick(begin + seconds(60))) << "told once, and no second thread";
  *answers = true;
  AwaitNews(watch, begin + seconds(61));
  EXPECT_EQ(watch.newest().nonce(), std::string(32, '1'));
}

TEST(RootWatchTest, WithoutAThreadTheNextRoundTriesAgain) {
  RootWatch watch([](const std::string& path) { return Seen(path, std::string(32, '1')); });
  const auto begin = RootWatch::Clock::now();
  watch.Begin("/root");
  {
    const NoThreads none;
    EXPECT_FALSE(watch.Tick(begin));
  }
  EXPECT_FALSE(watch.Tick(begin + seconds(29)));
  AwaitNews(watch, begin + seconds(31));
}

}  // namespace
}  // namespace trainyard::worker
