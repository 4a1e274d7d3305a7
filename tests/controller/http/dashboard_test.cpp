// Tests the HTTP server of a complete controller over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/http/dashboard_fixture.h"
#include "tests/controller/http/http_client.h"

namespace trainyard::controller::http {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST_F(DashboardTest, BoundsWhatAClientSends) {
  EXPECT_EQ(Connect().Get("/" + std::string(9000, 'a')).Json()["code"], "target_too_long");
  EXPECT_EQ(Connect().Send("GET", "/", {{"X", std::string(20'000, 'a')}}).status, 431);
  HttpClient large(address());
  large.SendBytes(
      absl::StrCat("POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n",
                   "Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"));
  EXPECT_EQ(large.ReadAnswer().status, 413);
  HttpClient odd(address());
  odd.SendBytes("NONSENSE\r\n\r\n");
  EXPECT_EQ(odd.ReadAnswer().status, 400);
  HttpClient two_hosts(address());
  two_hosts.SendBytes("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(two_hosts.ReadAnswer().status, 400);
}

TEST_F(DashboardTest, RandomBytesLeaveTheServerAnswering) {
  std::srand(7);
  for (int round = 0; round < 50; ++round) {
    HttpClient noise(address());
    std::string bytes = round % 2 == 0 ? "GET /api/v1/" : "";
    for (int i = 0; i < 200; ++i) bytes += static_cast<char>(std::rand());
    noise.SendBytes(bytes + "\r\n\r\n");
  }
  EXPECT_EQ(client_.Get("/api/v1/server").status, 200);
}

TEST_F(DashboardTest, KeepsConnectionsAndAnswersPipelinedRequestsInOrder) {
  client_.SendBytes(
      "GET /api/v1/jobs/9 HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /api/v1/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client_.ReadAnswer().status, 404);
  EXPECT_EQ(client_.ReadAnswer().status, 200);
}

TEST_F(DashboardTest, SendsTagsAndAnswers304UntilSomethingChanges) {
  const Answer first = client_.Get("/api/v1/jobs");
  const std::string tag = first.headers.at("etag");
  running_.clock.Advance(1000);
  const Answer same = client_.Send("GET", "/api/v1/jobs", {{"If-None-Match", tag}});
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body, "");
  running_.Submit("new");
  EXPECT_EQ(client_.Send("GET", "/api/v1/jobs", {{"If-None-Match", tag}}).status, 200);
}

TEST_F(DashboardTest, HeadHasTheHeadersAndNoBody) {
  const Answer head = client_.Send("HEAD", "/api/v1/openapi.json");
  EXPECT_EQ(head.status, 200);
  EXPECT_GT(std::stoi(head.headers.at("content-length")), 10'000);
  EXPECT_EQ(client_.Get("/api/v1/server").status, 200);
}

std::string Inflate(const std::string& bytes) {
  std::string out(4 << 20, '\0');
  z_stream stream{};
  inflateInit2(&stream, 31);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST_F(DashboardTest, CompressesLargeBodiesForThoseWhoTakeIt) {
  const Answer plain = client_.Get("/api/v1/openapi.json");
  const Answer zipped = client_.Send("GET", "/api/v1/openapi.json", {{"Accept-Encoding", "gzip"}});
  EXPECT_FALSE(plain.headers.contains("content-encoding"));
  EXPECT_EQ(zipped.headers.at("content-encoding"), "gzip");
  EXPECT_LT(zipped.body.size(), plain.body.size() / 4);
  EXPECT_EQ(Inflate(zipped.body), plain.body);
  const Answer small = client_.Send("GET", "/api/v1/jobs/7", {{"Accept-Encoding", "gzip"}});
  EXPECT_FALSE(small.headers.contains("content-encoding"));
}

TEST_F(DashboardTest, EveryAnswerCarriesTheSecurityHeaders) {
  for (const char* target : {"/", "/api/v1/jobs", "/api/v1/jobs/7"}) {
    const Answer answer = client_.Get(target);
    EXPECT_THAT(answer.headers.at("content-security-policy"), HasSubstr("default-src 'self'"));
    EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
    EXPECT_FALSE(answer.headers.contains("access-control-allow-origin"));
  }
}

TEST_F(DashboardTest, SubmitsStopsAndListsLikeTheCli) {
  const json job = client_.Post("/api/v1/jobs", SubmitBody("mine")).Json()["job"];
  EXPECT_EQ(job["state"], "queued");
  EXPECT_EQ(running_.Get("mine").user(), "ada");
  for (const char* name : {"b", "a", "c"}) running_.Submit(name);
  const json page = client_.Get("/api/v1/jobs?order=name&limit=2&fields=name").Json();
  EXPECT_EQ(page["total"], 4);
  EXPECT_EQ(page["jobs"].dump(), R"([{"name":"a"},{"name":"b"}])");
  const json rest = client_
                        .Get("/api/v1/jobs?order=name&fields=name&cursor=" +
                             page["next_cursor"].get<std::string>())
                        .Json();
  EXPECT_EQ(rest["jobs"].dump(), R"([{"name":"c"},{"name":"mine"}])");
  EXPECT_EQ(rest["next_cursor"], "");
  const json stopped = client_.Post("/api/v1/jobs/mine/stop", R"({"user":"bob"})").Json();
  EXPECT_EQ(stopped["job"]["state"], "stopped");
  EXPECT_EQ(client_.Post("/api/v1/jobs/mine/stop", "{}").Json()["code"], "failed_precondition");
  EXPECT_EQ(client_.Get("/api/v1/jobs?text=MIN&fields=name").Json()["total"], 1);
}

TEST_F(DashboardTest, SubmitsAJobFileAsTheCommandLineDoes) {
  const std::string file =
      "name: from-text\ncommand: [/bin/true]\nresources: {device: cpu}\n# a comment\n";
  const json body = {{"job_file", file},
                     {"overrides", {"resources.slots_per_node=1", "stop_grace=20s"}}};
  const json plan = client_.Post("/api/v1/plan", body.dump()).Json();
  EXPECT_EQ(plan["spec"]["stop_grace"], "20s") << plan.dump();
  json submit = body;
  submit["user"] = "ada";
  const json job = client_.Post("/api/v1/jobs", submit.dump()).Json()["job"];
  EXPECT_EQ(job["name"], "from-text") << job.dump();
  EXPECT_EQ(job["user"], "ada");
  std::map<std::string, std::string> origins;
  for (const json& origin : job["origins"]) origins[origin["key"]] = origin["source"];
  EXPECT_EQ(origins["name"], "job file:1:7");
  EXPECT_EQ(origins["stop_grace"], "--set stop_grace");
  EXPECT_EQ(origins.count("restart.backoff"), 0u) << "an absent origin is the default";
}

TEST_F(DashboardTest, ACloneHasTheChangedSettings) {
  const json source = client_.Post("/api/v1/jobs", SubmitBody("source")).Json()["job"];
  const json spec = json::parse(SubmitBody("source"))["spec"];
  const json clone = client_
                         .Post("/api/v1/jobs", json({{"spec", spec},
                                                     {"overrides", {"name=copy", "stop_grace=20s"}},
                                                     {"cloned_from", source["id"]}})
                                                   .dump())
                         .Json()["job"];
  EXPECT_EQ(clone["name"], "copy") << clone.dump();
  EXPECT_EQ(clone["spec"]["stop_grace"], "20s");
  EXPECT_EQ(clone["cloned_from"], source["id"]);
}

TEST_F(DashboardTest, RefusesJobFilesWithThePlaceOfTheMistake) {
  const struct {
    json body;
    const char* detail;
  } cases[] = {
      {{{"job_file", "name: x\ncomand: [a]\n"}}, "job file:2:1: unknown key `comand`"},
      {{{"job_file", "name: [\n"}}, "job file:"},
      {{{"job_file", "name: x\ncommand: [a]\n"}, {"overrides", {"stop_grace"}}},
       "--set stop_grace"},
      {{{"job_file", "name: x\ncommand: [a]\n"}, {"overrides", "a=b"}}, "list of strings"},
      {{{"job_file", "name: x\ncommand: [a]\ntime_limit: 0\n"}},
       "`time_limit` must be at least 1s, got 0s"},
      {{{"job_file", "name: x\n"}, {"spec", json::object()}}, "not both"},
      {{{"overrides", {"name=b"}}}, "job_file or spec"},
      {{{"spec", json::parse(SubmitBody("a"))["spec"]}, {"overrides", {"nam=b"}}}, "--set nam"},
      {{{"spec", json::parse(SubmitBody("a"))["spec"]}, {"overrides", {"time_limit=0"}}},
       "`time_limit` must be at least 1s, got 0s"},
      {{{"job_file", "extends: /etc/passwd\nname: x\n"}}, "is a path"},
      {{{"job_file", "extends: ../job.yaml\nname: x\n"}}, "is a path"},
      {{{"job_file", "extends: no-such-recipe\nname: x\n"}}, "no recipe `no-such-recipe`"},
      {{{"job_file", "name: x\ncommand: [a]\nworking_directory: here\n"}}, "has no folder"},
      {{{"job_file", "name: x\ncommand: [a]\n"}, {"overrides", {"working_directory=here"}}},
       "has no folder"},
      {{{"job_file", 7}}, "must be text"},
  };
  for (const auto& one : cases) {
    const Answer answer = client_.Post("/api/v1/jobs", one.body.dump());
    EXPECT_EQ(answer.status, 400) << one.body.dump();
    EXPECT_THAT(answer.Json()["detail"].get<std::string>(), HasSubstr(one.detail));
  }
}

TEST_F(DashboardTest, ADrainHasADeadlineAndEndsWhenTheNodeIsUncordoned) {
  const Answer drained =
      client_.Post("/api/v1/nodes/a/drain", R"({"drain_after_ms": 60000, "reason": "fan"})");
  ASSERT_EQ(drained.status, 200) << drained.body;
  const json drain = drained.Json()["node"]["drain"];
  EXPECT_EQ(drain["deadline_ms"].get<int64_t>() - drain["since_ms"].get<int64_t>(), 60'000);
  const Answer refused = client_.Post("/api/v1/nodes/a/drain", R"({"drain_after_ms": "soon"})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.Json()["detail"], "drain_after_ms: must be a whole number");
  const json node = client_.Post("/api/v1/nodes/a/uncordon", "{}").Json()["node"];
  EXPECT_FALSE(node.contains("drain"));
}

TEST_F(DashboardTest, AlertsOlderThanAThousandEventsAreStillTold) {
  ASSERT_EQ(client_.Post("/api/v1/nodes/a/uncordon", "{}").status, 200);
  ASSERT_EQ(running_.Submit("long"), 1);
  worker_.Take(v1::ControllerMessage::kStartAttempt);
  worker_.SendFact(1, StartedFact(1));
  // Waits until the attempt is running. Otherwise a slow loop might handle all requests of this
  // test before the job is placed, because a tick places jobs only after it has handled its
  // requests.
  worker_.Take(v1::ControllerMessage::kFactsAcknowledged);
  const v1::StreamId stream = Stream(1, v1::STREAM_KIND_TELEMETRY);
  v1::TelemetryRecord record;
  record.mutable_alert()->set_step(3);
  record.mutable_alert()->set_code("loss_spike");
  worker_.SendRecord(stream, 0, 10, record);
  constexpr int kCheckpoints = 600;
  int64_t sent = 10;
  const auto send = [&](int number, bool deleted) {
    record.mutable_checkpoint()->set_step(10 * number);
    record.mutable_checkpoint()->set_path(absl::StrCat("/checkpoints/", number));
    record.mutable_checkpoint()->set_deleted(deleted);
    worker_.SendRecord(stream, sent, sent + 10, record);
    sent += 10;
  };
  for (int i = 1; i < kCheckpoints; ++i) {
    send(i, /*deleted=*/false);
    send(i, /*deleted=*/true);
  }
  send(kCheckpoints, /*deleted=*/false);
  worker_.TakeAcknowledged(stream, sent);
  const json job = client_.Get("/api/v1/jobs/1").Json();
  ASSERT_EQ(job.at("alerts").size(), 1u);
  EXPECT_EQ(job.at("alerts")[0].at("step"), 3);
  ASSERT_EQ(job.at("events").size(), 50u);
  const json& newest = job.at("events").back();
  ASSERT_TRUE(newest.contains("checkpoint_published")) << newest;
  EXPECT_EQ(newest.at("checkpoint_published").at("checkpoint").at("step"), 10 * kCheckpoints);
}

TEST_F(DashboardTest, OutputAsTextCannotControlATerminalAndIsWholeAsRaw) {
  ASSERT_EQ(client_.Post("/api/v1/nodes/a/uncordon", "{}").status, 200);
  running_.Submit("job");
  worker_.Take(v1::ControllerMessage::kStartAttempt);
  const v1::StreamId stream = Stream(1, v1::STREAM_KIND_LOG);
  const std::string line = "a\x1b]0;owned\x07\tb\xc2\x9b";
  worker_.SendOutput(stream, 0, line + "\n");
  worker_.TakeAcknowledged(stream, static_cast<int64_t>(line.size()) + 1);
  const Answer text = client_.Get("/api/v1/jobs/1/logs?format=text");
  EXPECT_EQ(text.headers.at("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(text.body, "a\\u001b]0;owned\\u0007\tb\\u009b\n");
  const Answer raw = client_.Get("/api/v1/jobs/1/logs?format=raw");
  EXPECT_EQ(raw.headers.at("content-type"), "application/octet-stream");
  EXPECT_THAT(raw.headers.at("content-disposition"), HasSubstr("attachment"));
  EXPECT_EQ(raw.body, line + "\n");
  EXPECT_EQ(client_.Get("/api/v1/jobs/1/logs").Json()["lines"][0]["text"], line);
}

TEST_F(DashboardTest, PagesOfTheDashboardLeadToItsIndex) {
  for (const char* path : {"/", "/jobs/17", "/nodes"}) {
    const Answer answer = client_.Get(path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_THAT(answer.headers.at("content-type"), HasSubstr("text/html"));
    EXPECT_EQ(answer.headers.at("cache-control"), "no-cache");
  }
}

}  // namespace
}  // namespace trainyard::controller::http
