#include "proto/access/local_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uid_t kOtherUser = 65534;

TEST(LocalSocketTest, BothEndsSeeTheUserOfTheOther) {
  TemporaryDirectory directory;
  const std::string path = directory.File("token.7070.sock");
  const auto listener = ListenOnLocalSocket(path, /*for_group=*/false);
  ASSERT_TRUE(listener.ok()) << listener.status();
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  const auto caller = ConnectLocalSocket(path, {geteuid()});
  ASSERT_TRUE(caller.ok()) << caller.status();
  const UniqueFd accepted(accept(listener->get(), nullptr, nullptr));
  ASSERT_TRUE(accepted.valid());
  EXPECT_EQ(PeerUser(accepted), geteuid());
  EXPECT_EQ(PeerUser(*caller), geteuid());
}

TEST(LocalSocketTest, AListenerOfAnotherUserIsRefused) {
  TemporaryDirectory directory;
  const std::string path = directory.File("socket");
  const auto listener = ListenOnLocalSocket(path, false);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const auto refused = ConnectLocalSocket(path, {geteuid() + 1});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("nothing was sent"));
}

TEST(LocalSocketTest, TheModeKeepsOtherUsersOut) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  TemporaryDirectory directory;
  fs::permissions(directory.path(), fs::perms::all);
  const std::string path = directory.File("socket");
  const auto listener = ListenOnLocalSocket(path, /*for_group=*/true);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const pid_t child = fork();
  if (child == 0) {
    const bool changed = setgid(kOtherUser) == 0 && setuid(kOtherUser) == 0;
    const bool refused = absl::IsPermissionDenied(ConnectLocalSocket(path, {0}).status());
    _exit(changed && refused ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(LocalSocketTest, ASocketOfADeadProcessIsReplaced) {
  TemporaryDirectory directory;
  const std::string path = directory.File("socket");
  EXPECT_TRUE(absl::IsNotFound(ConnectLocalSocket(path, {geteuid()}).status()));
  { ASSERT_TRUE(ListenOnLocalSocket(path, false).ok()); }
  EXPECT_TRUE(fs::exists(path));
  EXPECT_TRUE(absl::IsNotFound(ConnectLocalSocket(path, {geteuid()}).status()));
  const auto listener = ListenOnLocalSocket(path, false);
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_TRUE(absl::IsAlreadyExists(ListenOnLocalSocket(path, false).status()));
  EXPECT_TRUE(ConnectLocalSocket(path, {geteuid()}).ok()) << "the first one still listens";
}

TEST(LocalSocketTest, AFileInTheWayIsKept) {
  TemporaryDirectory directory;
  WriteFile(directory.File("socket"), "precious");
  EXPECT_TRUE(absl::IsAlreadyExists(ListenOnLocalSocket(directory.File("socket"), false).status()));
  EXPECT_EQ(ReadFile(directory.File("socket")), "precious");
}

TEST(LocalSocketTest, LongPathsWork) {
  TemporaryDirectory directory;
  const std::string deep = directory.path() + "/" + std::string(200, 'd');
  ASSERT_TRUE(fs::create_directory(deep));
  const auto listener = ListenOnLocalSocket(deep + "/socket", false);
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_TRUE(ConnectLocalSocket(deep + "/socket", {geteuid()}).ok());
}

TEST(LocalSocketTest, LinksLeadToTheSocketBesideTheToken) {
  TemporaryDirectory directory;
  WriteFile(directory.File("token"), "");
  fs::create_symlink(directory.File("token"), directory.File("link"));
  EXPECT_EQ(LocalSocketPath(directory.File("link"), 7070), directory.File("token.7070.sock"));
}

}  // namespace
}  // namespace trainyard
