#include "worker/worker.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/access/address.h"
#include "proto/contract/protocol_version.h"
#include "proto/proof/digest.h"
#include "proto/proof/node_key.h"
#include "proto/proof/proof.h"
#include "proto/support/clock.h"
#include "proto/support/detached_thread.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"
#include "worker/attempt_keeper.h"
#include "worker/core/seen_log.h"
#include "worker/core/uplink.h"
#include "worker/core/worker_kernel.h"
#include "worker/device/inventory.h"
#include "worker/device/kernel_log.h"
#include "worker/device/route_address.h"
#include "worker/disk_watch.h"
#include "worker/limit_keeper.h"
#include "worker/loop_watch.h"
#include "worker/metrics/metrics_server.h"
#include "worker/node_checks.h"
#include "worker/output_keeper.h"
#include "worker/process/process_limit.h"
#include "worker/process/rank_group.h"
#include "worker/rank_marks.h"
#include "worker/root_watch.h"
#include "worker/rpc/attach_stream.h"
#include "worker/spool/attempt_folders.h"
#include "worker/spool/data_dir.h"
#include "worker/spool/log_mark_file.h"
#include "worker/spool/stored_offsets.h"
#include "worker/spool/telemetry_reserve.h"

namespace trainyard::worker {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Interval between checks for new bytes in files and for due kills.
constexpr milliseconds kTick(200);
// Interval between updates of the statistics for Prometheus.
constexpr milliseconds kPublishEvery(1000);
// Interval between checks of the disk's free space: output at 1 GB/s fills 200 MB in that time.
constexpr milliseconds kFreeSpaceEvery(200);
// Interval between writes of the streams' stored offsets to disk.
constexpr milliseconds kKeepOffsetsEvery(5000);
// With stop_ranks_on_exit: upper limit on a job's own grace, and the longest wait after it for the
// controller to acknowledge the last facts and output.
constexpr Timestamp kExitGraceMsMax = 10'000;
constexpr milliseconds kFarewell(1000);

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "node";
}

// Ends ranks of a worker that used this data directory before its contents were lost: they occupy
// slots that are offered again. Returns this worker's place (v1::Hello).
std::string EndStrays(const RankMarks& marks) {
  const RankMarks::Strays strays = marks.KillStrays();
  if (strays.killed > 0) {
    spdlog::warn(
        "killed {} process(es) of ranks that a worker with this data directory started before its "
        "contents were lost",
        strays.killed);
  }
  RemoveEmptyRankGroups();
  return strays.all_ended ? marks.PlaceOfBoot() : "";
}

absl::StatusOr<v1::Hello> MakeGreeting(const WorkerOptions& options, const DataDir& data_dir) {
  v1::Hello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_node_id(data_dir.node_id());
  hello.set_node_name(options.node_name.empty() ? HostName() : options.node_name);
  hello.set_incarnation(RandomId());
  hello.set_worker_version(TRAINYARD_VERSION);
  hello.set_address(options.address);
  if (options.address.empty()) {
    TRAINYARD_ASSIGN_OR_RETURN(*hello.mutable_address(), AddressOfRouteTo(options.controller));
  }
  TRAINYARD_ASSIGN_OR_RETURN(DetectedInventory detected,
                             DetectInventory({.cpu_slots = options.cpu_slots}));
  for (const std::string& warning : detected.warnings) spdlog::warn("{}", warning);
  *hello.mutable_inventory() = std::move(detected.inventory);
  const absl::StatusOr<std::string> cluster_id = ReadSmallFile(data_dir.File("cluster_id"));
  if (cluster_id.ok()) {
    hello.set_cluster_id(std::string(absl::StripAsciiWhitespace(*cluster_id)));
  } else if (!absl::IsNotFound(cluster_id.status())) {
    return cluster_id.status();
  }
  return hello;
}

// Proves the node's identity without revealing its secret (proto/proof/proof.h).
void SignHello(const std::string& challenge, const std::string& nonce, const std::string& secret,
               v1::Hello& hello) {
  hello.set_challenge(challenge);
  hello.set_nonce(nonce);
  const std::string text = HelloText(challenge, hello.node_id(), hello.incarnation(), nonce);
  hello.set_node_key(PublicKeyOf(secret));
  hello.set_signature(SignatureOf(secret, text));
  hello.set_secret_proof(SecretProof(HashOf(secret), text));
}

