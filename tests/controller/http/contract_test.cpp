// Compares answers and streams with the contract in openapi.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "controller/http/routes.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/http/dashboard_fixture.h"
#include "tests/controller/http/http_client.h"

namespace trainyard::controller::http {
namespace {

using nlohmann::json;
using ContractTest = DashboardTest;

json Contract() {
  std::ifstream file(TRAINYARD_OPENAPI);
  return json::parse(file);
}

// Returns the path of the first part of `value` that violates `schema`; "" if no part does.
// Supports only the JSON Schema keywords that openapi.json uses.
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
  // A schema with only a type describes an object that is specified elsewhere: the contract itself,
  // or the schema of job files.
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

constexpr char kModelFile[] =
    "name: model\nmodel: {num_layers: 2, hidden_size: 256, ffn_hidden_size: 512, "
    "num_attention_heads: 2, vocab_size: 512}\ndata: {path: /data}\n"
    "train: {seq_length: 256, global_batch: 64, steps: 10}\n";

// Returns a valid body for a request of this operation.
std::string BodyFor(const std::string& operation) {
  if (operation == "submitJob") return SubmitBody("two");
  if (operation == "planJob") {
    return json({{"spec", json::parse(SubmitBody("three"))["spec"]}}).dump();
  }
  if (operation == "planLayout") {
    return json({{"device", "H100"}, {"job_file", kModelFile}}).dump();
  }
  if (operation == "extendJob") return R"({"by": "2h", "extended_ms": 0})";
  if (operation == "setTopology") return R"({"topology": {"groups": []}})";
  if (operation == "createReservation") {
    return R"({"reservation": {"nodes": ["name-of-a"], "start_ms": 2000000, "end_ms": 3000000,
               "user": "ada"}})";
  }
  if (operation == "moveJob") return R"({"priority": 1})";
  if (operation == "writeNote") return R"({"step": 3, "text": "a note"})";
  return "{}";
}

// Makes what the operation needs: a paused or ended job, or the thing that it deletes.
void Prepare(const std::string& operation, const std::string& job, const std::string& target,
             HttpClient& client) {
  if (operation == "resumeJob") {
    ASSERT_EQ(client.Post(absl::StrReplaceAll(target, {{"/resume", "/pause"}}), "").status, 200);
  }
  if (operation == "deleteNote") {
    const std::string notes = absl::StrCat("/api/v1/jobs/", job, "/notes");
    ASSERT_EQ(client.Post(notes, R"({"text": "a note"})").status, 200);
  }
  if (operation == "deleteQueue") {
    ASSERT_EQ(client.Post(target, "{}").status, 200);
  }
  if (operation == "deleteReservation") {
    ASSERT_EQ(client.Post(target, BodyFor("createReservation")).status, 200);
  }
  if (operation == "deleteJob") {
    ASSERT_EQ(client.Post(target + "/stop", "{}").status, 200);
  }
}

