// Tests dashboard sessions. A session is valid for one port of the host, survives restarts, and can
// be ended.
#include <sys/stat.h>

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/integration/http_calls.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DashboardSessionTest : public testing::Test {
 protected:
  std::string Url(const std::string& path) const { return HttpUrl(cluster_, path); }

  MiniCluster cluster_{0};
};

TEST_F(DashboardSessionTest, ACodeOpensTheDashboardOnceAndSurvivesARestart) {
  const std::string url = FirstLine(cluster_.Cli({"dashboard"}).output);
  const HttpAnswer login = LogIn(url);
  ASSERT_EQ(login.status, 200) << login.text;
  EXPECT_EQ(login.cookie, "");
  EXPECT_EQ(LogIn(url).status, 403) << "a code is for one login";
  const std::string session = SessionHeader(login);
  const std::string secret = session.substr(session.find(' ') + 1);
  ASSERT_EQ(secret.size(), 64u);
  EXPECT_EQ(Http("GET", Url("/api/v1/nodes"), {session}).status, 200);
  EXPECT_EQ(Http("GET", Url("/api/v1/nodes"), {session + "0"}).status, 401);
  EXPECT_EQ(Http("GET", Url("/api/v1/nodes"), {"Cookie: trainyard_session=" + secret}).status, 401);
  EXPECT_THAT(Http("GET", Url("/login")).cookie,
              AllOf(HasSubstr("trainyard_session=;"), HasSubstr("Max-Age=0")));
  const std::string file = cluster_.directory() + "/controller/sessions.json";
  struct stat info {};
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  cluster_.KillController();
  cluster_.StartController();
  EXPECT_EQ(Http("GET", Url("/api/v1/nodes"), {session}).status, 200);
  EXPECT_THAT(ReadFile(file), Not(HasSubstr(secret)));
  EXPECT_THAT(cluster_.DaemonLogs(), Not(HasSubstr(secret)));
}

TEST_F(DashboardSessionTest, SessionsAreListedAndEndedForGood) {
  const HttpAnswer one = LogIn(FirstLine(cluster_.Cli({"dashboard"}).output));
  const HttpAnswer two = LogIn(FirstLine(cluster_.Cli({"dashboard"}).output));
  const auto id = [](const HttpAnswer& login) {
    return nlohmann::json::parse(login.text).value("id", std::string());
  };
  const auto status = [this](const HttpAnswer& login) {
    return Http("GET", Url("/api/v1/nodes"), {SessionHeader(login)}).status;
  };
  ASSERT_EQ(status(one), 200);
  const std::string list = cluster_.Cli({"server", "sessions"}).output;
  const std::string me = FirstLine(RunCommand({"/usr/bin/id", "-un"}).output);
  EXPECT_THAT(list,
              AllOf(HasSubstr(id(one)), HasSubstr(id(two)), HasSubstr(me), HasSubstr("127.0.0.1")));
  EXPECT_EQ(cluster_.Cli({"server", "sessions", "--end", "none"}).exit_code, 3) << "not found";
  EXPECT_EQ(cluster_.Cli({"server", "sessions", "--end", id(one)}).exit_code, 0);
  EXPECT_EQ(status(one), 401);
  EXPECT_EQ(status(two), 200);
  cluster_.KillController();
  cluster_.StartController();
  EXPECT_EQ(status(one), 401);
  EXPECT_EQ(status(two), 200);
  EXPECT_EQ(cluster_.Cli({"server", "sessions", "--end-all"}).exit_code, 0);
  EXPECT_EQ(status(two), 401);
}

// A browser that, like every browser, sends its cookies to all ports of a host. The browser logs in
// to two controllers and then visits another user's server on their host.
constexpr char kBrowse[] = R"(import http.cookiejar, http.server, json, sys, threading
import urllib.error, urllib.request
jar = http.cookiejar.CookieJar()
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
received = []
class Stranger(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        received.append(str(self.headers))
        self.send_response(204)
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Stranger)
threading.Thread(target=server.serve_forever, daemon=True).start()
def visit(url, headers={}, body=None):
    try:
        answer = browser.open(urllib.request.Request(url, headers=headers, data=body), timeout=10)
    except urllib.error.HTTPError as error:
        answer = error
    return answer.status, answer.read().decode()
storage = {}
for address in sys.argv[1:]:
    page, _, code = address.partition("#code=")
    visit(page)
    session = json.loads(visit(page, {"Content-Type": "application/json"},
                               json.dumps({"code": code}).encode())[1])
    storage[page.removesuffix("/login")] = session.get("secret", "none")
visit("http://127.0.0.1:%d/" % server.server_port)
with_own = [visit(origin + "/api/v1/nodes", {"Trainyard-Session": secret})[0]
            for origin, secret in storage.items()]
with_jar = [visit(origin + "/api/v1/nodes")[0] for origin in storage]
print(json.dumps({"with_own": with_own, "with_jar": with_jar, "cookies": len(jar),
                  "received": received, "secrets": list(storage.values())}))
)";

TEST_F(DashboardSessionTest, ASessionIsForOnePortOfTheHost) {
  const std::string directory = cluster_.directory();
  const ChildProcess other(
      {ProgramPath("trainyard-controller"), "--data-dir", directory + "/other", "--listen",
       "127.0.0.1:0", "--listen-file", directory + "/other.address"},
      directory + "/other.log");
  ASSERT_TRUE(Eventually([&] { return fs::exists(directory + "/other.address.http"); }));
  const CommandResult login =
      RunCommand({"/usr/bin/env", "TRAINYARD_TOKEN_FILE=" + directory + "/other/token",
                  ProgramPath("trainyard"), "--server",
                  FirstLine(ReadFile(directory + "/other.address")), "dashboard"});
  const CommandResult browsed =
      RunCommand({"/usr/bin/python3", "-c", kBrowse, FirstLine(cluster_.Cli({"dashboard"}).output),
                  FirstLine(login.output)});
  ASSERT_EQ(browsed.exit_code, 0) << browsed.error;
  const auto seen = nlohmann::json::parse(browsed.output);
  EXPECT_EQ(seen["with_own"], nlohmann::json({200, 200})) << "neither login ended the other";
  EXPECT_EQ(seen["with_jar"], nlohmann::json({401, 401})) << "no cookie opens anything";
  EXPECT_EQ(seen["cookies"], 0);
  ASSERT_EQ(seen["received"].size(), 1u);
  const std::string received = seen["received"][0];
  EXPECT_THAT(received, Not(HasSubstr("Cookie")));
  for (const std::string secret : seen["secrets"]) {
    EXPECT_EQ(secret.size(), 64u);
    EXPECT_THAT(received, Not(HasSubstr(secret)));
  }
}

}  // namespace
}  // namespace trainyard::test
