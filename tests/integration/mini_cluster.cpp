#include "tests/integration/mini_cluster.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/files/unique_fd.h"
#include "proto/support/job_state.h"
#include "tests/fakes/process_channel.h"

namespace trainyard::test {
namespace {

constexpr Seconds kStartDeadline(20);

}  // namespace

// A controller that restarts after a kill binds its previous port again. If the kernel had chosen
// the port (32768 and above), an outgoing connection could have taken the port by then. Ports of
// jobs begin at 20000.
std::string FreeAddress() {
  constexpr int kFirstPort = 11'000, kPorts = 8'000;
  for (int i = 0; i < kPorts; ++i) {
    const int port = kFirstPort + (getpid() * 7 + i) % kPorts;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      return absl::StrCat("127.0.0.1:", port);
    }
  }
  ADD_FAILURE() << "no free port from " << kFirstPort << " on";
  return "127.0.0.1:0";
}

std::string ProgramPath(const std::string& name) {
  return absl::StrCat(PROGRAM_DIRECTORY, "/", name);
}

MiniCluster::MiniCluster(int nodes, int slots_per_node, const std::string& data)
    : slots_per_node_(slots_per_node), worker_program_(ProgramPath("trainyard-worker")) {
  if (!data.empty()) Unpack(data, directory());
  StartAll(nodes);
}

MiniCluster::MiniCluster(int nodes, int slots_per_node, std::vector<std::string> controller_flags)
    : slots_per_node_(slots_per_node),
      controller_flags_(std::move(controller_flags)),
      worker_program_(ProgramPath("trainyard-worker")) {
  StartAll(nodes);
}

MiniCluster::MiniCluster(WithoutController)
    : slots_per_node_(1), worker_program_(ProgramPath("trainyard-worker")) {
  setenv(kTokenFileVariable, token_file().c_str(), 1);
  std::filesystem::create_directory(directory() + "/controller");
}

void MiniCluster::StartAll(int nodes) {
  // The command line, the workers and the stubs below find the token through this variable.
  setenv(kTokenFileVariable, token_file().c_str(), 1);
  StartController();
  workers_.resize(nodes);
  for (int node = 0; node < nodes; ++node) StartWorker(node);
  const bool attached = Eventually(
      [&] {
        grpc::ClientContext context;
        v1::ListNodesResponse response;
        Stub<v1::NodeService>()->ListNodes(&context, {}, &response);
        return response.nodes_size() == nodes;
      },
      kStartDeadline);
  EXPECT_TRUE(attached) << DaemonLogs();
}

void Unpack(const std::string& archive, const std::string& directory) {
  const CommandResult result = RunCommand({"/bin/tar", "-xzf", archive, "-C", directory});
  EXPECT_EQ(result.exit_code, 0) << result.error;
}

MiniCluster::~MiniCluster() {
  if (testing::Test::HasFailure()) std::cerr << DaemonLogs();
  unsetenv(kTokenFileVariable);
  // A killed worker leaves its ranks running. No rank may remain after a test.
  for (auto& worker : workers_) {
    if (worker != nullptr) worker->Signal(SIGTERM);
  }
  for (auto& worker : workers_) {
    if (worker != nullptr) worker->Wait(Seconds(15));
  }
}

void MiniCluster::StartController(const std::vector<std::string>& more) {
  SpawnController(more);
  AwaitController();
}

