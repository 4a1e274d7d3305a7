#include "proto/access/access.h"

#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class AccessTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.File(name); }
  TemporaryDirectory directory_;
};

TEST_F(AccessTest, ALinkLeadsToTheTokenOfAnAddress) {
  const std::string token = *ReadOrMakeToken(Path("token"), false);
  const AccessPlaces places{.home = Path("home")};
  ASSERT_TRUE(LinkToken(Path("home"), "127.0.0.1:1", Path("token")).ok());
  ASSERT_TRUE(LinkToken(Path("home"), "127.0.0.1:1", Path("token")).ok()) << "again";
  const auto found = FindAccess("127.0.0.1:1", places);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->token(), token);
  EXPECT_EQ(found->local_socket(), Path("token.1.sock")) << "beside the token, not the link";
  EXPECT_THAT(found->owners(), AllOf(Contains(geteuid()), Contains(0u)));
  // An explicitly named token file has precedence and must exist.
  EXPECT_FALSE(FindAccess("127.0.0.1:1", {.token_file = Path("none"), .home = Path("home")}).ok());
}

TEST_F(AccessTest, WithoutATokenThereIsNoAccess) {
  const auto none = FindAccess("127.0.0.1:2", {.home = Path("home")});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(none.status().message()),
              AllOf(HasSubstr("TRAINYARD_TOKEN_FILE"), HasSubstr("127.0.0.1:2")));
  for (const char* address : {"", "localhost", "127.0.0.1:70000", "unix:/tmp/socket"}) {
    EXPECT_EQ(FindAccess(address, {}).status().code(), absl::StatusCode::kInvalidArgument)
        << address;
  }
}

TEST_F(AccessTest, NothingCrossesANetworkUnencrypted) {
  ASSERT_TRUE(ReadOrMakeToken(Path("token"), false).ok());
  AccessPlaces places{.token_file = Path("token")};
  const auto refused = FindAccess("192.0.2.1:7070", places);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("TRAINYARD_CA_FILE"));
  places.insecure = true;
  const auto insecure = FindAccess("192.0.2.1:7070", places);
  ASSERT_TRUE(insecure.ok()) << insecure.status();
  EXPECT_EQ(insecure->local_socket(), "");
  WriteFile(Path("ca.pem"), "a certificate");
  const auto secure =
      FindAccess("192.0.2.1:7070", {.token_file = Path("token"), .ca_file = Path("ca.pem")});
  ASSERT_TRUE(secure.ok()) << secure.status();
  EXPECT_EQ(secure->certificate(), "a certificate");
  // If the certificate cannot be read, the client must fail, not continue without a certificate.
  places.ca_file = Path("none.pem");
  EXPECT_FALSE(FindAccess("192.0.2.1:7070", places).ok());
}

}  // namespace
}  // namespace trainyard
