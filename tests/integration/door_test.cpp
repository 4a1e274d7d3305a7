// Access to a controller: token, listeners, TLS, identity of workers.
#include <sys/stat.h>

#include <atomic>
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
#include "proto/contract/protocol_version.h"
#include "tests/fakes/process_channel.h"
#include "tests/integration/http_calls.h"
#include "tests/integration/mini_cluster.h"
#include "trainyard/v1/access_service.grpc.pb.h"
#include "trainyard/v1/worker_control.grpc.pb.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Every method of every service of the controller, as "/trainyard.v1.JobService/SubmitJob".
std::vector<std::string> AllMethods() {
  const google::protobuf::FileDescriptor* files[] = {
      v1::SubmitJobRequest::descriptor()->file(),       v1::ListNodesRequest::descriptor()->file(),
      v1::GetSeriesRequest::descriptor()->file(),       v1::ReadLogsRequest::descriptor()->file(),
      v1::CreateLoginCodeRequest::descriptor()->file(), v1::Hello::descriptor()->file()};
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

// Status of a call with an empty message.
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

class DoorTest : public testing::Test {
 protected:
  std::string Token() const {
    return FirstLine(ReadFile(cluster_.directory() + "/controller/token"));
  }
  std::string Bearer() const { return "Bearer " + Token(); }
  std::string Url(const std::string& path) const { return HttpUrl(cluster_, path); }

  std::shared_ptr<grpc::Channel> OpenChannel() const {
    return grpc::CreateChannel(cluster_.address(), grpc::InsecureChannelCredentials());
  }

  // A copy of the token without the socket beside it: its users take TCP.
  std::string CopyOfToken() const {
    const std::string path = cluster_.directory() + "/copy/token";
    fs::create_directories(cluster_.directory() + "/copy");
    fs::copy_file(cluster_.directory() + "/controller/token", path,
                  fs::copy_options::overwrite_existing);
    return path;
  }

  // The CLI as a user without the token.
  CommandResult CliWithout(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"/usr/bin/env", "TRAINYARD_TOKEN_FILE=", "HOME=" + cluster_.directory(),
                      ProgramPath("trainyard"), "--server", cluster_.address()});
    return RunCommand(arguments);
  }

  MiniCluster cluster_{1};
};