void MiniCluster::SpawnController(const std::vector<std::string>& more) {
  const std::string listen_file = directory() + "/address";
  std::filesystem::remove(listen_file);
  const std::string listen = address_.empty() ? FreeAddress() : address_;
  std::vector<std::string> arguments = controller_command_;
  arguments.insert(arguments.end(),
                   {ProgramPath("trainyard-controller"), "--listen", listen, "--data-dir",
                    directory() + "/controller", "--listen-file", listen_file,
                    // Lets the kernel choose the HTTP port. The default is the gRPC port + 1, and
                    // another program may have taken this port before a restart.
                    "--http-listen", "127.0.0.1:0"});
  arguments.insert(arguments.end(), controller_flags_.begin(), controller_flags_.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  controller_ = std::make_unique<ChildProcess>(arguments, directory() + "/controller.log");
}

void MiniCluster::AwaitController() {
  const std::string listen_file = directory() + "/address";
  EXPECT_TRUE(Eventually([&] { return std::filesystem::exists(listen_file); }, kStartDeadline))
      << DaemonLogs();
  address_ = ReadFile(listen_file);
  while (!address_.empty() && address_.back() == '\n') address_.pop_back();
}

void MiniCluster::KillController() {
  controller_->Signal(SIGKILL);
  controller_->Wait();
}

std::vector<std::string> MiniCluster::WorkerCommand(int node, const std::string& controller) const {
  return {worker_program_,
          "--controller",
          controller.empty() ? address_ : controller,
          "--data-dir",
          absl::StrCat(directory(), "/worker", node),
          "--node-name",
          absl::StrCat("node", node),
          "--cpu-slots",
          std::to_string(slots_per_node_),
          "--stop-ranks-on-exit",
          "--metrics-listen",
          "127.0.0.1:0"};
}

void MiniCluster::RunWorker(int node, const std::vector<std::string>& command) {
  const bool joins = node == std::ssize(workers_);
  if (joins) workers_.emplace_back();
  workers_[node] =
      std::make_unique<ChildProcess>(command, absl::StrCat(directory(), "/worker", node, ".log"));
  // Until the worker has joined, a job that needs the node would be rejected.
  if (!joins) return;
  const bool joined = Eventually([&] { return std::ssize(Nodes()) == node + 1; }, kStartDeadline);
  EXPECT_TRUE(joined) << DaemonLogs();
}

void MiniCluster::StartWorker(int node, const std::vector<std::string>& more,
                              const std::string& controller) {
  std::vector<std::string> command;
  // An address that is not the controller's own belongs to a relay, which the worker must trust.
  // env replaces itself with the worker, so the pid does not change.
  if (!controller.empty()) command = {"/usr/bin/env", "TRAINYARD_INSECURE=1"};
  const std::vector<std::string> worker = WorkerCommand(node, controller);
  command.insert(command.end(), worker.begin(), worker.end());
  command.insert(command.end(), more.begin(), more.end());
  RunWorker(node, command);
}

void MiniCluster::StartWorkerApart(int node, const std::vector<std::string>& hidden) {
  // unshare replaces itself with the program, so the pid does not change.
  std::vector<std::string> command = {
      "/usr/bin/unshare",
      "--mount",
      "--propagation",
      "private",
      "/bin/sh",
      "-c",
      "while [ \"$1\" != -- ]; do mkdir -p \"$1\" && mount -t tmpfs none \"$1\" || exit 1; shift; "
      "done; shift; exec \"$@\"",
      "sh"};
  command.insert(command.end(), hidden.begin(), hidden.end());
  command.push_back("--");
  const std::vector<std::string> worker = WorkerCommand(node, "");
  command.insert(command.end(), worker.begin(), worker.end());
  RunWorker(node, command);
}

// A worker looks for the trainer in the directory of the worker's own program.
void MiniCluster::UseTrainer(const std::string& script) {
  const std::filesystem::path programs = directory() + "/programs";
  std::filesystem::create_directory(programs);
  worker_program_ = (programs / "trainyard-worker").string();
  std::filesystem::copy_file(ProgramPath("trainyard-worker"), worker_program_);
  const std::filesystem::path trainer = programs / "trainyard-trainer";
  std::filesystem::copy_file(absl::StrCat(SOURCE_DIRECTORY, "/", script), trainer);
  std::filesystem::permissions(trainer, std::filesystem::perms::owner_all);
}

void MiniCluster::KillWorker(int node) {
  workers_[node]->Signal(SIGKILL);
  workers_[node]->Wait();
}

pid_t MiniCluster::RankPid(int64_t job_id, int64_t attempt_number, int rank) const {
  for (std::size_t node = 0; node < workers_.size(); ++node) {
    const std::string text =
        ReadFile(absl::StrCat(directory(), "/worker", node, "/attempts/", job_id, "/",
                              attempt_number, "/rank", rank, "/shim.json"));
    const nlohmann::json shim = nlohmann::json::parse(text, nullptr, false);
    if (!shim.is_discarded()) return shim.value("rank_pid", 0);
  }
  return 0;
}

std::string MiniCluster::MakeTokens() {
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    absl::StrAppend(&text, "Line ", i, ": the quick brown fox jumps over ", i * 7 % 13,
                    " lazy dogs.\n");
    if (i % 50 == 0) {
      WriteFile(absl::StrCat(directory(), "/text", i, ".txt"), text);
      text.clear();
    }
  }
  std::vector<std::string> arguments = {"data",           "prepare", "--tokenizer",
                                        "byte",           "--out",   directory() + "/tokens",
                                        "--val-fraction", "0.2"};
  for (const auto& entry : std::filesystem::directory_iterator(directory())) {
    if (entry.path().extension() == ".txt") arguments.push_back(entry.path());
  }
  const CommandResult result = Cli(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  return directory() + "/tokens";
}

std::string MiniCluster::WriteJob(const std::string& name, const std::string& yaml) {
  const std::string path = absl::StrCat(directory(), "/", name, ".yaml");
  WriteFile(path, yaml);
  return path;
}

CommandResult MiniCluster::Cli(std::vector<std::string> arguments, Seconds deadline) const {
  arguments.insert(arguments.begin(), {ProgramPath("trainyard"), "--server", address_});
  return RunCommand(arguments, deadline);
}

int64_t MiniCluster::Submit(const std::string& job_file,
                            const std::vector<std::string>& more) const {
  std::vector<std::string> arguments = {"submit", job_file, "-o", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const CommandResult result = Cli(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  const nlohmann::json job = nlohmann::json::parse(result.output, nullptr, false);
  return job.is_discarded() ? 0 : job.value("id", int64_t{0});
}

template <typename Service>
std::unique_ptr<typename Service::Stub> MiniCluster::Stub() const {
  grpc::ChannelArguments arguments;
  // The curve of a run of an hour is larger than gRPC's default limit.
  arguments.SetMaxReceiveMessageSize(-1);
  return Service::NewStub(OpenProcessChannel(address_, arguments));
}

std::map<std::string, v1::Node> MiniCluster::Nodes() const {
  grpc::ClientContext context;
  v1::ListNodesResponse response;
  Stub<v1::NodeService>()->ListNodes(&context, {}, &response);
  std::map<std::string, v1::Node> nodes;
  for (const v1::Node& node : response.nodes()) nodes[node.name()] = node;
  return nodes;
}

v1::GetJobResponse MiniCluster::Described(int64_t job_id) const {
  grpc::ClientContext context;
  v1::GetJobRequest request;
  request.set_job(std::to_string(job_id));
  v1::GetJobResponse response;
  Stub<v1::JobService>()->GetJob(&context, request, &response);
  return response;
}

std::vector<v1::Job> MiniCluster::ListedJobs() const {
  grpc::ClientContext context;
  v1::ListJobsResponse response;
  Stub<v1::JobService>()->ListJobs(&context, {}, &response);
  return {response.jobs().begin(), response.jobs().end()};
}

v1::ListEventsResponse MiniCluster::Events(int limit) const {
  grpc::ClientContext context;
  v1::ListEventsRequest request;
  request.set_limit(limit);
  v1::ListEventsResponse response;
  Stub<v1::JobService>()->ListEvents(&context, request, &response);
  return response;
}

v1::ListRanksResponse MiniCluster::Ranks(int64_t job_id) const {
  grpc::ClientContext context;
  v1::ListRanksRequest request;
  request.set_job(std::to_string(job_id));
  v1::ListRanksResponse response;
  Stub<v1::JobService>()->ListRanks(&context, request, &response);
  return response;
}

v1::Job MiniCluster::WaitForEnd(int64_t job_id, Seconds deadline) const {
  v1::Job job;
  if (!Eventually([&] { return HasEnded((job = Job(job_id)).state()); }, deadline)) return job;
  // After the job's end, the watch ends only when all data of the job's ranks is stored.
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::duration_cast<std::chrono::milliseconds>(deadline));
  v1::WatchJobRequest request;
  request.set_job(std::to_string(job_id));
  const auto watch = Stub<v1::JobService>()->WatchJob(&context, request);
  v1::WatchJobResponse response;
  while (watch->Read(&response)) job = response.job();
  return job;
}

bool MiniCluster::WaitForStep(int64_t job_id, int64_t step, Seconds deadline) const {
  return Eventually([&] { return Job(job_id).progress().step() >= step; }, deadline);
}

bool MiniCluster::WaitForCheckpoint(int64_t job_id, int64_t step, Seconds deadline) const {
  return Eventually(
      [&] {
        const v1::Job job = Job(job_id);
        for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
          if (checkpoint.step() >= step) return true;
        }
        return false;
      },
      deadline);
}

v1::Series MiniCluster::RawSeries(int64_t job_id, const std::string& key,
                                  int64_t attempt_number) const {
  grpc::ClientContext context;
  v1::GetSeriesRequest request;
  request.set_job(std::to_string(job_id));
  request.add_keys(key);
  request.set_attempt(attempt_number);
  v1::GetSeriesResponse response;
  const grpc::Status status = Stub<v1::MetricService>()->GetSeries(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.series_size() == 0 ? v1::Series() : response.series(0);
}

v1::Job MiniCluster::StopAfter(int64_t job_id, int64_t step) const {
  EXPECT_TRUE(WaitForStep(job_id, step)) << DaemonLogs();
  EXPECT_EQ(Cli({"stop", std::to_string(job_id)}).exit_code, 0);
  v1::Job job = WaitForEnd(job_id);
  EXPECT_EQ(job.state(), v1::JOB_STATE_STOPPED) << job.DebugString();
  return job;
}

std::map<int64_t, double> MiniCluster::Series(int64_t job_id, const std::string& key) const {
  const v1::Series series = RawSeries(job_id, key, 0);
  std::map<int64_t, double> points;
  for (int i = 0; i < series.steps_size(); ++i) points[series.steps(i)] = series.last(i);
  return points;
}

std::vector<v1::LogLine> MiniCluster::Logs(int64_t job_id, int rank, int64_t attempt_number) const {
  grpc::ClientContext context;
  v1::ReadLogsRequest request;
  request.set_job(std::to_string(job_id));
  request.add_ranks(rank);
  request.set_attempt(attempt_number);
  auto reader = Stub<v1::LogService>()->ReadLogs(&context, request);
  std::vector<v1::LogLine> lines;
  v1::ReadLogsResponse response;
  while (reader->Read(&response)) {
    lines.insert(lines.end(), response.lines().begin(), response.lines().end());
  }
  const grpc::Status status = reader->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  return lines;
}

std::string MiniCluster::DaemonLogs() const {
  std::string text = "---- controller\n" + ReadFile(directory() + "/controller.log");
  for (std::size_t node = 0; node < workers_.size(); ++node) {
    absl::StrAppend(&text, "---- worker ", node, "\n",
                    ReadFile(absl::StrCat(directory(), "/worker", node, ".log")));
  }
  return text;
}

std::string TinyJob(const std::string& name, const std::string& tokens, int nodes, int steps) {
  return absl::StrCat("name: ", name, "\nresources: {nodes: ", nodes, R"(, device: cpu}
model:
  num_layers: 2
  hidden_size: 64
  ffn_hidden_size: 128
  num_attention_heads: 4
  num_query_groups: 2
  vocab_size: 257
data: {path: )",
                      tokens, R"(}
train: {seq_length: 64, global_batch: 8, precision: fp32, threads: 1, steps: )",
                      steps, R"(}
optimizer: {lr: 1e-3, min_lr: 1e-4}
schedule: {warmup_steps: 10}
evaluation: {every_steps: 50, samples: 8}
checkpoint: {every_steps: 20, keep_last: 3}
restart: {backoff: 0}
stop_grace: 20s
)");
}

}  // namespace trainyard::test
