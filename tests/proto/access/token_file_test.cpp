#include "proto/access/token_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

class TokenFileTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  TemporaryDirectory directory_;
};

TEST_F(TokenFileTest, IsMadeOnceAndIsPrivate) {
  const auto token = ReadOrMakeToken(Path("token"), false);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->size(), 64u);
  EXPECT_EQ(ModeOf(Path("token")), 0600u);
  EXPECT_EQ(*ReadOrMakeToken(Path("token"), true), *token);
  EXPECT_EQ(ModeOf(Path("token")), 0640u);
}

TEST_F(TokenFileTest, ATokenThatOthersReadIsNone) {
  ASSERT_TRUE(ReadOrMakeToken(Path("token"), false).ok());
  for (const mode_t mode : {0644, 0660, 0602}) {
    ASSERT_EQ(chmod(Path("token").c_str(), mode), 0);
    EXPECT_EQ(ReadToken(Path("token")).status().code(), absl::StatusCode::kPermissionDenied);
    EXPECT_FALSE(ReadOrMakeToken(Path("token"), false).ok());
  }
  std::ofstream(Path("short")) << "short\n";
  ASSERT_EQ(chmod(Path("short").c_str(), 0600), 0);
  EXPECT_EQ(ReadToken(Path("short")).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace trainyard
