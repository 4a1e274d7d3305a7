// Tests the access to a controller with and without its token.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/process_channel.h"
#include "tests/integration/door_fixture.h"
#include "tests/integration/http_calls.h"
#include "tests/integration/mini_cluster.h"
#include "trainyard/v1/access_service.grpc.pb.h"
#include "trainyard/v1/exec_service.pb.h"
#include "trainyard/v1/worker_control.grpc.pb.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Returns every method of every service of the controller, such as
// "/trainyard.v1.JobService/SubmitJob".
std::vector<std::string> AllMethods() {
  const google::protobuf::FileDescriptor* files[] = {
      v1::SubmitJobRequest::descriptor()->file(),
      v1::ListNodesRequest::descriptor()->file(),
      v1::GetSeriesRequest::descriptor()->file(),
      v1::ReadLogsRequest::descriptor()->file(),
      v1::CreateLoginCodeRequest::descriptor()->file(),
      v1::Hello::descriptor()->file(),
      v1::ExecStart::descriptor()->file()};
  std::vector<std::string> methods;
  for (const auto* file : files) {
    for (int i = 0; i < file->service_count(); ++i) {
      const google::protobuf::ServiceDescriptor& service = *file->service(i);
      for (int j = 0; j < service.method_count(); ++j) {
        methods.push_back(absl::StrCat("/", service.full_name(), "/", service.method(j)->name()));
      }
    }
  }
  return methods;
}

// Calls the method with an empty message and returns the status.
grpc::StatusCode CallMethod(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& method, const std::string& header = "") {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  if (!header.empty()) context.AddMetadata("authorization", header);
  grpc::CompletionQueue queue;
  grpc::ByteBuffer response;
  grpc::Status status;
  const auto call = stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(), &queue);
  call->StartCall();
  int tag = 0;
  call->Finish(&response, &status, &tag);
  void* got = nullptr;
  bool ok = false;
  queue.Next(&got, &ok);
  return status.error_code();
}

TEST_F(DoorTest, EveryGrpcCallWantsTheToken) {
  const std::vector<std::string> methods = AllMethods();
  ASSERT_GT(methods.size(), 20u);
  const auto channel = OpenChannel();
  for (const std::string& method : methods) {
    if (method == "/trainyard.v1.AccessService/Prove")
      continue;  // Callers verify the controller with it.
    EXPECT_EQ(CallMethod(channel, method), grpc::StatusCode::UNAUTHENTICATED) << method;
    EXPECT_EQ(CallMethod(channel, method, "Bearer " + std::string(64, '0')),
              grpc::StatusCode::UNAUTHENTICATED)
        << method;
    EXPECT_NE(CallMethod(channel, method, Bearer()), grpc::StatusCode::UNAUTHENTICATED) << method;
  }
  for (const char* method : {"/grpc.health.v1.Health/Check",
                             "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"}) {
    EXPECT_EQ(CallMethod(channel, method), grpc::StatusCode::UNAUTHENTICATED) << method;
  }
}

TEST_F(DoorTest, EveryHttpPathWantsTheTokenButScrapesOfThisMachine) {
  const auto paths = nlohmann::json::parse(
      Http("GET", Url("/api/v1/openapi.json"), {"Authorization: " + Bearer()}).text)["paths"];
  ASSERT_GT(paths.size(), 15u);
  std::vector<HttpRequest> requests;
  for (const auto& [path, methods] : paths.items()) {
    for (const auto& [method, about] : methods.items()) {
      std::string target = path;
      while (target.find('{') != std::string::npos) {
        target.replace(target.find('{'), target.find('}') - target.find('{') + 1, "1");
      }
      if (!absl::StartsWith(target, "/api/v1")) target = "/api/v1" + target;
      requests.push_back({absl::AsciiStrToUpper(method), Url(target)});
    }
  }
  const auto refused = HttpAll(requests, {});
  const auto taken =
      HttpAll(requests, {"Authorization: " + Bearer(), "Content-Type: application/json"});
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(refused[i].status, 401) << requests[i].method << " " << requests[i].url;
    EXPECT_THAT(taken[i].status, Not(testing::AnyOf(0, 401, 403))) << requests[i].url;
  }
  EXPECT_THAT(refused.front().text, HasSubstr("trainyard dashboard"));
  EXPECT_EQ(Http("GET", Url("/")).status, 200) << "files of the dashboard, without data";
  EXPECT_EQ(Http("GET", Url("/metrics")).status, 200);
  EXPECT_EQ(Http("GET", Url("/healthz")).status, 200);
}

