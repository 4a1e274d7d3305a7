// Tests `reservation create`, `list` and `delete`.
#include "cli/commands/nodes/reservation.h"

#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

constexpr Timestamp kStart = 1'796'112'000'000;  // 2026-12-01T08:00Z

class ReservationCommandTest : public CliFixture {};

TEST_F(ReservationCommandTest, ReadsTimesWithATimeZone) {
  EXPECT_EQ(*ParseStart("now", 5), 5);
  EXPECT_EQ(*ParseStart("2026-12-01T08:00Z", 5), kStart);
  EXPECT_EQ(*ParseStart("2026-12-01T09:00:30+01:00", 5), kStart + 30'000);
  for (const char* wrong :
       {"", "tomorrow", "2026-12-01", "2026-12-01T08:00", "2026-13-01T08:00Z"}) {
    EXPECT_THAT(std::string(ParseStart(wrong, 5).status().message()),
                HasSubstr("must be `now` or a time with its time zone"))
        << wrong;
  }
}

TEST_F(ReservationCommandTest, SendsNodesTimesAndOwner) {
  answers();  // Starts the server.
  const CliResult result =
      Run({"reservation", "create", "maint", "--nodes", "gpu[01-04]", "--from", "2026-12-01T08:00Z",
           "--for", "2h", "--queue", "research", "--reason", "new fans", "--drain"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "reservation maint from 2026-12-01T08:00:00.000Z to 2026-12-01T10:00:00.000Z for queue "
            "research\n");
  EXPECT_THAT(result.err, HasSubstr("job 17 (tiny) runs on gpu01"));
  EXPECT_THAT(result.err, HasSubstr("trainyard reservation delete maint"));
  ASSERT_EQ(answers().created_reservations.size(), 1U);
  const v1::CreateReservationRequest& request = answers().created_reservations[0];
  EXPECT_EQ(request.user(), "ada");
  EXPECT_EQ(request.reservation().nodes(0), "gpu[01-04]");
  EXPECT_EQ(request.reservation().start_ms(), kStart);
  EXPECT_EQ(request.reservation().end_ms(), kStart + 7'200'000);
  EXPECT_EQ(request.reservation().queue(), "research");
  EXPECT_EQ(request.reservation().reason(), "new fans");
  EXPECT_TRUE(request.reservation().drain());
}

TEST_F(ReservationCommandTest, StartsNowByTheControllersClock) {
  answers().reservations.set_as_of_ms(1000);
  Run({"reservation", "create", "m", "--nodes", "a", "--for", "1m"});
  ASSERT_EQ(answers().created_reservations.size(), 1U);
  EXPECT_EQ(answers().created_reservations[0].reservation().start_ms(), 1000);
}

TEST_F(ReservationCommandTest, RefusesBadTimesAndTwoOwners) {
  answers();  // Starts the server.
  const auto create = [&](std::vector<std::string> options) {
    std::vector<std::string> words = {"reservation", "create", "m", "--nodes", "a"};
    words.insert(words.end(), options.begin(), options.end());
    return Run(words);
  };
  EXPECT_THAT(create({"--for", "soon"}).err, HasSubstr("--for soon: must be a duration"));
  EXPECT_THAT(create({"--for", "1h", "--from", "noon"}).err, HasSubstr("--from noon"));
  EXPECT_EQ(create({"--for", "1h", "--queue", "q", "--user", "u"}).exit_code, 2);
  EXPECT_TRUE(answers().created_reservations.empty());
}

TEST_F(ReservationCommandTest, ListsAndDeletes) {
  v1::NodeReservation& reservation = *answers().reservations.add_reservations();
  reservation.set_name("maint");
  reservation.add_nodes("gpu[01-04]");
  reservation.set_start_ms(kStart);
  reservation.set_end_ms(kStart + 1000);
  reservation.set_user("grace");
  EXPECT_EQ(Run({"reservation", "list"}).out,
            "NAME   NODES       FROM                      TO                        FOR         "
            "DRAIN  REASON\n"
            "maint  gpu[01-04]  2026-12-01T08:00:00.000Z  2026-12-01T08:00:01.000Z  user grace  "
            "no\n");
  EXPECT_EQ(Run({"reservation", "list", "-o", "name"}).out, "maint\n");
  answers().reservations.Clear();
  EXPECT_THAT(Run({"reservation", "list"}).err, HasSubstr("no reservations"));
  EXPECT_THAT(Run({"reservation", "delete", "maint"}).err, HasSubstr("maint is deleted"));
  ASSERT_EQ(answers().deleted_reservations.size(), 1U);
  EXPECT_EQ(answers().deleted_reservations[0].name(), "maint");
}

}  // namespace
}  // namespace trainyard::cli