// FAILED_PRECONDITION: anyone on the network could read the names of jobs and their speed.
absl::Status CheckMetricsListen(const WorkerOptions& options) {
  const auto where = SplitAddress(options.metrics_listen);
  // Text that is not an address is rejected when listening.
  if (!where.has_value() || IsLoopback(where->host)) return absl::OkStatus();
  if (!options.insecure) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--metrics-listen ", options.metrics_listen,
        " can be read from other machines, without a token and unencrypted; listen on 127.0.0.1 ",
        "and let a Prometheus on this machine send on (deploy/prometheus/README.md), or pass "
        "--insecure only on a trusted network"));
  }
  spdlog::warn("INSECURE: anyone who can reach {} can read the metrics of this node",
               options.metrics_listen);
  return absl::OkStatus();
}

}  // namespace

class Worker::Daemon : public AttachHandler {
 public:
  explicit Daemon(const WorkerOptions& options)
      : options_(options), signals_(loop_, SIGTERM, SIGINT, SIGHUP), tick_timer_(loop_) {}

  absl::Status Load();
  void Run();

  v1::Hello MakeHello(const std::string& challenge, const std::string& nonce) override;
  void OnWelcome(const v1::Welcome& welcome) override;
  void OnMessage(const v1::ControllerMessage& message) override;
  std::optional<v1::WorkerMessage> NextMessage() override;
  void OnClosed(const absl::Status& status) override;

 private:
  absl::Status OpenAttempts();
  absl::Status ServeMetrics();
  void PublishMetrics();
  void AwaitSignal();
  void OnSignal(int signal);
  void AwaitTick();
  void OnTick();
  void ExitWhenAllSent();
  void FreeSpace();
  // Extends the reserve of ranks that write more than the initial one.
  void ReserveTelemetry();
  void RemoveFormerNodesSoon();
  void LookAtDisk();
  void OnBlocked(const std::string& kernel_function);
  void KeepStoredOffsets();
  void KeepLogMark();
  void KeepClusterId(const std::string& cluster_id);

  const WorkerOptions options_;
  const SystemClock clock_;
  asio::io_context loop_{1};
  asio::signal_set signals_;
  asio::steady_timer tick_timer_;
  std::unique_ptr<DataDir> data_dir_;
  // Hello without the attempts.
  v1::Hello greeting_;
  std::unique_ptr<AttemptKeeper> attempts_;
  std::unique_ptr<Uplink> uplink_;
  std::unique_ptr<WorkerKernel> kernel_;
  // Sources found on disk before the uplink exists.
  std::vector<std::unique_ptr<StreamSource>> early_sources_;
  std::unique_ptr<AttachStream> stream_;
  std::unique_ptr<OutputKeeper> output_;
  TelemetryReserve telemetry_reserve_;
  std::unique_ptr<DiskWatch> disk_;
  KernelLog kernel_log_;
  std::unique_ptr<LimitKeeper> limits_;
  steady_clock::time_point free_space_due_;
  std::unique_ptr<StoredOffsets> stored_offsets_;
  steady_clock::time_point keep_offsets_due_;
  std::unique_ptr<LogMarkFile> log_mark_file_;
  SeenLog seen_log_;
  absl::Status log_mark_error_;
  // Null if metrics are turned off.
  std::unique_ptr<MetricsServer> metrics_;
  steady_clock::time_point publish_due_;
  FactTotals fact_totals_;
  NodeChecks checks_;
  CheckedPlaces checked_places_;
  RootWatch root_watch_;
  bool connected_ = false;
  int64_t connections_ = 0;

  // Reason why the node takes no new ranks; empty if it does.
  std::string problem_;
  // Last logged reason for a disconnect; repeats are not logged.
  std::string disconnect_reason_;
  // True while the worker stops its ranks before it exits, or sends its last messages.
  bool exiting_ = false;
  std::optional<steady_clock::time_point> farewell_until_;
  // Declared last: its thread uses the members above.
  std::unique_ptr<LoopWatch> loop_watch_;
};

