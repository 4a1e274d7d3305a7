// Tests logins and dashboard sessions on a controller that requires a token.
#include "controller/http/login.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/controller.h"
#include "controller/store/stores.h"
#include "nlohmann/json.hpp"
#include "proto/proof/digest.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/http/http_client.h"
#include "trainyard/v1/access_service.grpc.pb.h"

namespace trainyard::controller::http {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr char kToken[] = "token-of-a-test-0123456789";
using Headers = std::map<std::string, std::string>;

std::unique_ptr<Controller> StartController(const Clock& clock) {
  ControllerOptions options;
  options.listen = "127.0.0.1:0";
  options.data_dir = "/nowhere";
  options.http.listen = "127.0.0.1:0";
  options.token = kToken;
  auto started = Controller::StartOn(OpenMemoryStores(), options, clock);
  EXPECT_TRUE(started.ok()) << started.status();
  return *std::move(started);
}

class LoginTest : public testing::Test {
 protected:
  std::string address() const { return controller_->http_address(); }

  // Creates a login code as `trainyard dashboard` does. Returns only the code, without the
  // address.
  std::string MakeCode() {
    grpc::ClientContext context;
    context.AddMetadata("authorization", absl::StrCat("Bearer ", kToken));
    v1::CreateLoginCodeRequest request;
    request.set_user("ada");
    v1::CreateLoginCodeResponse response;
    EXPECT_TRUE(access_->CreateLoginCode(&context, request, &response).ok());
    EXPECT_EQ(response.path().rfind("/login#code=", 0), 0u) << response.path();
    EXPECT_EQ(response.session_idle_ms(), SessionTable::kIdleMs);
    return response.path().substr(response.path().find('=') + 1);
  }

  Answer PostCode(const std::string& code) {
    return client_.Post("/login", json({{"code", code}}).dump());
  }

  json Login() {
    const Answer answer = PostCode(MakeCode());
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.Json();
  }

  static Headers SessionOf(const json& session) {
    return {{kSessionHeader, session["secret"].get<std::string>()}};
  }

  int StatusWith(const Headers& headers, const std::string& target = "/api/v1/jobs") {
    return client_.Send("GET", target, headers).status;
  }

