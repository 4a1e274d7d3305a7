// Tests `node cordon` and `node uncordon`.
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class CordonTest : public CliFixture {};

TEST_F(CordonTest, NodeCordonTellsTheControllerWhoAndWhy) {
  const std::vector<v1::CordonNodeRequest>& requests = answers().cordon_requests;
  EXPECT_THAT(Run({"node", "cordon", "gpu05", "--reason", "ECC errors"}).out,
              HasSubstr("node gpu05 cordoned"));
  EXPECT_THAT(Run({"node", "cordon", "gpu05"}).err, HasSubstr("trainyard node uncordon gpu05"));
  EXPECT_THAT(Run({"node", "uncordon", "gpu05"}).out, HasSubstr("node gpu05 accepts ranks again"));
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_TRUE(requests[0].cordoned());
  EXPECT_EQ(requests[0].reason(), "ECC errors");
  EXPECT_EQ(requests[0].user(), "ada");
  EXPECT_FALSE(requests[2].cordoned());
  EXPECT_FALSE(requests[0].has_drain_after_ms());
}

TEST_F(CordonTest, NodeUndrainUncordons) {
  answers();  // Starts the server.
  EXPECT_THAT(Run({"node", "undrain", "gpu05"}).out, HasSubstr("node gpu05 accepts ranks again"));
  ASSERT_EQ(answers().cordon_requests.size(), 1u);
  EXPECT_FALSE(answers().cordon_requests[0].cordoned());
}

}  // namespace
}  // namespace trainyard::cli
