#include "controller/access/restored_access.h"

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(RestoredAccessTest, SaysThatANewTokenLocksEverybodyOut) {
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/token";
  EXPECT_THAT(RestoredAccessText(file),
              AllOf(HasSubstr("refuses every client and worker"),
                    HasSubstr("copy it to " + file + " (mode 0600) before the start"),
                    HasSubstr("TRAINYARD_TOKEN_FILE")));
  std::ofstream(file) << "secret";
  EXPECT_THAT(RestoredAccessText(file), HasSubstr("was not changed"));
}

}  // namespace
}  // namespace trainyard::controller