absl::Status Worker::Daemon::Load() {
  TRAINYARD_ASSIGN_OR_RETURN(data_dir_, DataDir::Open(options_.data_dir));
  // First, because files held open by such ranks may fill the disk on which the identity is stored.
  const std::string place = EndStrays(RankMarks(data_dir_->path(), data_dir_->node_id()));
  TRAINYARD_RETURN_IF_ERROR(data_dir_->MakeIdentity());
  if (!data_dir_->lost_identity().empty()) spdlog::warn("{}", data_dir_->lost_identity());
  TRAINYARD_ASSIGN_OR_RETURN(greeting_, MakeGreeting(options_, *data_dir_));
  greeting_.set_place(place);
  checked_places_ = {.data_dir = data_dir_->path(),
                     .secrets_dir = options_.secrets_dir.empty() ? data_dir_->File("secrets")
                                                                 : options_.secrets_dir,
                     .checkpoint_root = "",
                     .inventory = greeting_.inventory()};
  TRAINYARD_RETURN_IF_ERROR(OpenAttempts());
  disk_ = std::make_unique<DiskWatch>(data_dir_->path(), options_.free_space_floor);
  LookAtDisk();
  TRAINYARD_RETURN_IF_ERROR(ServeMetrics());
  stream_ = std::make_unique<AttachStream>(
      loop_, *this,
      AttachOptions{.controller = options_.controller, .token_file = options_.token_file});
  loop_watch_ = std::make_unique<LoopWatch>(
      LoopWatch::Limits{},
      [this](const std::string& kernel_function) { OnBlocked(kernel_function); });
  return absl::OkStatus();
}

absl::Status Worker::Daemon::ServeMetrics() {
  if (options_.metrics_listen == "off") return absl::OkStatus();
  TRAINYARD_RETURN_IF_ERROR(CheckMetricsListen(options_));
  TRAINYARD_ASSIGN_OR_RETURN(metrics_, MetricsServer::Start({.listen = options_.metrics_listen,
                                                             .data_dir = data_dir_->path(),
                                                             .gpu_metrics = options_.gpu_metrics}));
  PublishMetrics();
  // Best effort: the log also contains the address.
  const std::string path = data_dir_->File("metrics_address");
  const absl::Status status = WriteFileAtomically(path, metrics_->address() + "\n");
  if (!status.ok()) spdlog::warn("{}; {} is not up to date", Text(status), path);
  return absl::OkStatus();
}

void Worker::Daemon::PublishMetrics() {
  const auto now = steady_clock::now();
  if (metrics_ == nullptr || now < publish_due_) return;
  publish_due_ = now + kPublishEvery;
  WorkerStatistics statistics;
  statistics.node = greeting_.node_name();
  statistics.version = greeting_.worker_version();
  statistics.inventory = greeting_.inventory();
  for (const RankView& view : attempts_->kernel().attempts().Ranks()) {
    const v1::StartAttempt* command = attempts_->kernel().attempts().CommandOf(view.key.attempt);
    // An attempt whose start.pb is lost has no spec.
    if (command == nullptr || !command->spec().has_layout()) {
      statistics.ranks.push_back({.view = view, .job_name = "", .position = {}});
    } else {
      statistics.ranks.push_back(
          {.view = view,
           .job_name = command->job_name(),
           .position = RankPositionOf(view.key.rank, command->spec().layout())});
    }
  }
  statistics.facts = fact_totals_;
  statistics.connected = connected_;
  statistics.connections = connections_;
  const FactLog& facts = attempts_->facts();
  statistics.unsent_facts = facts.unacknowledged();
  statistics.in_flight_bytes = uplink_->in_flight_bytes();
  statistics.shipped_log_bytes = uplink_->shipped_log_bytes();
  statistics.shipped_telemetry_bytes = uplink_->shipped_telemetry_bytes();
  statistics.lost_output_bytes = output_ == nullptr ? 0 : output_->lost_bytes();
  metrics_->Publish(std::move(statistics));
}