TEST_F(ContractTest, EveryRouteOfTheContractIsAnsweredAsItSays) {
  ASSERT_EQ(client_.Post("/api/v1/jobs", SubmitBody("one")).status, 200);
  const json document = Contract();
  int routes = 0;
  for (const auto& [path, item] : document["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      ++routes;
      // Stop and kill end their job, and only an ended job can be deleted. Therefore each method
      // runs on a job of its own.
      const bool needs_array = operation["operationId"] == "getArray";
      const bool uses_one = method == "get" && !needs_array;
      const std::string job = uses_one ? "one" : absl::StrCat("job-", routes);
      if (path.find("{job}") != std::string::npos && job != "one") {
        json submit = json::parse(SubmitBody(job));
        if (operation["operationId"] == "extendJob") submit["spec"]["time_limit"] = "12h";
        if (needs_array) submit["spec"]["matrix"] = {{"env.SEED", "1..2"}};
        ASSERT_EQ(client_.Post("/api/v1/jobs", submit.dump()).status, 200);
      }
      const std::string target = absl::StrReplaceAll(path, {{"{job}", job},
                                                            {"{node}", "a"},
                                                            {"{note}", "1"},
                                                            {"{queue}", "night"},
                                                            {"{reservation}", "maint"}});
      if (operation["operationId"] == "streamEvents") continue;
      const std::string body = BodyFor(operation["operationId"].get<std::string>());
      if (operation["operationId"] == "removeNode") {
        EXPECT_EQ(client_.Send("DELETE", target).status, 409) << "only lost nodes are removed";
        continue;
      }
      if (operation["operationId"] == "handOver") {
        EXPECT_EQ(client_.Post(target, body).status, 409) << "the store is in memory";
        continue;
      }
      if (operation["operationId"] == "getRecipe") {
        EXPECT_EQ(client_.Get(target).status, 404) << "no recipes are installed with tests";
        continue;
      }
      if (operation["operationId"] == "endSession") {
        EXPECT_EQ(client_.Send("DELETE", target).status, 404) << "nobody is logged in";
        continue;
      }
      Prepare(operation["operationId"], job, target, client_);
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

TEST_F(ContractTest, AnExtensionNeedsADurationAndALimit) {
  ASSERT_EQ(client_.Post("/api/v1/jobs", SubmitBody("one")).status, 200);
  const std::string target = "/api/v1/jobs/one/extend";
  for (const char* body : {"{}", R"({"by": "soon"})", R"({"by": 7200})", R"({"by": "-2h"})"}) {
    EXPECT_EQ(client_.Post(target, body).status, 400) << body;
  }
  EXPECT_EQ(client_.Post(target, R"({"by": "2h"})").status, 409) << "the job has no time limit";
}

TEST_F(ContractTest, ATopologyIsSetAsAWhole) {
  const std::string target = "/api/v1/topology";
  const auto body = [](const std::string& groups) {
    return absl::StrCat(R"({"topology": {"groups": [)", groups, R"(]}, "user": "ada"})");
  };
  const std::string leaf = R"({"name": "leaf1", "level": "leaf", "nodes": ["a"]})";
  const Answer set = client_.Post(target, body(leaf));
  ASSERT_EQ(set.status, 200) << set.body;
  EXPECT_EQ(client_.Get(target).Json()["groups"][0]["name"], "leaf1");
  const std::string other = R"({"name": "leaf2", "level": "leaf", "nodes": ["a"]})";
  for (const std::string& bad :
       {body(leaf + "," + other), body("1"), body(R"({"nodes": "a"})"), body(R"({"node": ["a"]})"),
        std::string("{}"), std::string(R"({"topology": {}})"),
        std::string(R"({"topology": {"groups": {}}})")}) {
    EXPECT_EQ(client_.Post(target, bad).status, 400) << bad;
  }
  const auto with_level = [&](const std::string& level) {
    return absl::StrCat(R"({"topology": {"groups": [)", leaf, R"(], "levels": [)", level, "]}}");
  };
  for (const char* bad : {"1", R"({"name": "spine"})", R"({"name": "leaf", "speed": 1})",
                          R"({"name": "leaf", "gpu_bandwidth": "fast"})"}) {
    EXPECT_EQ(client_.Post(target, with_level(bad)).status, 400) << bad;
  }
  EXPECT_EQ(client_.Get(target).Json()["groups"].size(), 1u) << "a bad request changes nothing";
  ASSERT_EQ(client_.Post(target, with_level(R"({"name": "leaf", "gpu_bandwidth": 5e10})")).status,
            200);
  EXPECT_EQ(client_.Get(target).Json()["level_figures"][0]["gpu_bandwidth"], 5e10);
  ASSERT_EQ(client_.Post(target, body("")).status, 200);
  EXPECT_EQ(client_.Get(target).Json()["groups"].size(), 0u);
}

TEST_F(ContractTest, ATopologyIsSetFromTheTextOfAFile) {
  const std::string target = "/api/v1/topology";
  const auto body = [](const std::string& text) {
    return json({{"topology_file", text}, {"user", "ada"}}).dump();
  };
  const Answer set = client_.Post(target, body("groups:\n- {name: leaf1, level: leaf, nodes: a}"));
  ASSERT_EQ(set.status, 200) << set.body;
  EXPECT_EQ(client_.Get(target).Json()["groups"][0]["name"], "leaf1");
  const Answer bad = client_.Post(target, body("groups:\n- {name: leaf1, leel: leaf}"));
  EXPECT_EQ(bad.status, 400);
  EXPECT_THAT(bad.Json()["detail"].get<std::string>(),
              testing::HasSubstr("line 2: unknown key of a group: `leel`"));
  const std::string both = R"({"topology": {"groups": []}, "topology_file": "groups: []"})";
  EXPECT_EQ(client_.Post(target, both).status, 400);
  EXPECT_EQ(client_.Post(target, R"({"topology_file": ""})").status, 400);
  EXPECT_EQ(client_.Get(target).Json()["groups"].size(), 1u) << "a bad request changes nothing";
  ASSERT_EQ(client_.Post(target, body("groups: []")).status, 200);
  EXPECT_EQ(client_.Get(target).Json()["groups"].size(), 0u);
}

TEST_F(ContractTest, RefusalsAreProblemsWithACodeAndAHint) {
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

// Compares every kind of message that a stream can deliver with the contract.
TEST_F(ContractTest, EveryMessageOfAStreamIsAsTheContractSays) {
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
    // Progress is sent at most once per second of the controller's clock.
    running_.clock.Advance(1000);
    worker_.SendReport(RunningReport(1));
  }
}

}  // namespace
}  // namespace trainyard::controller::http
