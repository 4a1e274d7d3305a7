#include "controller/access/token_watch.h"

#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TokenWatchTest, ReportsEachNewTokenOnce) {
  TemporaryDirectory directory;
  const std::string path = directory.File("token");
  const auto write = [&](const std::string& text, mode_t mode) {
    WriteFile(path, text + "\n");
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  };
  std::vector<std::string> tokens;
  TokenWatch watch(path, std::string(64, 'a'),
                   [&](const std::string& token) { tokens.push_back(token); });
  write(std::string(64, 'a'), 0600);
  watch.Check();
  EXPECT_THAT(tokens, IsEmpty());
  write(std::string(64, 'b'), 0600);
  watch.Check();
  watch.Check();
  EXPECT_THAT(tokens, ElementsAre(std::string(64, 'b')));
  // These files grant no access: the first can be read by other users, the second is too short, and
  // the third is missing.
  write(std::string(64, 'c'), 0644);
  watch.Check();
  write("short", 0600);
  watch.Check();
  std::filesystem::remove(path);
  watch.Check();
  EXPECT_THAT(tokens, ElementsAre(std::string(64, 'b')));
  write(std::string(64, 'a'), 0600);
  watch.Check();
  EXPECT_THAT(tokens, ElementsAre(std::string(64, 'b'), std::string(64, 'a')));
}

TEST(TokenWatchTest, StopsWithoutAFileToWatch) {
  TokenWatch watch("", "", [](const std::string&) {});
  watch.Start();
  watch.Stop();
}

}  // namespace
}  // namespace trainyard::controller
