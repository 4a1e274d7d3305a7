// Two servers: one for the leader, and one for a standby that passes every request on.
#include "controller/http/relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/http/server.h"
#include "tests/controller/http/http_client.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller::http {
namespace {

using testing::HasSubstr;

class RelayTest : public testing::Test {
 protected:
  void Start(const TlsIdentity& leader_tls = {}, const TlsIdentity& standby_tls = {}) {
    leader_ = *Server::Listen("127.0.0.1:0", {}, leader_tls);
    leader_->Start([this](const Request& request, const Respond& respond) {
      const std::lock_guard lock(mutex_);
      seen_ = request;
      respond(answer_);
    });
    auto relay = Relay::Start(standby_tls);
    ASSERT_TRUE(relay.ok()) << relay.status();
    relay_ = *std::move(relay);
    page_ = leader_->address();
    standby_ = *Server::Listen("127.0.0.1:0");
    standby_->Start([this](Request request, Respond respond) {
      relay_->Forward(page_, std::move(request), std::move(respond));
    });
  }

  void TearDown() override {
    if (standby_ != nullptr) standby_->Stop();
    relay_.reset();
  }

  void AnswerWith(Response answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  Request Seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  HttpClient Connect() { return HttpClient(standby_->address()); }

  // Returns a new certificate and its key.
  TlsIdentity MakeIdentity(const std::string& name) {
    const std::string path = directory_.File(name);
    const std::string command = absl::StrCat(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
        "/CN=trainyard -keyout ",
        path, ".key -out ", path, ".pem 2>/dev/null");
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return {.certificate = TextOf(path + ".pem"), .key = TextOf(path + ".key")};
  }
  static std::string TextOf(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryDirectory directory_;
  std::mutex mutex_;
  Request seen_;     // Guarded by mutex_: the newest request to the leader.
  Response answer_;  // Guarded by mutex_.
  std::string page_;
  std::unique_ptr<Server> leader_;
  std::unique_ptr<Server> standby_;
  std::unique_ptr<Relay> relay_;
};

TEST_F(RelayTest, PassesARequestAndItsAnswerOn) {
  Start();
  AnswerWith({.status = 201,
              .body = "{\"id\":7}",
              .headers = {{"Location", "/api/v1/jobs/7"}},
              .cache_control = "no-store"});
  HttpClient client = Connect();
  const Answer answer = client.Send("POST", "/api/v1/jobs?x=1&y=%20",
                                    {{"Content-Type", "application/json"},
                                     {"Authorization", "Bearer token"},
                                     {kSessionHeader, "secret"},
                                     {"Origin", "http://" + standby_->address()}},
                                    "{\"spec\":{}}");
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.body, "{\"id\":7}");
  EXPECT_EQ(answer.headers.at("location"), "/api/v1/jobs/7");
  EXPECT_EQ(answer.headers.at("cache-control"), "no-store");
  EXPECT_EQ(answer.headers.at("x-frame-options"), "DENY");
  const Request seen = Seen();
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/api/v1/jobs?x=1&y=%20");
  EXPECT_EQ(seen.content_type, "application/json");
  EXPECT_EQ(seen.authorization, "Bearer token");
  EXPECT_EQ(seen.session_secret, "secret");
  EXPECT_EQ(seen.body, "{\"spec\":{}}");
  EXPECT_EQ(seen.host, page_);
  EXPECT_EQ(seen.origin, "http://" + page_) << "the leader sees a page of its own";
  EXPECT_TRUE(seen.relayed);
}

TEST_F(RelayTest, CompressedAndCachedAnswersStayWhatTheyAre) {
  Start();
  const std::string text(20'000, 'a');
  AnswerWith({.content_type = "text/plain", .body = text});
  HttpClient client = Connect();
  const Answer plain = client.Get("/");
  EXPECT_EQ(plain.body, text);
  const Answer packed = client.Send("GET", "/", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(packed.headers.at("content-encoding"), "gzip");
  EXPECT_LT(packed.body.size(), 1000u);
  const Answer unchanged =
      client.Send("GET", "/", {{"If-None-Match", plain.headers.at("etag")}});
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.body, "");
  client.SendBytes("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Answer head = client.ReadAnswer(false);
  EXPECT_EQ(head.status, 200);
}

TEST_F(RelayTest, PassesEventsOnUntilTheLeaderEnds) {
  Start();
  std::shared_ptr<StreamSink> sink;
  AnswerWith({.stream = [&](std::shared_ptr<StreamSink> opened) {
    opened->Send(std::make_shared<const std::string>("event: one\ndata: first\n\n"));
    const std::lock_guard lock(mutex_);
    sink = std::move(opened);
  }});
  HttpClient client = Connect();
  client.SendBytes("GET /events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 41\r\n\r\n");
  EXPECT_EQ(client.ReadAnswer().headers.at("content-type"), "text/event-stream");
  EXPECT_EQ(client.ReadEvent()["data"], "first");
  EXPECT_EQ(Seen().last_event_id, "41");
  {
    const std::lock_guard lock(mutex_);
    sink->Send(std::make_shared<const std::string>("event: one\ndata: second\n\n"));
    sink.reset();
  }
  EXPECT_EQ(client.ReadEvent()["data"], "second");
  leader_->Stop();
  EXPECT_TRUE(client.ReadEvent().empty()) << "the stream ends with the leader";
}

TEST_F(RelayTest, ALeaderThatIsGoneIsNamed) {
  Start();
  leader_->Stop();
  leader_.reset();
  HttpClient client = Connect();
  const Answer answer = client.Get("/api/v1/jobs");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("the leader's page at " + page_ + " does not answer"));
  page_ = "nonsense";
  EXPECT_EQ(client.Get("/").status, 503);
}

TEST_F(RelayTest, TheLeaderMustHaveTheSameCertificate) {
  const TlsIdentity shared = MakeIdentity("shared");
  Start(shared, shared);
  AnswerWith({.body = "\"encrypted\""});
  HttpClient client = Connect();
  EXPECT_EQ(client.Get("/").body, "\"encrypted\"");
  relay_ = *Relay::Start(MakeIdentity("other"));
  EXPECT_EQ(client.Get("/").status, 503) << "another certificate";
}

TEST_F(RelayTest, AnUnreadableCertificateIsRefused) {
  EXPECT_EQ(Relay::Start({.certificate = "nonsense", .key = "nonsense"}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace trainyard::controller::http
