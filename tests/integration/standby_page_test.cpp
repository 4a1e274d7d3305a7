// The page and REST at both of two controllers, with real processes: a standby passes requests on
// to the leader, and a login outlives the leader.
#include <signal.h>

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/controller_pair.h"
#include "tests/integration/http_calls.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

class StandbyPageTest : public ControllerPair {
 protected:
  void SetUp() override { StartPair(); }

  HttpAnswer Get(int member, const std::string& path, const std::string& session) const {
    return Http("GET", absl::StrCat("http://", members_[member].page, path), {session});
  }
  // Waits until the page of this member answers. A standby reads the address of a new leader soon.
  bool WaitForAnswer(int member, const std::string& session) const {
    return Eventually([&] { return Get(member, "/api/v1/jobs", session).status == 200; },
                      Seconds(30));
  }
};

TEST_F(StandbyPageTest, BothControllersServeThePageAndALoginOutlivesItsLeader) {
  SubmitSmallJob();
  CheckSmallJobs();
  const CommandResult shown = Cli({"dashboard"});
  ASSERT_EQ(shown.exit_code, 0) << shown.error;
  const HttpAnswer login = LogIn(FirstLine(shown.output));
  ASSERT_EQ(login.status, 200) << login.text;
  const std::string session = SessionHeader(login);
  for (const int member : {0, 1}) {
    EXPECT_TRUE(WaitForAnswer(member, session)) << member << Logs();
    EXPECT_THAT(Get(member, "/api/v1/jobs", session).text, HasSubstr("small-0"));
    EXPECT_EQ(Get(member, "/api/v1/jobs", "Trainyard-Session: wrong").status, 401);
    EXPECT_THAT(Get(member, "/", session).text, HasSubstr("<!doctype html>"));
  }
  const int failed = leader_;
  members_[failed].process->Signal(SIGKILL);
  members_[failed].process->Wait();
  SubmitSmallJob();
  EXPECT_TRUE(WaitForAnswer(1 - failed, session)) << Logs();
  StartMember(failed);
  ASSERT_TRUE(FindLeader()) << Logs();
  EXPECT_EQ(leader_, 1 - failed);
  EXPECT_TRUE(WaitForAnswer(failed, session)) << "the new standby passes requests on" << Logs();
}

}  // namespace
}  // namespace trainyard::test