absl::Status Worker::Daemon::OpenAttempts() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return absl::InternalError("cannot read /proc/self/exe: " + error.message());
  AttemptKeeper::Options options;
  options.worker_program = program.string();
  options.trainer_program = (program.parent_path() / "trainyard-trainer").string();
  options.secrets_dir = checked_places_.secrets_dir;
  options.inventory = greeting_.inventory();
  options.limits = LimitsOnMachine(options_.limits, ProcessesOfMachine());
  AttemptKeeper::Handler handler;
  handler.on_stream_added = [this](std::unique_ptr<StreamSource> source) {
    if (uplink_ == nullptr) {
      early_sources_.push_back(std::move(source));
    } else {
      uplink_->AddStream(std::move(source));
    }
  };
  handler.on_attempt_removed = [this](const AttemptKey& key) { uplink_->RemoveStreams(key); };
  handler.on_fact_recorded = [this](const v1::Fact& fact) {
    fact_totals_.Count(fact);
    if (kernel_ != nullptr) kernel_->ReportNow(attempts_->Now().steady_ms);
    if (stream_ != nullptr) stream_->Wake();
  };
  TRAINYARD_ASSIGN_OR_RETURN(
      attempts_, AttemptKeeper::Open(loop_, *data_dir_, clock_, std::move(options), handler));
  uplink_ = std::make_unique<Uplink>(attempts_->facts());
  kernel_ = std::make_unique<WorkerKernel>(attempts_->kernel(), *uplink_);
  output_ = std::make_unique<OutputKeeper>(
      data_dir_->path(), OutputLimits{.bytes_max = options_.spool_bytes_max},
      [folders = AttemptFolders(data_dir_->path())](const v1::StreamId& id) {
        const RankKey key = {{id.job_id(), id.attempt()}, id.rank()};
        return id.kind() == v1::STREAM_KIND_TELEMETRY ? folders.TelemetryFile(key)
                                                      : folders.OutputFile(key);
      });
  limits_ = std::make_unique<LimitKeeper>(
      loop_, options_.limits,
      [this, folders = AttemptFolders(data_dir_->path())](const RankKey& rank) {
        return RankPaths{folders.OutputFile(rank), folders.TelemetryFile(rank),
                         folders.JobDir(rank.attempt.job_id), attempts_->MarkOf(rank)};
      });
  for (auto& source : early_sources_) uplink_->AddStream(std::move(source));
  early_sources_.clear();
  stored_offsets_ = std::make_unique<StoredOffsets>(data_dir_->File("stored_offsets"));
  for (const StreamPosition& stored : stored_offsets_->Read()) uplink_->AssumeStored(stored);
  log_mark_file_ = std::make_unique<LogMarkFile>(data_dir_->File("log_mark"));
  seen_log_ = SeenLog(log_mark_file_->Read(greeting_.cluster_id()));
  return absl::OkStatus();
}

void Worker::Daemon::Run() {
  spdlog::info("node {} ({}), {} slot(s), address {}, data in {}", greeting_.node_name(),
               greeting_.node_id(), greeting_.inventory().slots_size(), greeting_.address(),
               data_dir_->path());
  if (metrics_ != nullptr) spdlog::info("metrics on http://{}/metrics", metrics_->address());
  AwaitSignal();
  AwaitTick();
  stream_->Start();
  loop_.run();
  loop_watch_ = nullptr;
  stream_ = nullptr;
}

void Worker::Daemon::AwaitSignal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (!error) OnSignal(signal);
  });
}

void Worker::Daemon::OnSignal(int signal) {
  if (!options_.stop_ranks_on_exit) {
    spdlog::info("exiting on signal {}; ranks continue", signal);
    if (exiting_ || !connected_) return loop_.stop();
    // Otherwise the controller might wait for an attempt that it has just placed here.
    exiting_ = true;
    kernel_->Leave(attempts_->Now().steady_ms);
    stream_->Wake();
    ExitWhenAllSent();
    return AwaitSignal();
  }
  // On a second signal the user does not want to wait.
  const Timestamp grace_ms_max = exiting_ ? 0 : kExitGraceMsMax;
  spdlog::info("signal {}: stopping all ranks, then exiting", signal);
  exiting_ = true;
  kernel_->Leave(attempts_->Now().steady_ms);
  attempts_->kernel().StopAll(grace_ms_max, attempts_->Now());
  ExitWhenAllSent();
  AwaitSignal();
}

void Worker::Daemon::AwaitTick() {
  tick_timer_.expires_after(kTick);
  tick_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    OnTick();
    AwaitTick();
  });
}

