#include "worker/process/held_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "proto/files/unique_fd.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

constexpr int64_t kMiB = 1 << 20;

class HeldFilesTest : public testing::Test {
 protected:
  // Creates a file of 1 MiB in the directory.
  UniqueFd Make(const std::string& name) {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    UniqueFd fd(open(Path(name).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    const std::string text(kMiB, 'x');
    EXPECT_EQ(write(fd.get(), text.data(), text.size()), kMiB);
    return fd;
  }
  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  int64_t Held(const std::string& below) const { return HeldBytes({getpid()}, Path(below)); }

  const TemporaryDirectory temporary_;
  const std::string directory_ = std::filesystem::canonical(temporary_.path());
};

TEST_F(HeldFilesTest, CountsWhatIsOpenAndHasNoName) {
  UniqueFd file = Make("job/deep/file");
  EXPECT_EQ(Held("job"), 0) << "it has a name";
  std::filesystem::remove_all(Path("job/deep"));
  EXPECT_GE(Held("job"), kMiB);
  EXPECT_LT(Held("job"), 2 * kMiB);
  file.Reset();
  EXPECT_EQ(Held("job"), 0);
}

TEST_F(HeldFilesTest, CountsAFileOnceAndNoneFromElsewhere) {
  const UniqueFd file = Make("job/file");
  const UniqueFd again(dup(file.get()));
  const UniqueFd other = Make("jobs/file");
  std::filesystem::remove(Path("job/file"));
  std::filesystem::remove(Path("jobs/file"));
  EXPECT_GE(Held("job"), kMiB);
  EXPECT_LT(Held("job"), 2 * kMiB);
}

TEST_F(HeldFilesTest, AProcessThatHasEndedHoldsNothing) {
  EXPECT_EQ(HeldBytes({-1, 1 << 30}, directory_), 0);
}

}  // namespace
}  // namespace trainyard::worker
