#include "worker/worker.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/access/address.h"
#include "proto/contract/leader_term.h"
#include "proto/support/clock.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"
#include "worker/attempt_keeper.h"
#include "worker/code_sharing.h"
#include "worker/condition_watch.h"
#include "worker/core/uplink.h"
#include "worker/core/worker_kernel.h"
#include "worker/device/network_interface.h"
#include "worker/device_readings.h"
#include "worker/exec_keeper.h"
#include "worker/greeting.h"
#include "worker/limit_keeper.h"
#include "worker/loop_watch.h"
#include "worker/metrics/metrics_server.h"
#include "worker/node_checks.h"
#include "worker/output_keeper.h"
#include "worker/position_keeper.h"
#include "worker/process/process_limit.h"
#include "worker/process/rank_group.h"
#include "worker/rank_marks.h"
#include "worker/root_watch.h"
#include "worker/rpc/attach_stream.h"
#include "worker/spool/attempt_folders.h"
#include "worker/spool/data_dir.h"
#include "worker/spool/telemetry_reserve.h"

namespace trainyard::worker {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The interval between checks for new bytes in files and for kills that are due.
constexpr milliseconds kTick(200);
// Interval between updates of the statistics for Prometheus.
constexpr milliseconds kPublishEvery(1000);
// The interval between checks of the disk's free space. The interval is short, because output at 1
// GB/s fills 200 MB in this time.
constexpr milliseconds kFreeSpaceEvery(200);
// Used with stop_ranks_on_exit. The upper limit on a job's own grace and on the wait that follows
// the end of the ranks: until the controller has acknowledged the last facts and output.
constexpr Timestamp kExitGraceMsMax = 10'000;
constexpr milliseconds kFarewell(1000);

// Ends ranks that a worker started in this data directory before its contents were lost. These
// ranks use slots that this worker offers again. Returns this worker's place (v1::Hello).
std::string EndStrays(const RankMarks& marks) {
  const RankMarks::Strays strays = marks.KillStrays();
  if (strays.killed > 0) {
    spdlog::warn(
        "killed {} process(es) of ranks, which a worker had started with this data directory "
        "before the contents of the directory were lost",
        strays.killed);
  }
  RemoveEmptyRankGroups();
  return strays.all_ended ? marks.PlaceOfBoot() : "";
}

// FAILED_PRECONDITION if other machines could read the names and the speed of jobs, unless
// `insecure` is set.
absl::Status CheckMetricsListen(const WorkerOptions& options) {
  const auto where = SplitAddress(options.metrics_listen);
  // If the text is not an address, the start of the listener reports the error.
  if (!where.has_value() || IsLoopback(where->host)) return absl::OkStatus();
  if (!options.insecure) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--metrics-listen ", options.metrics_listen,
        " can be read from other machines, without a token and unencrypted; listen on 127.0.0.1 ",
        "and let a Prometheus on this machine forward the metrics (deploy/prometheus/README.md), "
        "or pass --insecure only on a trusted network"));
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
  absl::Status Admit(const v1::ControllerMessage& message) override;
  void OnWelcome(const v1::Welcome& welcome) override;
  void OnMessage(const v1::ControllerMessage& message) override;
  std::optional<v1::WorkerMessage> NextMessage() override;
  void OnClosed(const std::string& controller, const absl::Status& status) override;

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
  // Reserves more space for ranks that have written more telemetry than the initial reserve.
  void ReserveTelemetry();
  void SetCondition();
  void OnBlocked(const std::string& kernel_function);

  const WorkerOptions options_;
  const SystemClock clock_;
  asio::io_context loop_{1};
  asio::signal_set signals_;
  asio::steady_timer tick_timer_;
  std::unique_ptr<DataDir> data_dir_;
  // The Hello without the attempts.
  v1::Hello greeting_;
  std::unique_ptr<AttemptKeeper> attempts_;
  std::unique_ptr<ExecKeeper> execs_;
  std::unique_ptr<Uplink> uplink_;
  std::unique_ptr<WorkerKernel> kernel_;
  // Sources that were found on disk before the uplink existed.
  std::vector<std::unique_ptr<StreamSource>> early_sources_;
  std::unique_ptr<AttachStream> stream_;
  std::unique_ptr<OutputKeeper> output_;
  TelemetryReserve telemetry_reserve_;
  std::unique_ptr<ConditionWatch> condition_;
  std::unique_ptr<LimitKeeper> limits_;
  steady_clock::time_point free_space_due_;
  std::unique_ptr<PositionKeeper> positions_;
  NodeCode code_;
  // Null if metrics are turned off.
  std::unique_ptr<MetricsServer> metrics_;
  steady_clock::time_point publish_due_;
  FactTotals fact_totals_;
  NodeChecks checks_;
  DeviceReadings device_readings_;
  CheckedPlaces checked_places_;
  RootWatch root_watch_;
  bool connected_ = false;
  int64_t connections_ = 0;

  // The last logged reason for a disconnect, by controller. The same reason is not logged again.
  std::map<std::string, std::string> disconnect_reasons_;
  // True from the start of the exit, while the worker stops its ranks and sends its last messages.
  bool exiting_ = false;
  std::optional<steady_clock::time_point> farewell_until_;
  // Declared last and therefore destroyed first, because its thread uses the members above.
  std::unique_ptr<LoopWatch> loop_watch_;
};

