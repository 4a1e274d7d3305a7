#include "worker/process/written_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "proto/files/unique_fd.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FilesWrittenBelowTest, ContainsOnlyFilesThatAreOpenForWriting) {
  const TemporaryDirectory temporary;
  const std::string directory = std::filesystem::canonical(temporary.path());
  const std::string below = directory + "/c";
  std::filesystem::create_directories(below + "/deep");
  const auto open_file = [&](const std::string& path, int flags) {
    return UniqueFd(open((directory + path).c_str(), flags | O_CREAT | O_CLOEXEC, 0600));
  };
  UniqueFd written = open_file("/c/deep/a.pt", O_WRONLY);
  const UniqueFd appended = open_file("/c/b.pt", O_RDWR | O_APPEND);
  const UniqueFd read = open_file("/c/read.pt", O_RDONLY);
  const UniqueFd beside = open_file("/cc.pt", O_WRONLY);
  EXPECT_THAT(FilesWrittenBelow({getpid()}, below), ElementsAre("b.pt", "deep/a.pt"));
  written.Reset();
  EXPECT_THAT(FilesWrittenBelow({getpid()}, below), ElementsAre("b.pt"));
  EXPECT_THAT(FilesWrittenBelow({-1, 1 << 30}, below), IsEmpty());
}

}  // namespace
}  // namespace trainyard::worker