TEST_F(DoorTest, TheTokenIsThereFromTheFirstStartAndForItsUserOnly) {
  const std::string path = cluster_.directory() + "/controller/token";
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  const std::string token = Token();
  EXPECT_EQ(token.size(), 64u);
  const CommandResult refused = CliWithout({"nodes"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("TRAINYARD_TOKEN_FILE"), Not(HasSubstr(token))));
  EXPECT_EQ(cluster_.Cli({"nodes"}).exit_code, 0);

  cluster_.KillController();
  cluster_.StartController({"--token-for-group"});
  EXPECT_EQ(Token(), token) << "a restart keeps it";
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
  EXPECT_THAT(cluster_.DaemonLogs(), Not(HasSubstr(token)));
}

TEST_F(DoorTest, TheKernelNamesTheUserOfALocalConnection) {
  const std::string me = FirstLine(RunCommand({"/usr/bin/id", "-un"}).output);
  const auto who = [&](const std::string& claimed) {
    grpc::ClientContext context;
    v1::WhoAmIRequest request;
    request.set_user(claimed);
    v1::WhoAmIResponse response;
    const auto stub = v1::AccessService::NewStub(OpenProcessChannel(cluster_.address()));
    EXPECT_TRUE(stub->WhoAmI(&context, request, &response).ok());
    return response;
  };
  EXPECT_EQ(who(me).user(), me);
  EXPECT_TRUE(who(me).verified());
  EXPECT_TRUE(who("").verified());
  // Only root may act for another user.
  const bool is_root = me == "root";
  EXPECT_EQ(who("somebody-else").user(), is_root ? "somebody-else" : me);
  EXPECT_EQ(who("somebody-else").verified(), !is_root);
  EXPECT_THAT(cluster_.Cli({"server", "status"}).output, HasSubstr("you are      " + me));
  ASSERT_EQ(cluster_.Cli({"node", "cordon", "node0"}).exit_code, 0);
  const auto events = nlohmann::json::parse(
      Http("GET", Url("/api/v1/events?limit=5"), {"Authorization: " + Bearer()}).text);
  EXPECT_EQ(events["events"][0]["event"]["actor"], "user " + me);
  EXPECT_EQ(events["events"][0]["event"]["actor_verified"], true);
}

TEST_F(DoorTest, ACopyOfTheTokenWorksOverLoopbackWithoutBeingSent) {
  const std::string copy = CopyOfToken();
  const CommandResult status =
      RunCommand({"/usr/bin/env", "TRAINYARD_TOKEN_FILE=" + copy, ProgramPath("trainyard"),
                  "--server", cluster_.address(), "server", "status"});
  EXPECT_EQ(status.exit_code, 0) << status.error;
  cluster_.KillWorker(0);
  cluster_.StartWorker(0, {"--token-file", copy});
  EXPECT_TRUE(Eventually([&] {
    return cluster_.Cli({"nodes"}).output.find(" ready ") != std::string::npos;
  })) << cluster_.DaemonLogs();
}

TEST_F(DoorTest, AReplacedTokenFileCountsWithoutARestart) {
  const std::string old_header = "Authorization: " + Bearer();
  const std::string path = cluster_.directory() + "/controller/token";
  std::ofstream(path) << std::string(64, 'b') << "\n";
  EXPECT_TRUE(Eventually([&] {
    return Http("GET", Url("/api/v1/nodes"), {"Authorization: " + Bearer()}).status == 200;
  }));
  EXPECT_EQ(Http("GET", Url("/api/v1/nodes"), {old_header}).status, 401);
  EXPECT_EQ(cluster_.Cli({"nodes"}).exit_code, 0);
  EXPECT_THAT(cluster_.DaemonLogs(), HasSubstr("was replaced"));
  // A worker that connects after this must prove that it has the new token.
  cluster_.KillWorker(0);
  cluster_.StartWorker(0);
  EXPECT_TRUE(Eventually([&] {
    return cluster_.Cli({"nodes"}).output.find(" ready ") != std::string::npos;
  })) << cluster_.DaemonLogs();
}

TEST_F(DoorTest, TheLocalSocketIsAsPrivateAsTheToken) {
  const auto mode = [&] {
    struct stat info {};
    const std::string path =
        absl::StrCat(cluster_.directory(), "/controller/token.",
                     cluster_.address().substr(cluster_.address().rfind(':') + 1), ".sock");
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return info.st_mode;
  };
  EXPECT_EQ(mode(), static_cast<mode_t>(S_IFSOCK | 0600));
  cluster_.KillController();
  cluster_.StartController({"--token-for-group"});
  EXPECT_EQ(mode(), static_cast<mode_t>(S_IFSOCK | 0660));
}