void Worker::Daemon::OnTick() {
  loop_watch_->Beat();
  attempts_->kernel().Tick(attempts_->Now());
  if (root_watch_.Tick(steady_clock::now())) kernel_->ReportNow(attempts_->Now().steady_ms);
  stream_->Wake();
  FreeSpace();
  KeepStoredOffsets();
  PublishMetrics();
  if (exiting_) ExitWhenAllSent();
}

void Worker::Daemon::FreeSpace() {
  const std::vector<StreamPosition> streams = uplink_->Positions();
  limits_->Check(attempts_->kernel().attempts().Ranks(), streams, disk_->size(),
                 attempts_->Now().steady_ms,
                 [this](const RankKey& rank, const std::string& reason) {
                   attempts_->kernel().EndForLimit(rank, reason);
                 });
  const auto now = steady_clock::now();
  if (now < free_space_due_) return;
  free_space_due_ = now + kFreeSpaceEvery;
  output_->FreeSpace(streams);
  ReserveTelemetry();
  LookAtDisk();
}

void Worker::Daemon::ReserveTelemetry() {
  const AttemptFolders folders(data_dir_->path());
  std::vector<GuardedPath> files;
  for (const RankView& rank : attempts_->kernel().attempts().Ranks()) {
    if (std::string_view(rank.state) == "running") files.push_back(folders.TelemetryFile(rank.key));
  }
  telemetry_reserve_.Extend(files);
}

void Worker::Daemon::LookAtDisk() {
  v1::NodeCondition condition = disk_->Look();
  if (std::exchange(problem_, condition.trouble()).empty() != condition.trouble().empty()) {
    spdlog::warn("{}", condition.trouble().empty()
                           ? "the disk has space again: the node accepts new ranks"
                           : "the node accepts no new ranks: " + condition.trouble());
    if (!condition.trouble().empty()) RemoveFormerNodesSoon();
  }
  const std::vector<v1::DeviceError> errors = kernel_log_.Read(SystemClock().Now());
  condition.mutable_device_errors()->Assign(errors.begin(), errors.end());
  kernel_->SetCondition(std::move(condition), attempts_->Now().steady_ms);
}

// Reports why no heartbeat comes. Runs on the thread of loop_watch_.
void Worker::Daemon::OnBlocked(const std::string& kernel_function) {
  const std::string place = kernel_function.empty() ? "" : absl::StrCat(" in ", kernel_function);
  v1::WorkerMessage message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  heartbeat.set_blocked(true);
  heartbeat.mutable_condition()->set_trouble(
      absl::StrCat("its worker is blocked", place, ": the disk of ", data_dir_->path(),
                   " may hang; check it on the node, for example with ls"));
  stream_->WriteNow(std::move(message));
}

// In the background: removing large trees takes long and, on a failing disk, forever.
void Worker::Daemon::RemoveFormerNodesSoon() {
  const absl::Status started =
      RunDetached("remove files of former nodes", [dir = data_dir_->path()] {
        const int removed = RemoveFormerNodes(dir);
        if (removed > 0)
          spdlog::warn("removed the files of {} former node(s) to free disk space", removed);
      });
  if (!started.ok())
    spdlog::warn("cannot remove the files of former nodes: {}", started.ToString());
}

void Worker::Daemon::KeepStoredOffsets() {
  const auto now = steady_clock::now();
  if (now < keep_offsets_due_) return;
  keep_offsets_due_ = now + kKeepOffsetsEvery;
  stored_offsets_->Keep(uplink_->Positions());
  KeepLogMark();
}

void Worker::Daemon::KeepLogMark() {
  if (!seen_log_.IsDue()) return;
  const absl::Status status = log_mark_file_->Keep(seen_log_.newest(), greeting_.cluster_id());
  if (status.ok()) seen_log_.Kept();
  // A start continues without it: on a full disk the start itself fails.
  if (std::exchange(log_mark_error_, status) != status && !status.ok()) {
    spdlog::warn("{}", Text(status));
  }
}

