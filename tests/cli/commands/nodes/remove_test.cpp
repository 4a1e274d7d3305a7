// Tests `node remove`.
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class RemoveNodeTest : public CliFixture {};

TEST_F(RemoveNodeTest, NodeRemoveSaysWhoAsks) {
  const std::vector<v1::RemoveNodeRequest>& requests = answers().remove_requests;
  EXPECT_THAT(Run({"node", "remove", "old"}).out, HasSubstr("node old removed"));
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].user(), "ada");
}

}  // namespace
}  // namespace trainyard::cli