absl::Status Worker::Daemon::Load() {
  TRAINYARD_ASSIGN_OR_RETURN(data_dir_, DataDir::Open(options_.data_dir));
  // End strays (processes that earlier workers left running) before storing the identity. A full
  // disk may have free space after the strays have closed their files.
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
  condition_ = std::make_unique<ConditionWatch>(data_dir_->path(), options_.free_space_floor);
  SetCondition();
  TRAINYARD_RETURN_IF_ERROR(ServeMetrics());
  stream_ = std::make_unique<AttachStream>(loop_, *this, ControllerOf(options_));
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
  // Ignore an error, because the address is also in the log.
  const std::string path = data_dir_->File("metrics_address");
  const absl::Status status = WriteFileAtomically(path, metrics_->address() + "\n");
  if (!status.ok()) spdlog::warn("{}; the contents of {} may be out of date", Text(status), path);
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
    // If the attempt's start.pb is lost, there is no spec.
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
  options.data_program = (program.parent_path() / "trainyard-data").string();
  options.secrets_dir = checked_places_.secrets_dir;
  options.inventory = greeting_.inventory();
  TRAINYARD_ASSIGN_OR_RETURN(code_, OpenNodeCode(options_, *data_dir_, greeting_.address()));
  options.code_trees = code_.trees;
  options.limits = LimitsOnMachine(options_.limits, ProcessesOfMachine());
  options.network_interface = InterfaceOf(greeting_.address());
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
  execs_ = std::make_unique<ExecKeeper>(*attempts_, program.string(), options_.token_file);
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
  positions_ = std::make_unique<PositionKeeper>(*data_dir_, greeting_.cluster_id());
  for (const StreamPosition& stored : positions_->ReadOffsets()) uplink_->AssumeStored(stored);
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
    // Set this first, so that the controller places no further attempts here.
    exiting_ = true;
    kernel_->Leave(attempts_->Now().steady_ms);
    stream_->Wake();
    ExitWhenAllSent();
    return AwaitSignal();
  }
  // A second signal means that the user does not want to wait, so there is no grace.
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
  execs_->Tick();
  if (root_watch_.Tick(steady_clock::now())) kernel_->ReportNow(attempts_->Now().steady_ms);
  stream_->Wake();
  FreeSpace();
  positions_->Keep(uplink_->Positions(), greeting_.cluster_id(), steady_clock::now());
  PublishMetrics();
  if (exiting_) ExitWhenAllSent();
}

void Worker::Daemon::FreeSpace() {
  const std::vector<StreamPosition> streams = uplink_->Positions();
  limits_->Check(attempts_->kernel().attempts().Ranks(), streams, condition_->disk_size(),
                 attempts_->Now().steady_ms,
                 [this](const RankKey& rank, const std::string& reason) {
                   attempts_->kernel().EndForLimit(rank, reason);
                 });
  const auto now = steady_clock::now();
  if (now < free_space_due_) return;
  free_space_due_ = now + kFreeSpaceEvery;
  output_->FreeSpace(streams);
  ReserveTelemetry();
  SetCondition();
}

void Worker::Daemon::ReserveTelemetry() {
  const AttemptFolders folders(data_dir_->path());
  std::vector<GuardedPath> files;
  for (const RankView& rank : attempts_->kernel().attempts().Ranks()) {
    const bool writes = rank.is_first && std::string_view(rank.state) == "running";
    if (writes) files.push_back(folders.TelemetryFile(rank.key));
  }
  telemetry_reserve_.Extend(files);
}