void Worker::Daemon::ExitWhenAllSent() {
  const bool stops = options_.stop_ranks_on_exit;
  if (stops && attempts_->kernel().attempts().AnyAlive()) return;
  const auto now = steady_clock::now();
  if (!farewell_until_.has_value()) farewell_until_ = now + kFarewell;
  const FactLog& facts = attempts_->facts();
  // A worker that leaves its ranks running need not have sent everything: the next one sends the
  // rest.
  const bool sent =
      !stops || (attempts_->kernel().AllWritten() && facts.After(facts.acknowledged()) == nullptr &&
                 uplink_->in_flight_bytes() == 0);
  const bool all_sent = sent && (kernel_->HasSentFarewell() || !connected_);
  if (all_sent || now >= *farewell_until_) loop_.stop();
}

v1::Hello Worker::Daemon::MakeHello(const std::string& challenge, const std::string& nonce) {
  v1::Hello hello = kernel_->MakeHello(greeting_);
  hello.set_time_ms(clock_.Now());
  if (seen_log_.newest().sequence() != 0) *hello.mutable_log_mark() = seen_log_.newest();
  *hello.mutable_checkpoint_root() = root_watch_.newest();
  SignHello(challenge, nonce, data_dir_->node_secret(), hello);
  return hello;
}

void Worker::Daemon::OnWelcome(const v1::Welcome& welcome) {
  spdlog::info("attached to the controller at {}", options_.controller);
  connected_ = true;
  ++connections_;
  disconnect_reason_.clear();
  KeepClusterId(welcome.cluster_id());
  checked_places_.checkpoint_root = welcome.checkpoint_root();
  checks_.Restart();
  seen_log_.Take(welcome.log_mark());
  root_watch_.Begin(welcome.checkpoint_root());
  root_watch_.Tick(steady_clock::now());
  const absl::Status status = kernel_->OnWelcome(welcome, attempts_->Now().steady_ms);
  if (!status.ok()) spdlog::error("{}", Text(status));
}

void Worker::Daemon::KeepClusterId(const std::string& cluster_id) {
  if (cluster_id.empty() || greeting_.cluster_id() == cluster_id) return;
  const absl::Status status = WriteFileAtomically(data_dir_->File("cluster_id"), cluster_id + "\n");
  if (!status.ok()) spdlog::error("{}", Text(status));
  greeting_.set_cluster_id(cluster_id);
}

void Worker::Daemon::OnMessage(const v1::ControllerMessage& message) {
  // A start writes files, and output may have filled the disk since the last tick.
  if (message.has_start_attempt()) output_->FreeSpace(uplink_->Positions());
  if (seen_log_.Take(message)) KeepLogMark();
  const absl::Status status = kernel_->OnMessage(message, attempts_->Now());
  if (!status.ok()) spdlog::error("{}", Text(status));
}

std::optional<v1::WorkerMessage> Worker::Daemon::NextMessage() {
  std::optional<v1::WorkerMessage> message = kernel_->NextMessage(attempts_->Now().steady_ms);
  if (message.has_value() && message->has_heartbeat()) {
    v1::Heartbeat& heartbeat = *message->mutable_heartbeat();
    heartbeat.set_time_ms(clock_.Now());
    for (v1::NodeCheck& check : checks_.Take(checked_places_, steady_clock::now())) {
      *heartbeat.add_checks() = std::move(check);
    }
    if (auto root = root_watch_.TakeReport()) {
      *heartbeat.mutable_checkpoint_root() = *std::move(root);
    }
  }
  return message;
}

void Worker::Daemon::OnClosed(const absl::Status& status) {
  connected_ = false;
  kernel_->OnClosed();
  if (std::exchange(disconnect_reason_, Text(status)) == Text(status)) return;
  spdlog::warn("no controller at {}: {}; ranks continue, retrying until it answers",
               options_.controller, Text(status));
}

absl::StatusOr<std::unique_ptr<Worker>> Worker::Open(const WorkerOptions& options) {
  auto daemon = std::make_unique<Daemon>(options);
  try {
    TRAINYARD_RETURN_IF_ERROR(daemon->Load());
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start the worker's threads: ", error.what(),
                     "; check the number of processes on this machine and ulimit -u"));
  }
  return std::unique_ptr<Worker>(new Worker(std::move(daemon)));
}

Worker::Worker(std::unique_ptr<Daemon> daemon) : daemon_(std::move(daemon)) {}

Worker::~Worker() = default;

void Worker::Run() { daemon_->Run(); }

}  // namespace trainyard::worker
