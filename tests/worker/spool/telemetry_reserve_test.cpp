#include "worker/spool/telemetry_reserve.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/worker/spool/temporary_dir.h"
#include "worker/spool/attempt_folders.h"

namespace trainyard::worker {
namespace {

class TelemetryReserveTest : public testing::Test {
 protected:
  std::string Path() const { return dir_.File(kTelemetryFile); }
  int64_t Allocated() const {
    struct stat info {};
    return stat(Path().c_str(), &info) == 0 ? info.st_blocks * kStatBlockBytes : 0;
  }
  void Write(int64_t bytes) { WriteText(Path(), std::string(bytes, 'x')); }

  TemporaryDir dir_;
  TelemetryReserve reserve_;
};

TEST_F(TelemetryReserveTest, ARankStartsWithSpaceInAnEmptyFile) {
  ReserveFirstTelemetry(dir_.path());
  EXPECT_EQ(std::filesystem::file_size(Path()), 0u);
  EXPECT_GE(Allocated(), kTelemetryReserve);
}

TEST_F(TelemetryReserveTest, MoreIsReservedAsTheFileGrows) {
  for (const int64_t size : {int64_t{1}, 4 * kTelemetryReserve}) {
    Write(size);
    ASSERT_LT(Allocated(), size + kTelemetryReserve) << "without a reserve";
    reserve_.Extend({Path()});
    EXPECT_GE(Allocated(), size + kTelemetryReserve);
    EXPECT_EQ(std::filesystem::file_size(Path()), static_cast<std::size_t>(size));
  }
}

TEST_F(TelemetryReserveTest, OnlyWhatIsUsedByHalfIsExtended) {
  Write(1);
  reserve_.Extend({Path()});
  const int64_t before = Allocated();
  std::filesystem::resize_file(Path(), kTelemetryReserve / 4);
  reserve_.Extend({Path()});
  EXPECT_LE(Allocated(), before + kTelemetryReserve / 4);
}

TEST_F(TelemetryReserveTest, WaitsForNoFifoAndMakesNoFileThatIsGone) {
  ASSERT_EQ(mkfifo(Path().c_str(), 0600), 0);
  ReserveFirstTelemetry(dir_.path());
  reserve_.Extend({Path()});
  std::filesystem::remove(Path());
  reserve_.Extend({Path()});
  EXPECT_FALSE(std::filesystem::exists(Path()));
}

}  // namespace
}  // namespace trainyard::worker
