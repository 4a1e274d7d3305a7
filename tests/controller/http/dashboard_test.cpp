// The HTTP side of a whole controller, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "controller/http/routes.h"
#include "controller/store/stores.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/http/http_client.h"

namespace trainyard::controller::http {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class DashboardTest : public testing::Test {
 protected:
  std::string address() const { return running_.controller->http_address(); }
  HttpClient Connect() const { return HttpClient(address()); }

  // One node, and nothing may be placed on it: jobs stay queued.
  void SetUp() override {
    worker_.Take(v1::ControllerMessage::kWelcome);
    ASSERT_EQ(client_.Post("/api/v1/nodes/a/cordon", R"({"reason":"test"})").status, 200);
  }

  RunningController running_{OpenMemoryStores(), {}, "127.0.0.1:0"};
  FakeWorker worker_{running_.channel, TestHello("a", 1)};
  HttpClient client_{address()};
};

json Contract() {
  std::ifstream file(TRAINYARD_OPENAPI);
  return json::parse(file);
}

// Path of the first part of the value that breaks the schema; "" when none does. Supports only the
// keywords of JSON Schema that our document uses.
std::string Broken(const json& value, const json& schema, const json& document) {
  if (schema.contains("$ref")) {
    const std::string pointer = schema["$ref"].get<std::string>().substr(1);
    return Broken(value, document.at(json::json_pointer(pointer)), document);
  }
  if (schema.contains("anyOf")) {
    for (const json& one : schema["anyOf"]) {
      if (Broken(value, one, document).empty()) return "";
    }
    return "(none of several)";
  }
  if (schema.contains("enum")) {
    const auto& words = schema["enum"];
    return std::find(words.begin(), words.end(), value) == words.end() ? value.dump() : "";
  }
  const std::string type = schema.value("type", "");
  if (type == "integer") return value.is_number_integer() ? "" : "not an integer";
  if (type == "number") return value.is_number() ? "" : "not a number";
  if (type == "string") return value.is_string() ? "" : "not a string";
  if (type == "boolean") return value.is_boolean() ? "" : "not a boolean";
  if (type == "array") {
    if (!value.is_array()) return "not a list";
    for (const json& one : value) {
      if (auto why = Broken(one, schema["items"], document); !why.empty()) return "[]" + why;
    }
    return "";
  }
  if (!value.is_object()) return "not an object";
  // An object of a kind that is described elsewhere: the contract itself, the schema of job files.
  if (schema.size() == 1) return "";
  for (const json& key : schema.value("required", json::array())) {
    if (!value.contains(key.get<std::string>())) return "missing " + key.get<std::string>();
  }
  for (const auto& [key, child] : value.items()) {
    const json& properties = schema.value("properties", json::object());
    const json* next = properties.contains(key)                  ? &schema["properties"][key]
                       : schema.contains("additionalProperties") ? &schema["additionalProperties"]
                                                                 : nullptr;
    if (next == nullptr) return "unknown " + key;
    if (auto why = Broken(child, *next, document); !why.empty()) return "." + key + why;
  }
  return "";
}

std::string SubmitBody(const std::string& name) {
  return json({{"spec",
                {{"name", name},
                 {"command", {"/bin/true"}},
                 {"resources", {{"slots_per_node", 1}, {"device", "cpu"}}}}},
               {"user", "ada"}})
      .dump();
}

constexpr char kModelFile[] =
    "name: model\nmodel: {num_layers: 2, hidden_size: 256, ffn_hidden_size: 512, "
    "num_attention_heads: 2, vocab_size: 512}\ndata: {path: /data}\n"
    "train: {seq_length: 256, global_batch: 64, steps: 10}\n";

TEST_F(DashboardTest, EveryRouteOfTheContractIsAnsweredAsItSays) {
  ASSERT_EQ(client_.Post("/api/v1/jobs", SubmitBody("one")).status, 200);
  const json document = Contract();
  int routes = 0;
  for (const auto& [path, item] : document["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      ++routes;
      // Stop and kill end the job that they are tried on; only an ended one can be deleted.
      const std::string job = method == "get" ? "one" : absl::StrCat("job-", routes);
      if (path.find("{job}") != std::string::npos && job != "one") {
        ASSERT_EQ(client_.Post("/api/v1/jobs", SubmitBody(job)).status, 200);
      }
      const std::string target = absl::StrReplaceAll(path, {{"{job}", job}, {"{node}", "a"}});
      if (operation["operationId"] == "streamEvents") continue;
      std::string body = "{}";
      if (operation["operationId"] == "submitJob") body = SubmitBody("two");
      if (operation["operationId"] == "planJob") {
        body = json({{"spec", json::parse(SubmitBody("three"))["spec"]}}).dump();
      }
      if (operation["operationId"] == "planLayout") {
        body = json({{"device", "H100"}, {"job_file", kModelFile}}).dump();
      }
      if (operation["operationId"] == "removeNode") {
        EXPECT_EQ(client_.Send("DELETE", target).status, 409) << "only lost nodes are removed";
        continue;
      }
      if (operation["operationId"] == "endSession") {
        EXPECT_EQ(client_.Send("DELETE", target).status, 404) << "nobody is logged in";
        continue;
      }
      if (operation["operationId"] == "resumeJob") {
        ASSERT_EQ(client_.Post(absl::StrReplaceAll(target, {{"/resume", "/pause"}}), "").status,
                  200);
      }
      if (operation["operationId"] == "deleteJob") {
        ASSERT_EQ(client_.Post(target + "/stop", body).status, 200);
      }
      const Answer answer = method == "post" ? client_.Post(target, body)
                                             : client_.Send(absl::AsciiStrToUpper(method), target);
      ASSERT_EQ(answer.status, 200) << target << " " << answer.body;
      const json& content = operation["responses"]["200"]["content"];
      if (!content.contains("application/json")) continue;
      EXPECT_EQ(Broken(answer.Json(), content["application/json"]["schema"], document), "")
          << target << " " << answer.body;
    }
  }
  EXPECT_EQ(routes, static_cast<int>(Routes().size()));
}

TEST_F(DashboardTest, RefusalsAreProblemsWithACodeAndAHint) {
  const struct {
    const char* method;
    const char* target;
    std::map<std::string, std::string> headers;
    std::string body;
    int status;
    const char* code;
  } cases[] = {
      {"GET", "/api/v1/jobs/7", {}, "", 404, "not_found"},
      {"GET", "/api/v1/nothing", {}, "", 404, "no_such_path"},
      {"GET", "/main.js", {}, "", 404, "no_such_path"},
      {"GET", "/api/v1/jobs?limit=-1", {}, "", 400, "invalid_argument"},
      {"DELETE", "/api/v1/jobs", {}, "", 405, "method_not_allowed"},
      {"POST", "/", {}, "", 405, "method_not_allowed"},
      {"POST",
       "/api/v1/jobs",
       {{"Content-Type", "text/plain"}},
       "{}",
       415,
       "unsupported_media_type"},
      {"POST",
       "/api/v1/jobs",
       {{"Content-Type", "application/json"}},
       "{",
       400,
       "invalid_argument"},
      {"POST", "/api/v1/jobs", {{"Origin", "http://evil.example"}}, "", 403, "cross_origin"},
      {"GET", "/api/v1/jobs", {{"Host", "evil.example"}}, "", 421, "host_not_allowed"},
  };
  const json document = Contract();
  for (const auto& one : cases) {
    HttpClient client(address());
    const Answer answer = client.Send(one.method, one.target, one.headers, one.body);
    EXPECT_EQ(answer.status, one.status) << one.target << answer.body;
    EXPECT_EQ(answer.headers.at("content-type"), "application/problem+json");
    const json problem = answer.Json();
    EXPECT_EQ(problem["code"], one.code) << one.target;
    EXPECT_EQ(problem["status"], one.status);
    EXPECT_EQ(Broken(problem, document["components"]["schemas"]["Problem"], document), "");
    EXPECT_NE(problem["detail"], "");
  }
  EXPECT_EQ(client_.Send("DELETE", "/api/v1/jobs").headers.at("allow"), "GET, HEAD, POST");
}

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

TEST_F(DashboardTest, RefusesJobFilesWithThePlaceOfTheMistake) {
  const struct {
    json body;
    const char* detail;
  } cases[] = {
      {{{"job_file", "name: x\ncomand: [a]\n"}}, "job file:2:1: unknown key `comand`"},
      {{{"job_file", "name: [\n"}}, "job file:"},
      {{{"job_file", "name: x\ncommand: [a]\n"}, {"overrides", {"stop_grace"}}},
       "--set stop_grace"},
      {{{"job_file", "name: x\ncommand: [a]\n"}, {"overrides", "a=b"}}, "list of texts"},
      {{{"job_file", "name: x\n"}, {"spec", json::object()}}, "not both"},
      {{{"spec", json::parse(SubmitBody("a"))["spec"]}, {"overrides", {"name=b"}}}, "job_file"},
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

TEST_F(DashboardTest, AlertsOlderThanAThousandEventsAreStillTold) {
  ASSERT_EQ(client_.Post("/api/v1/nodes/a/uncordon", "{}").status, 200);
  ASSERT_EQ(running_.Submit("long"), 1);
  worker_.Take(v1::ControllerMessage::kStartAttempt);
  worker_.SendFact(1, StartedFact(1));
  // Until the attempt runs: what is planned in a tick follows the requests of that tick, and a slow
  // loop may take all of them in one.
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

// Every kind of message that a stream can bring, against the contract.
TEST_F(DashboardTest, EveryMessageOfAStreamIsAsTheContractSays) {
  ASSERT_EQ(client_.Post("/api/v1/nodes/a/uncordon", "{}").status, 200);
  const json document = Contract();
  const json& kinds = document["components"]["schemas"]["StreamEvent"]["properties"];
  HttpClient stream(address());
  stream.SendBytes(
      "GET /api/v1/events/stream?topics=jobs,nodes,events,job:1,metrics:1,logs:1 HTTP/1.1\r\n"
      "Host: localhost\r\n\r\n");
  EXPECT_EQ(stream.ReadAnswer().status, 200);
  ASSERT_EQ(running_.Submit("watched"), 1);
  worker_.Take(v1::ControllerMessage::kStartAttempt);
  worker_.SendReport(RunningReport(1));
  worker_.SendFact(1, StartedFact(1));
  worker_.SendMetrics(Stream(1, v1::STREAM_KIND_TELEMETRY), 0, 100, 7,
                      std::numeric_limits<double>::quiet_NaN());
  worker_.SendOutput(Stream(1, v1::STREAM_KIND_LOG), 0, "hello\n");
  std::set<std::string> missing;
  for (const auto& [kind, schema] : kinds.items()) missing.insert(kind);
  EXPECT_EQ(missing.size(), 7u);
  while (!missing.empty()) {
    const auto event = stream.ReadEvent();
    ASSERT_FALSE(event.empty()) << "the stream ended without " << *missing.begin();
    ASSERT_TRUE(kinds.contains(event.at("event"))) << event.at("event");
    const json data = json::parse(event.at("data"), nullptr, false);
    EXPECT_EQ(Broken(data, kinds[event.at("event")], document), "") << event.at("data");
    EXPECT_EQ(event.at("id").find_first_not_of("0123456789"), std::string::npos);
    missing.erase(event.at("event"));
    // Progress is sent at most once a second, by the controller's clock.
    running_.clock.Advance(1000);
    worker_.SendReport(RunningReport(1));
  }
}

class SeriesCsvTest : public DashboardTest {
 protected:
  void SetUp() override {
    DashboardTest::SetUp();
    ASSERT_EQ(client_.Post("/api/v1/nodes/a/uncordon", "{}").status, 200);
    running_.Submit("job");
    const v1::StreamId stream = Stream(1, v1::STREAM_KIND_TELEMETRY);
    v1::TelemetryRecord record;
    for (int step = 1; step <= 4; ++step) {
      record.set_time_ms(1000 * step);
      record.mutable_metrics()->set_step(step);
      auto& values = *record.mutable_metrics()->mutable_values();
      values["loss"] = step == 3 ? std::numeric_limits<double>::quiet_NaN() : 0.1 * step;
      values["my \"own\""] = step == 2 ? std::numeric_limits<double>::infinity() : step;
      values["my,own"] = 7;
      worker_.SendRecord(stream, 100 * (step - 1), 100 * step, record);
    }
    worker_.TakeAcknowledged(stream, 400);
  }

  std::vector<std::string> Rows(const std::string& query) {
    const Answer answer = client_.Get("/api/v1/jobs/1/series?format=csv&" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.headers.at("content-type"), "text/csv; charset=utf-8");
    std::vector<std::string> rows = absl::StrSplit(answer.body, "\r\n");
    EXPECT_EQ(rows.back(), "") << "every row has an end";
    rows.pop_back();
    return rows;
  }
};

TEST_F(SeriesCsvTest, OneRowAPointAndColumnsByName) {
  EXPECT_THAT(Rows("keys=loss"),
              testing::ElementsAre(
                  "key,attempt,abandoned,step,x,time_ms,last,min,max,count,nan_count,smoothed,mean",
                  "loss,1,false,1,1,1000,0.1,0.1,0.1,1,0,,0.1",
                  "loss,1,false,2,2,2000,0.2,0.2,0.2,1,0,,0.2",
                  "loss,1,false,3,3,3000,nan,nan,nan,1,1,,nan",
                  "loss,1,false,4,4,4000,0.4,0.4,0.4,1,0,,0.4"));
}

TEST_F(SeriesCsvTest, BucketsKeepExtremesAndSmoothingHasItsColumn) {
  const std::vector<std::string> rows = Rows("keys=loss&buckets=1&smooth=0.5");
  ASSERT_EQ(rows.size(), 2u);
  const std::vector<std::string> cells = absl::StrSplit(rows[1], ',');
  ASSERT_EQ(cells.size(), 13u);
  EXPECT_EQ(cells[6], "0.4");
  EXPECT_EQ(cells[7], "0.1");
  EXPECT_EQ(cells[8], "0.4");
  EXPECT_EQ(cells[9], "4");
  EXPECT_EQ(cells[10], "1");
  EXPECT_GT(std::stod(cells[11]), 0.1);
  EXPECT_NEAR(std::stod(cells[12]), 0.7 / 3, 1e-9);
}

TEST_F(SeriesCsvTest, KeysWithCommasAreAskedForOneByOne) {
  const std::vector<std::string> rows = Rows("keys=loss&key=my,own&key=my%20%22own%22");
  ASSERT_EQ(rows.size(), 13u);
  EXPECT_EQ(rows[5], "\"my,own\",1,false,1,1,1000,7,7,7,1,0,,7");
  EXPECT_EQ(rows[9].substr(0, 13), "\"my \"\"own\"\"\",");
}

TEST_F(SeriesCsvTest, NoControlCharacterOfAKeyPasses) {
  v1::TelemetryRecord record;
  record.set_time_ms(5000);
  record.mutable_metrics()->set_step(5);
  (*record.mutable_metrics()->mutable_values())["my\x1b[2J"] = 1;
  const v1::StreamId stream = Stream(1, v1::STREAM_KIND_TELEMETRY);
  worker_.SendRecord(stream, 400, 500, record);
  worker_.TakeAcknowledged(stream, 500);
  const std::vector<std::string> rows = Rows("key=my%1B[2J");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].substr(0, 11), "my\\u001b[2J");
}

TEST_F(SeriesCsvTest, SeveralJobsComeInOneAnswer) {
  running_.Submit("other");
  const json answer =
      client_.Get("/api/v1/series?jobs=1,other,1,none&keys=loss&buckets=1&fields=x,last").Json();
  ASSERT_EQ(answer["jobs"].size(), 2u) << answer.dump();
  EXPECT_EQ(answer["jobs"][1]["name"], "other");
  EXPECT_EQ(answer["missing"], json({"none"}));
  ASSERT_EQ(answer["series"].size(), 2u);
  const json first = {{"job_id", 1}, {"key", "loss"}, {"x", {4}}, {"last", {0.4}}};
  EXPECT_EQ(answer["series"][0], first) << answer["series"][0].dump();
  EXPECT_EQ(answer["series"][1]["job_id"], 2);
  EXPECT_EQ(answer["series"][1]["x"].size(), 0u);
  std::string many = "1";
  for (int i = 0; i < 64; ++i) many += ",1";
  EXPECT_EQ(client_.Get("/api/v1/series?jobs=" + many).status, 400);
  EXPECT_THAT(client_.Get("/api/v1/series?jobs=1,2,3,4,5,6,7,8,9,10&keys=a,b,c,d,e,f&buckets=10000")
                  .Json()["detail"]
                  .get<std::string>(),
              HasSubstr("fewer buckets"));
}

TEST_F(SeriesCsvTest, KeysWithQuotesAreQuoted) {
  const std::vector<std::string> rows = Rows("keys=no_such_key,my%20%22own%22");
  ASSERT_EQ(rows.size(), 5u) << "a key without points has no rows";
  EXPECT_EQ(rows[1], "\"my \"\"own\"\"\",1,false,1,1,1000,1,1,1,1,0,,1");
  EXPECT_EQ(rows[2], "\"my \"\"own\"\"\",1,false,2,2,2000,inf,inf,inf,1,0,,nan");
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
