#include "worker/tail/error_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

class ErrorFileTest : public testing::Test {
 protected:
  std::string Read(const std::string& content) {
    std::ofstream(directory_.path() + "/error.json") << content;
    return ReadErrorFile({directory_.path(), "error.json"});
  }

  const TemporaryDirectory directory_;
};

TEST_F(ErrorFileTest, ReadsTheMessageOfAnException) {
  EXPECT_EQ(Read(R"({"message": {"message": "ValueError: no shard 7",
                     "extraInfo": {"py_callstack": "Traceback ...", "timestamp": "1764400000"}}})"),
            "ValueError: no shard 7");
}

TEST_F(ErrorFileTest, ReadsAnErrorWithoutAnException) {
  EXPECT_EQ(Read(R"({"message": "Signal 9 (SIGKILL) received by PID 12"})"),
            "Signal 9 (SIGKILL) received by PID 12");
}

TEST_F(ErrorFileTest, OtherContentIsNoError) {
  EXPECT_EQ(ReadErrorFile({directory_.path(), "error.json"}), "") << "missing";
  for (const char* content : {"", "{", "[1]", R"({"error": 1})", R"({"message": 7})",
                              R"({"message": {"message": ["x"]}})"}) {
    EXPECT_EQ(Read(content), "") << content;
  }
  EXPECT_EQ(Read(R"({"message": ")" + std::string(1 << 20, 'x') + "\"}"), "") << "too long";
  std::filesystem::remove(directory_.path() + "/error.json");
  std::filesystem::create_symlink("/etc/hostname", directory_.path() + "/error.json");
  EXPECT_EQ(ReadErrorFile({directory_.path(), "error.json"}), "") << "a link";
}

TEST_F(ErrorFileTest, ALongMessageIsCutAtACharacter) {
  std::string message = "x";
  for (int i = 0; i < kMaxErrorFileText; ++i) message += "\xc3\xa4";
  const std::string text = Read(R"({"message": ")" + message + "\"}");
  EXPECT_EQ(text.size(), static_cast<std::size_t>(kMaxErrorFileText) - 1);
}

}  // namespace
}  // namespace trainyard::worker