void Worker::Daemon::SetCondition() {
  kernel_->SetCondition(condition_->Look(clock_.Now()), attempts_->Now().steady_ms);
}

// Tells the controller that the loop is blocked. The message does not count as a heartbeat. Called
// on the thread of loop_watch_.
void Worker::Daemon::OnBlocked(const std::string& kernel_function) {
  const std::string place = kernel_function.empty() ? "" : absl::StrCat(" in ", kernel_function);
  v1::WorkerMessage message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  heartbeat.set_blocked(true);
  heartbeat.mutable_condition()->set_trouble(
      absl::StrCat("its worker is blocked", place, ", probably by the disk of ", data_dir_->path(),
                   "; check that disk on the node, for example with ls"));
  stream_->WriteNow(std::move(message));
}

void Worker::Daemon::ExitWhenAllSent() {
  const bool stops = options_.stop_ranks_on_exit;
  if (stops && attempts_->kernel().attempts().AnyAlive()) return;
  const auto now = steady_clock::now();
  if (!farewell_until_.has_value()) farewell_until_ = now + kFarewell;
  const FactLog& facts = attempts_->facts();
  // If the ranks keep running, the worker may exit before everything is sent. The worker's next
  // start sends the rest.
  const bool sent =
      !stops || (attempts_->kernel().AllWritten() && facts.After(facts.acknowledged()) == nullptr &&
                 uplink_->in_flight_bytes() == 0);
  const bool all_sent = sent && (kernel_->HasSentFarewell() || !connected_);
  if (all_sent || now >= *farewell_until_) loop_.stop();
}

v1::Hello Worker::Daemon::MakeHello(const std::string& challenge, const std::string& nonce) {
  v1::Hello hello = kernel_->MakeHello(greeting_);
  hello.set_time_ms(clock_.Now());
  const v1::LogMark& mark = positions_->newest_mark();
  if (mark.sequence() != 0) *hello.mutable_log_mark() = mark;
  SetLeaderTerm(positions_->leader_term(), hello);
  *hello.mutable_checkpoint_root() = root_watch_.newest();
  SignHello(challenge, nonce, data_dir_->node_secret(), hello);
  return hello;
}

absl::Status Worker::Daemon::Admit(const v1::ControllerMessage& message) {
  return positions_->Admit(message, greeting_.cluster_id());
}

void Worker::Daemon::OnWelcome(const v1::Welcome& welcome) {
  spdlog::info("attached to the controller at {}", stream_->controller());
  connected_ = true;
  ++connections_;
  disconnect_reasons_.clear();
  KeepClusterId(welcome.cluster_id(), *data_dir_, greeting_);
  checked_places_.checkpoint_root = welcome.checkpoint_root();
  checks_.Restart();
  positions_->Take(welcome);
  root_watch_.Begin(welcome.checkpoint_root());
  root_watch_.Tick(steady_clock::now());
  const absl::Status status = kernel_->OnWelcome(welcome, attempts_->Now().steady_ms);
  if (!status.ok()) spdlog::error("{}", Text(status));
}

void Worker::Daemon::OnMessage(const v1::ControllerMessage& message) {
  if (message.has_open_exec()) return execs_->Open(message.open_exec(), stream_->controller());
  // Free space first: the start of an attempt writes files, and output may have filled the disk
  // since the last tick.
  if (message.has_start_attempt()) output_->FreeSpace(uplink_->Positions());
  positions_->Take(message, greeting_.cluster_id());
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
    for (v1::DeviceReading& reading :
         device_readings_.Take(checked_places_.inventory, steady_clock::now())) {
      *heartbeat.add_devices() = std::move(reading);
    }
    if (auto root = root_watch_.TakeReport()) {
      *heartbeat.mutable_checkpoint_root() = *std::move(root);
    }
  }
  return message;
}

void Worker::Daemon::OnClosed(const std::string& controller, const absl::Status& status) {
  connected_ = false;
  kernel_->OnClosed();
  if (std::exchange(disconnect_reasons_[controller], Text(status)) == Text(status)) return;
  spdlog::warn("no controller at {}: {}; ranks continue. Retrying until a controller answers",
               controller, Text(status));
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