TEST_F(DoorTest, TheDoctorLooksAtEveryNodeAndSaysWhatToDo) {
  CommandResult well;
  EXPECT_TRUE(Eventually([&] {
    well = cluster_.Cli({"doctor"});
    return well.output.find("clock") != std::string::npos;
  })) << well.output
      << well.error;
  for (const char* check : {"contact", "clock", "disk", "open files", "processes", "cgroup", "data",
                            "secrets", "ports", "gpus", "checkpoints", "store", "access"}) {
    EXPECT_THAT(well.output, HasSubstr(check));
  }
  cluster_.KillWorker(0);
  fs::create_directories(cluster_.directory() + "/worker0/secrets");
  fs::permissions(cluster_.directory() + "/worker0/secrets", fs::perms::all);
  cluster_.StartWorker(0);
  CommandResult ill;
  EXPECT_TRUE(Eventually([&] {
    ill = cluster_.Cli({"doctor"});
    return ill.output.find("chmod 700") != std::string::npos;
  })) << ill.output;
  EXPECT_EQ(ill.exit_code, 1);
}

TEST_F(DoorTest, TheEventLogLostAloneIsNotReplacedByAnEmptyOne) {
  const int64_t job = cluster_.Submit(cluster_.WriteJob(
      "one", "name: one\nresources: {device: cpu}\ncommand: [/bin/echo, hello]\n"));
  EXPECT_EQ(cluster_.WaitForEnd(job).state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(cluster_.Cli({"server", "check"}).exit_code, 0);
  cluster_.KillWorker(0);
  cluster_.KillController();
  const fs::path data = cluster_.directory() + "/controller";
  fs::create_directory(data / "aside");
  for (const char* name : {"events.db", "events.db-wal", "events.db-shm"}) {
    if (fs::exists(data / name)) fs::rename(data / name, data / "aside" / name);
  }
  const auto start = [&] {
    return RunCommand({"/usr/bin/timeout", "20", ProgramPath("trainyard-controller"), "--data-dir",
                       data, "--listen", "127.0.0.1:0", "--http-listen", "off"});
  };
  const std::string id = ReadFile(data / "cluster_id");
  const CommandResult refused = start();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("metrics.db"), HasSubstr("events.db is missing")));
  EXPECT_EQ(ReadFile(data / "cluster_id"), id);
  for (const char* name : {"events.db", "events.db-wal", "events.db-shm"}) {
    fs::remove(data / name);
    if (fs::exists(data / "aside" / name)) fs::rename(data / "aside" / name, data / name);
  }
  const CommandResult checked =
      RunCommand({ProgramPath("trainyard"), "server", "check", "--data-dir", data.string()});
  EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.error;
  // Makes the store next to this event log belong to another cluster.
  std::ofstream(data / "cluster_id") << std::string(32, 'b') << "\n";
  EXPECT_THAT(start().error, HasSubstr("belongs to cluster"));
}

TEST_F(DoorTest, ANameOfDigitsIsRefused) {
  const CommandResult refused =
      cluster_.Cli({"submit", cluster_.WriteJob("digits",
                                                "name: \"3\"\nresources: {device: cpu}\n"
                                                "command: [/bin/true]\n")});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.error, HasSubstr("digits only"));
}

TEST_F(DoorTest, SecretsAreNotInTheFilesOfARank) {
  const std::string secret = "very-secret-value-42";
  const fs::path secrets = cluster_.directory() + "/worker0/secrets";
  fs::create_directories(secrets);
  std::ofstream(secrets / "API_KEY") << secret;
  fs::permissions(secrets / "API_KEY", fs::perms::owner_read | fs::perms::owner_write);
  const int64_t job = cluster_.Submit(
      cluster_.WriteJob("keys",
                        "name: keys\nresources: {device: cpu}\nsecrets: [API_KEY]\n"
                        "command: [/bin/sh, -c, 'echo ${#API_KEY} letters; sleep 60']\n"));
  ASSERT_TRUE(Eventually([&] { return !cluster_.Logs(job, 0, 1).empty(); }));
  EXPECT_EQ(cluster_.Logs(job, 0, 1).front().text(), "20 letters");
  for (const auto& entry : fs::recursive_directory_iterator(cluster_.directory())) {
    if (!entry.is_regular_file() || entry.path() == secrets / "API_KEY") continue;
    EXPECT_THAT(ReadFile(entry.path()), Not(HasSubstr(secret))) << entry.path();
  }
  EXPECT_EQ(cluster_.Cli({"kill", "-y", absl::StrCat(job)}).exit_code, 0);
}

}  // namespace
}  // namespace trainyard::test