TEST_F(DoorTest, EveryGrpcCallWantsTheToken) {
  const std::vector<std::string> methods = AllMethods();
  ASSERT_GT(methods.size(), 20u);
  const auto channel = OpenChannel();
  for (const std::string& method : methods) {
    if (method == "/trainyard.v1.AccessService/Prove")
      continue;  // By it a caller knows whom it calls.
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
  // Root may act for another user, and is believed; nobody else is.
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

// ---- Listeners and TLS

std::string MakeCertificate(const std::string& directory) {
  const CommandResult made =
      RunCommand({"/usr/bin/openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                  "-subj", "/CN=trainyard", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                  "-keyout", directory + "/key.pem", "-out", directory + "/cert.pem"});
  EXPECT_EQ(made.exit_code, 0) << made.error;
  return directory + "/cert.pem";
}

CommandResult StartBriefly(const MiniCluster& cluster, const std::vector<std::string>& more) {
  std::vector<std::string> command = {"/usr/bin/timeout", "20", ProgramPath("trainyard-controller"),
                                      "--data-dir", cluster.directory() + "/other"};
  command.insert(command.end(), more.begin(), more.end());
  return RunCommand(command);
}

TEST_F(DoorTest, AListenerForOtherMachinesIsRefusedWithoutTls) {
  for (const std::vector<std::string>& listen :
       {std::vector<std::string>{"--listen", "0.0.0.0:0", "--http-listen", "off"},
        std::vector<std::string>{"--listen", "[::]:0", "--http-listen", "off"},
        std::vector<std::string>{"--listen", "127.0.0.1:0", "--http-listen", "0.0.0.0:0"}}) {
    const CommandResult refused = StartBriefly(cluster_, listen);
    EXPECT_EQ(refused.exit_code, 1) << refused.output;
    EXPECT_THAT(refused.error, AllOf(HasSubstr("--tls-cert"), HasSubstr("--insecure")));
  }
  const CommandResult half =
      StartBriefly(cluster_, {"--listen", "127.0.0.1:0", "--tls-cert", "/nowhere/cert.pem"});
  EXPECT_EQ(half.exit_code, 2) << "a certificate needs its key";
}

TEST_F(DoorTest, AWorkersPageForOtherMachinesIsRefused) {
  const auto start = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {
        "/usr/bin/timeout", "3",          ProgramPath("trainyard-worker"), "--controller",
        cluster_.address(), "--data-dir", cluster_.directory() + "/page",  "--metrics-listen",
        "0.0.0.0:0"};
    command.insert(command.end(), more.begin(), more.end());
    return RunCommand(command);
  };
  const CommandResult refused = start({});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.error, HasSubstr("--insecure"));
  EXPECT_THAT(start({"--insecure"}).error, HasSubstr("INSECURE"));
}

TEST_F(DoorTest, InsecureIsSaidEverywhere) {
  const std::string directory = cluster_.directory();
  const ChildProcess controller(
      {ProgramPath("trainyard-controller"), "--data-dir", directory + "/open", "--listen",
       "127.0.0.1:0", "--http-listen", "0.0.0.0:0", "--insecure", "--listen-file",
       directory + "/open.address"},
      directory + "/open.log");
  ASSERT_TRUE(Eventually([&] { return fs::exists(directory + "/open.address.http"); }));
  EXPECT_THAT(ReadFile(directory + "/open.log"), HasSubstr("INSECURE"));
  const CommandResult status =
      RunCommand({"/usr/bin/env", "TRAINYARD_TOKEN_FILE=" + directory + "/open/token",
                  ProgramPath("trainyard"), "--server",
                  FirstLine(ReadFile(directory + "/open.address")), "server", "status"});
  EXPECT_THAT(status.output, HasSubstr("INSECURE"));
  const std::string http = FirstLine(ReadFile(directory + "/open.address.http"));
  const auto info = nlohmann::json::parse(
      Http("GET", "http://127.0.0.1" + http.substr(http.rfind(':')) + "/api/v1/server",
           {"Authorization: Bearer " + FirstLine(ReadFile(directory + "/open/token"))})
          .text);
  EXPECT_THAT(info["warnings"][0].get<std::string>(), HasSubstr("INSECURE"));
}

TEST_F(DoorTest, TlsServesCommandLineWorkersAndHttp) {
  const std::string certificate = MakeCertificate(cluster_.directory());
  cluster_.KillController();
  cluster_.StartController(
      {"--tls-cert", certificate, "--tls-key", cluster_.directory() + "/key.pem"});
  const std::string token = CopyOfToken();
  const auto nodes = [&] {
    return RunCommand({"/usr/bin/env", "TRAINYARD_TOKEN_FILE=" + token, ProgramPath("trainyard"),
                       "--server", cluster_.address(), "nodes"});
  };
  const CommandResult plain = nodes();
  EXPECT_NE(plain.exit_code, 0) << "without the certificate";
  EXPECT_THAT(plain.error, AllOf(HasSubstr("expects TLS"), HasSubstr("TRAINYARD_CA_FILE")));
  cluster_.KillWorker(0);
  setenv(kCaFileVariable, certificate.c_str(), 1);
  cluster_.StartWorker(0, {"--token-file", token});
  const bool attached =
      Eventually([&] { return nodes().output.find(" ready ") != std::string::npos; });
  EXPECT_TRUE(attached) << cluster_.DaemonLogs();
  const std::string url = "https" + Url("/api/v1/nodes").substr(4);
  const std::string header = "Authorization: " + Bearer();
  EXPECT_EQ(Http("GET", url, {header}, certificate).status, 200);
  EXPECT_EQ(Http("GET", url, {}, certificate).status, 401);
  const std::string login = FirstLine(cluster_.Cli({"dashboard"}).output);
  EXPECT_THAT(login, testing::StartsWith("https://"));
  const std::string session = SessionHeader(LogIn(login, certificate));
  EXPECT_EQ(Http("GET", url, {session}, certificate).status, 200);
  EXPECT_EQ(
      Http("GET", "https" + Url("/api/v1/events/stream").substr(4), {header}, certificate).status,
      200);
  unsetenv(kCaFileVariable);
}

// ---- Impostors at the controller's address

// A program of another user that bound the controller's port while the controller was down. It
// answers like a controller, orders every worker that says Hello to run a program, and records what
// it is given.
class Impostor final : public v1::WorkerControl::Service {
 public:
  Impostor(const std::string& address, v1::ControllerMessage order) : order_(std::move(order)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    builder.RegisterService(&access_);
    server_ = builder.BuildAndStart();
  }
  ~Impostor() override {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }
  bool listens() const { return server_ != nullptr; }
  int hellos() const { return hellos_; }
  int headers() const { return access_.headers; }
  int questions() const { return access_.questions; }

 private:
  struct Access final : v1::AccessService::Service {
    grpc::Status Prove(grpc::ServerContext* context, const v1::ProveRequest*,
                       v1::ProveResponse* response) override {
      headers += static_cast<int>(context->client_metadata().count("authorization"));
      ++questions;
      response->set_proof(std::string(64, '0'));
      response->set_challenge("your token, please");
      return grpc::Status::OK;
    }
    std::atomic<int> headers = 0;
    std::atomic<int> questions = 0;
  };

  grpc::Status Attach(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ControllerMessage, v1::WorkerMessage>* stream) override {
    access_.headers += static_cast<int>(context->client_metadata().count("authorization"));
    v1::WorkerMessage first;
    if (!stream->Read(&first)) return grpc::Status::OK;
    ++hellos_;
    v1::ControllerMessage welcome;
    welcome.mutable_welcome()->set_token_proof(std::string(64, '0'));
    stream->Write(welcome);
    stream->Write(order_);
    while (stream->Read(&first)) {
    }
    return grpc::Status::OK;
  }

  const v1::ControllerMessage order_;
  Access access_;
  std::atomic<int> hellos_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// An order to make this file.
v1::ControllerMessage OrderToMake(const std::string& file) {
  v1::ControllerMessage message;
  v1::StartAttempt& start = *message.mutable_start_attempt();
  start.set_job_id(1);
  start.set_job_name("impostor");
  start.set_attempt(1);
  start.mutable_spec()->add_command("/usr/bin/touch");
  start.mutable_spec()->add_command(file);
  start.add_ranks();
  start.set_world_size(1);
  start.set_node_count(1);
  start.set_master_address("127.0.0.1");
  return message;
}

TEST_F(DoorTest, AnImpostorAtTheControllersPortGetsNothingAndCommandsNobody) {
  const std::string file = cluster_.directory() + "/made-by-the-impostor";
  cluster_.KillController();
  {
    const Impostor impostor(cluster_.address(), OrderToMake(file));
    ASSERT_TRUE(impostor.listens());
    ASSERT_TRUE(Eventually([&] { return impostor.questions() >= 2; })) << cluster_.DaemonLogs();
    const CommandResult refused = cluster_.Cli({"nodes"});
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.error, AllOf(HasSubstr("does not know the token"),
                                     HasSubstr(cluster_.address()), Not(HasSubstr(Token()))));
    EXPECT_EQ(impostor.hellos(), 0);
    EXPECT_EQ(impostor.headers(), 0);
  }
  EXPECT_FALSE(fs::exists(file));
  EXPECT_THAT(cluster_.DaemonLogs(), HasSubstr("does not know the token"));
  cluster_.StartController();
  EXPECT_TRUE(Eventually([&] {
    return cluster_.Cli({"nodes"}).output.find(" ready ") != std::string::npos;
  })) << cluster_.DaemonLogs();
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
  // A worker that dials now proves the new token.
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

// ---- Workers

// The status with which the controller ends the stream of a worker with this Hello; OK when it
// welcomes it.
grpc::Status AttachAs(const std::string& address, const v1::Hello& hello) {
  const auto stub = v1::WorkerControl::NewStub(OpenProcessChannel(address));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  const auto stream = stub->Attach(&context);
  v1::WorkerMessage message;
  *message.mutable_hello() = hello;
  stream->Write(message);
  v1::ControllerMessage answer;
  if (stream->Read(&answer)) {
    context.TryCancel();
    stream->Finish();
    return grpc::Status::OK;
  }
  return stream->Finish();
}

TEST_F(DoorTest, NobodyTakesOverTheStreamOfALiveWorker) {
  const std::string secret = FirstLine(ReadFile(cluster_.directory() + "/worker0/node_secret"));
  ASSERT_EQ(secret.size(), 64u);
  struct stat info {};
  ASSERT_EQ(stat((cluster_.directory() + "/worker0/node_secret").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  // All that a user of the cluster can read of the node.
  const auto nodes =
      nlohmann::json::parse(Http("GET", Url("/api/v1/nodes"), {"Authorization: " + Bearer()}).text);
  const auto& node = nodes["nodes"][0];
  v1::Hello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_node_id(node["id"].get<std::string>());
  hello.set_node_name("node0");
  hello.set_incarnation(node["incarnation"].get<std::string>());
  hello.set_address("127.0.0.1");
  for (const std::string& made_up : {std::string(), std::string(64, 'a')}) {
    hello.set_node_secret(made_up);
    const grpc::Status status = AttachAs(cluster_.address(), hello);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << status.error_message();
  }
  EXPECT_THAT(cluster_.DaemonLogs(), Not(HasSubstr("detached"))) << "the right worker stays";
  EXPECT_THAT(nodes.dump(), Not(HasSubstr(secret)));
  // The right worker must not be back first.
  cluster_.KillWorker(0);
  cluster_.KillController();
  cluster_.StartController();
  EXPECT_EQ(AttachAs(cluster_.address(), hello).error_code(), grpc::StatusCode::PERMISSION_DENIED)
      << "the binding is durable";
  hello.set_node_secret(secret);
  EXPECT_TRUE(AttachAs(cluster_.address(), hello).ok());
}

TEST_F(DoorTest, ALostNodeIsRemovedAndItsWorkerComesBack) {
  EXPECT_NE(cluster_.Cli({"node", "remove", "node0"}).exit_code, 0) << "it is ready";
  cluster_.KillWorker(0);
  ASSERT_TRUE(Eventually(
      [&] { return cluster_.Cli({"nodes"}).output.find(" lost ") != std::string::npos; }));
  const CommandResult removed = cluster_.Cli({"node", "remove", "node0"});
  EXPECT_EQ(removed.exit_code, 0) << removed.error;
  EXPECT_EQ(cluster_.Cli({"nodes", "-o", "name"}).output, "");
  cluster_.KillController();
  cluster_.StartController();
  EXPECT_EQ(cluster_.Cli({"nodes", "-o", "name"}).output, "");
  cluster_.StartWorker(0);
  EXPECT_TRUE(Eventually([&] {
    return cluster_.Cli({"nodes"}).output.find(" ready ") != std::string::npos;
  })) << cluster_.DaemonLogs();
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

// ---- Small things at the edges

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
  // A store of another cluster beside this event log.
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