  HandClock clock_;
  std::unique_ptr<Controller> controller_ = StartController(clock_);
  std::unique_ptr<v1::AccessService::Stub> access_ = v1::AccessService::NewStub(
      grpc::CreateChannel(controller_->address(), grpc::InsecureChannelCredentials()));
  HttpClient client_{address()};
};

TEST_F(LoginTest, PagesAreForEverybodyAndDataIsNot) {
  for (const char* page : {"/", "/jobs/17", "/login"}) {
    EXPECT_EQ(client_.Get(page).status, 200) << page;
  }
  for (const char* data : {"/api/v1/jobs", "/api/v1/server", "/api/v1/openapi.json",
                           "/api/v1/events/stream", "/api/v1/nothing"}) {
    const Answer answer = client_.Get(data);
    EXPECT_EQ(answer.status, 401) << data;
    EXPECT_THAT(answer.body, HasSubstr("trainyard dashboard"));
  }
  EXPECT_EQ(client_.Post("/", "{}").status, 405);
}

TEST_F(LoginTest, ACodeBecomesASessionOnce) {
  const std::string code = MakeCode();
  const Answer login = PostCode(code);
  ASSERT_EQ(login.status, 200) << login.body;
  EXPECT_EQ(login.headers.at("cache-control"), "no-store");
  EXPECT_FALSE(login.headers.contains("set-cookie"));
  EXPECT_EQ(StatusWith(SessionOf(login.Json())), 200);
  const Answer again = PostCode(code);
  EXPECT_EQ(again.status, 403);
  EXPECT_THAT(again.body, HasSubstr("trainyard dashboard"));
  for (const char* body : {"", "{}", "[]", "{\"code\": 7}", "{"}) {
    EXPECT_EQ(client_.Post("/login", body).status, 400) << body;
  }
}

TEST_F(LoginTest, NoCookieOpensAnything) {
  const std::string secret = Login()["secret"];
  // A signed cookie in the format of earlier versions.
  const std::string text = absl::StrCat(clock_.Now() + 3'600'000, ".nonce");
  const std::string old =
      absl::StrCat(text, ".", KeyedHashOf(kToken, absl::StrCat("session ", text)));
  for (const std::string& value : {secret, old}) {
    for (const char* name : {"trainyard_session", kSessionHeader}) {
      EXPECT_EQ(StatusWith({{"Cookie", absl::StrCat(name, "=", value)}}), 401) << name;
    }
  }
  EXPECT_EQ(StatusWith({{"Authorization", "Bearer " + secret}}), 401);
  EXPECT_THAT(client_.Get("/login").headers.at("set-cookie"),
              testing::AllOf(HasSubstr("trainyard_session=;"), HasSubstr("Max-Age=0")));
  EXPECT_FALSE(client_.Get("/").headers.contains("set-cookie"));
}

TEST_F(LoginTest, AnotherSiteCannotUseUpACode) {
  const std::string code = MakeCode();
  const std::string body = json({{"code", code}}).dump();
  for (const Headers& headers :
       {Headers{{"Origin", "http://evil.example"}}, Headers{{"Origin", "http://localhost:1"}},
        Headers{{"Sec-Fetch-Site", "same-site"}}}) {
    EXPECT_EQ(client_.Send("POST", "/login", headers, body).status, 403);
  }
  EXPECT_EQ(client_.Send("GET", "/login?code=" + code).status, 200);
  EXPECT_EQ(PostCode(code).status, 200);
}

TEST_F(LoginTest, ASessionEndsWithoutUse) {
  const Headers session = SessionOf(Login());
  clock_.Advance(SessionTable::kIdleMs - 1);
  EXPECT_EQ(StatusWith(session), 200);
  clock_.Advance(SessionTable::kIdleMs - 1);
  EXPECT_EQ(StatusWith(session), 200);
  clock_.Advance(SessionTable::kIdleMs);
  EXPECT_EQ(StatusWith(session), 401);
}

TEST_F(LoginTest, SessionsAreListedAndEnded) {
  const json one = Login();
  const json two = Login();
  const Answer list = client_.Send("GET", "/api/v1/sessions", SessionOf(one));
  const json sessions = list.Json()["sessions"];
  ASSERT_EQ(sessions.size(), 2u) << list.body;
  EXPECT_EQ(sessions[0]["user"], "ada");
  EXPECT_EQ(sessions[0]["address"], "127.0.0.1");
  EXPECT_THAT(list.body, Not(HasSubstr(one["secret"].get<std::string>())));
  const std::string path = "/api/v1/sessions/";
  const std::string id = two["id"].get<std::string>();
  EXPECT_EQ(client_.Send("DELETE", path + id).status, 401);
  EXPECT_EQ(client_.Send("DELETE", path + "none", SessionOf(one)).status, 404);
  const Answer ended = client_.Send("DELETE", path + id, SessionOf(one));
  EXPECT_EQ(ended.Json()["ended"], 1) << ended.body;
  EXPECT_EQ(StatusWith(SessionOf(two)), 401);
  EXPECT_EQ(StatusWith(SessionOf(one)), 200);
  EXPECT_EQ(client_.Send("DELETE", "/api/v1/sessions", SessionOf(one)).Json()["ended"], 1);
  EXPECT_EQ(StatusWith(SessionOf(one)), 401);
}

TEST_F(LoginTest, TheOwnerOfTheSessionReplacesTheNamedUser) {
  const std::string body = json({{"user", std::string(129, 'x')}}).dump();
  const auto pause = [&](Headers headers) {
    headers["Content-Type"] = "application/json";
    return client_.Send("POST", "/api/v1/jobs/1/pause", headers, body);
  };
  EXPECT_EQ(pause(SessionOf(Login())).status, 404) << "there is no job 1";
  const Answer refused = pause({{"Authorization", absl::StrCat("Bearer ", kToken)}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("the user name is longer than 128 bytes"));
}

TEST_F(LoginTest, TheStreamOfAnEndedSessionIsClosed) {
  const json session = Login();
  const std::string head =
      absl::StrCat("GET /api/v1/events/stream?topics=events HTTP/1.1\r\nHost: localhost\r\n",
                   kSessionHeader, ": ", session["secret"].get<std::string>(), "\r\n\r\n");
  HttpClient stream(address());
  stream.SendBytes(head);
  EXPECT_EQ(stream.ReadAnswer().status, 200);
  EXPECT_EQ(stream.ReadEvent().at("event"), "hello");
  EXPECT_EQ(stream.ReadEvent().at("event"), "events");
  grpc::ClientContext context;
  context.AddMetadata("authorization", absl::StrCat("Bearer ", kToken));
  v1::EndSessionsRequest request;
  request.add_ids(session["id"].get<std::string>());
  v1::EndSessionsResponse response;
  ASSERT_TRUE(access_->EndSessions(&context, request, &response).ok());
  EXPECT_EQ(response.ended(), 1);
  EXPECT_TRUE(stream.ReadEvent().empty());
  HttpClient again(address());
  again.SendBytes(head);
  EXPECT_EQ(again.ReadAnswer().status, 401);
}

}  // namespace
}  // namespace trainyard::controller::http
