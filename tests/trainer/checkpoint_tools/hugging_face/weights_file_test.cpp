#include "trainer/checkpoint_tools/hugging_face/weights_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/temporary_directory.h"
#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint_tools/hugging_face_directory.h"
#include "tests/trainer/config/error_of.h"

namespace trainyard::trainer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class WeightsFileTest : public testing::Test {
 protected:
  std::string Path() const { return directory_.path() + "/weights"; }

  const TemporaryDirectory directory_;
};

TEST_F(WeightsFileTest, ReadsExactlyTheseBytes) {
  WriteText(Path(), "0123456789");
  std::string bytes(4, ' ');
  WeightsFile(Path()).Read(3, 7, "tensor a", bytes.data());
  EXPECT_EQ(bytes, "3456");
}

// The error must advise the user to download the file again. The advice for checkpoints, to use an
// older checkpoint, does not apply.
TEST_F(WeightsFileTest, FaultsAdviseToFetchAgain) {
  WriteText(Path(), "0123");
  std::string bytes(8, ' ');
  const WeightsFile file(Path());
  EXPECT_THAT(ErrorOf([&] { file.Read(0, 8, "tensor a", bytes.data()); }, ExitCode::kBadCheckpoint),
              AllOf(HasSubstr("weights is damaged: it ends inside tensor a; fetch it again"),
                    Not(HasSubstr("checkpoint"))));
  const NoDescriptors none;
  EXPECT_THAT(ErrorOf([&] { WeightsFile{Path()}; }, ExitCode::kBadCheckpoint),
              AllOf(HasSubstr("cannot read the header of "), HasSubstr("fetch the file again"),
                    Not(HasSubstr("checkpoint"))));
}

}  // namespace
}  // namespace trainyard::trainer
