#include "controller/controller.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/access/listener_rule.h"
#include "controller/access/local_listener.h"
#include "controller/access/server_credentials.h"
#include "controller/api/cluster/database_checks.h"
#include "controller/api/context/api.h"
#include "controller/api/job_files/code_sources.h"
#include "controller/cluster_id.h"
#include "controller/core/observations/observe.h"
#include "controller/directories.h"
#include "controller/front_door.h"
#include "controller/hooks/hook_positions.h"
#include "controller/hooks/hook_sender.h"
#include "controller/http/dashboard.h"
#include "controller/http/login.h"
#include "controller/layout_chooser.h"
#include "controller/loop/ingest.h"
#include "controller/loop/worker_sessions.h"
#include "controller/metrics/metrics_exporter.h"
#include "controller/part_samples.h"
#include "controller/retention/ended_jobs.h"
#include "controller/retention/pruner.h"
#include "controller/root_reader.h"
#include "controller/rpc/log_service.h"
#include "controller/rpc/server.h"
#include "controller/server_info.h"
#include "controller/services.h"
#include "controller/storage/code_cleaner.h"
#include "controller/storage/database_monitor.h"
#include "controller/storage/history_check.h"
#include "controller/storage/leader_note_writer.h"
#include "controller/storage/log_mark_keeper.h"
#include "controller/storage/progress_recovery.h"
#include "controller/storage/shared_sessions.h"
#include "controller/storage/store_scrubber.h"
#include "controller/store_opening.h"
#include "proto/access/address.h"
#include "proto/access/local_socket.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr int kReaderThreads = 4;
constexpr int kSearchThreads = 2;
constexpr int kReaderQueue = 1000;
// The time that open calls have to finish when the controller stops.
constexpr std::chrono::seconds kCallGrace{2};
// The maximum time for which a hook waits for the name of a job.
constexpr std::chrono::seconds kNameWait{2};

StoreOperation OperationOf(Ingest::Write write) {
  return write == Ingest::Write::kMetrics ? StoreOperation::kAppendMetrics
                                          : StoreOperation::kAppendLogs;
}

void Observe(LoopWork work, double seconds, MetricsExporter& exporter) {
  switch (work) {
    case LoopWork::kTick:
      return exporter.ObserveCycle(seconds);
    case LoopWork::kCommit:
      return exporter.ObserveStore(StoreOperation::kAppendEvents, seconds);
    case LoopWork::kSnapshot:
      return exporter.ObserveStore(StoreOperation::kWriteSnapshot, seconds);
  }
}

// Returns the body of /healthz. Empty if all stores work.
std::string HealthProblems(const StorageHealth& health) {
  std::string text;
  for (const v1::StorageProblem& problem : health.Problems()) {
    absl::StrAppend(&text, "cannot store ", problem.store(), ": ", problem.message(), "\n");
  }
  return text;
}

// Opens the local socket. A failure is not fatal, because local callers can use TCP instead.
void ListenLocally(const ControllerOptions& options, int port, LocalListener& local) {
  if (options.token_file.empty()) return;
  const std::string path = LocalSocketPath(options.token_file, port);
  const absl::Status status = local.Start(path, options.token_for_group);
  if (status.ok()) {
    spdlog::info("listening for local callers on {}", path);
  } else {
    spdlog::warn(
        "cannot listen for local callers: {}; local callers must use TCP, where user names are not "
        "verified",
        std::string(status.message()));
  }
}

HookOptions HooksOf(const ControllerOptions& options, const Stores& stores) {
  return {.rules = options.hooks, .positions = HookPositionsOf(stores)};
}

}  // namespace

// Members are in dependency order: each member uses only members above it.
struct Controller::Parts {
  Parts(Stores opened, std::unique_ptr<Loop> recovered, std::string cluster_id,
        v1::GetServerInfoResponse info, const ControllerOptions& options, const Clock& clock)
      : stores(std::move(opened)),
        clock(clock),
        door(options, SessionStoreOf(stores), clock),
        health(clock),
        loop(std::move(recovered)),
        exporter(*loop, loop->View(),
                 {info.version(), info.data_dir(), [this](MetricSet& set) { AddSamples(set); }}),
        api{*loop,
            *stores.events,
            *stores.metrics,
            *stores.logs,
            readers,
            searchers,
            shutdown,
            health,
            [this](const JobEntry& entry, const ClusterView& view) {
              return sessions.OutputComplete(entry, view);
            },
            std::move(info),
            door.grpc_port,
            RecipeDirectories(),
            [this](v1::GetServerInfoResponse& answer) { AddReports(answer); },
            door.gate,
            start_forecaster,
            stores.code_store.get(),
            stores.code_store == nullptr ? nullptr : &code_sources,
            options.hand_over},
        scrubber(DatabaseFilesOf(stores), health, clock),
        database(stores.probe.get(), clock),
        log_marks(LogMarkFileOf(stores), cluster_id),
        ended_jobs(*loop, stores.events->archive(), api.output_complete),
        pruner({*stores.events, *stores.metrics, *stores.logs}, ended_jobs, clock,
               options.retention),
        code_cleaner(stores.code_store.get(), *loop, stores.events->archive()),
        logs(api),
        ingest(*stores.metrics, *stores.logs, health, IngestHandler()),
        hooks(*stores.events, cluster_id, clock, HooksOf(options, stores),
              [this](int64_t job_id) { return JobName(job_id); }),
        sessions(*loop, ingest, *stores.events, std::move(cluster_id)),
        services(api, sessions, door,
                 [this](const std::string& code, v1::CreateLoginCodeResponse& response) {
                   return DescribeLogin(code, response);
                 }),
        root(options.checkpoint_root, options.data_dir, *loop) {
    ConnectToLoop(options);
  }

  void ConnectToLoop(const ControllerOptions& options) {
    loop->Listen([this](const ClusterView& view, const TickSummary& summary) {
      if (!summary.events.empty()) NoteLogMark(view);
      if (summary.log_confirmed) note_writer.ConfirmLog();
      return true;
    });
    loop->ReportHealthTo(health);
    sessions.OnLostEvents(ExitWithLostEvents);
    sessions.OnHigherTerm(options.on_higher_term);
    loop->TimeWork([this](LoopWork work, double seconds) { Observe(work, seconds, exporter); });
    sessions.OnTelemetry([this](const v1::TelemetryBatch& batch, Timestamp now) {
      exporter.ObserveTelemetry(batch, now);
    });
  }

  Ingest::Handler IngestHandler() {
    return {
        .on_output = [this](int64_t job) { NotifyOutput(job); },
        .on_points =
            [this](int64_t job, int64_t step) {
              if (dashboard != nullptr) dashboard->NotifyPoints(job, step);
            },
        .on_write = [this](Ingest::Write write,
                           double seconds) { exporter.ObserveStore(OperationOf(write), seconds); },
        .on_position =
            [this](Ingest::Write write, const StoreMark& mark) {
              stores.events->NoteStore(NameOf(Ingest::StoreOf(write)), mark);
            }};
  }

  // Adds the parts' samples to the metrics page.
  void AddSamples(MetricSet& set) {
    AddIngestSamples(ingest.Statistics(), set);
    AddStorageSamples(health, set);
    AddSpaceSamples(pruner.Space(), set);
    AddScrubSamples(scrubber.Report(), set);
    v1::GetServerInfoResponse info = api.server_info;
    database.AddTo(info);
    AddDatabaseSamples(info, set);
    AddCertificateSample(door.certificate.expires_ms(), set);
    if (dashboard != nullptr) AddStreamSamples(dashboard->Streams(), set);
  }

  // Adds the parts' reports to the answer to GetServerInfo.
  void AddReports(v1::GetServerInfoResponse& answer) {
    AddSpace(pruner.Space(), answer);
    const std::string expiry = door.certificate.Warning();
    if (!expiry.empty()) answer.add_warnings(expiry);
    for (v1::StoreScrub& scrub : scrubber.Report()) *answer.add_scrubs() = std::move(scrub);
    for (v1::HookStatus& hook : hooks.Report()) *answer.add_hooks() = std::move(hook);
    database.AddTo(answer);
    for (std::string& warning : DatabaseWarnings(answer)) {
      answer.add_warnings(std::move(warning));
    }
  }

  // Starts listening for HTTP. Does nothing if no HTTP address is set.
  absl::Status ListenForHttp(const ControllerOptions& options) {
    if (options.http.listen.empty()) return absl::OkStatus();
    http::DashboardOptions settings = options.http;
    settings.tls = options.tls;
    settings.before_answer = options.before_answer;
    settings.render_metrics = [this] { return exporter.RenderMetrics(); };
    settings.health_problems = [this] { return HealthProblems(health); };
    settings.observe_request = [this](const std::string& route, const std::string& status,
                                      double seconds) {
      exporter.ObserveRequest(route, status, seconds);
    };
    TRAINYARD_ASSIGN_OR_RETURN(dashboard, http::Dashboard::Listen(api, settings));
    return absl::OkStatus();
  }

  void StartThreads() {
    layouts.Start();
    pruner.Start();
    code_cleaner.Start();
    scrubber.Start();
    database.Start();
    log_marks.Start();
    door.StartWatches();
    root.Start();
  }

  // Starts to accept calls.
  absl::Status Serve(const ControllerOptions& options) {
    TRAINYARD_ASSIGN_OR_RETURN(
        listening,
        StartServer(
            options.listen,
            {&services.workers, &services.jobs, &logs, &services.metrics, &services.nodes,
             &services.queues, &services.reports, &services.server_info, &services.access,
             &services.code, &services.exec},
            [this](const std::string& method, const std::string& code, double seconds) {
              exporter.ObserveCall(method, code, seconds);
            },
            {MakeServerCredentials(door.token_check, options.tls), &local, options.before_answer}));
    door.grpc_port = listening.port;
    ListenLocally(options, listening.port, local);
    if (dashboard == nullptr) return absl::OkStatus();
    dashboard->Start();
    note_writer.ShowPage(PageAddress(options.advertise, dashboard->address()));
    spdlog::info("dashboard and REST on {}://{}", door.encrypted ? "https" : "http",
                 dashboard->address());
    return absl::OkStatus();
  }

  void RecoverProgress(std::vector<v1::Job> running_and_recent) {
    progress_recovery = std::make_unique<ProgressRecovery>(
        std::move(running_and_recent), *stores.metrics, [this](const RecoveredJob& recovered) {
          loop->Post([this, recovered] { MergeRecovered(recovered, loop->observations()); });
        });
  }

  bool DescribeLogin(const std::string& code, v1::CreateLoginCodeResponse& response) const {
    const auto where = dashboard == nullptr ? std::nullopt : SplitAddress(dashboard->address());
    if (!where.has_value()) return false;
    response.set_path(http::LoginTarget(code));
    response.set_http_port(where->port);
    response.set_tls(door.encrypted);
    response.set_expires_ms(clock.Now() + AccessGate::kCodeLifeMs);
    response.set_session_idle_ms(SessionTable::kIdleMs);
    response.set_session_max_ms(SessionTable::kMaxMs);
    return true;
  }

  // Passes the mark of the newest durable event to each store.
  void NoteLogMark(const ClusterView& view) {
    v1::LogMark mark = stores.events->NewestMark();
    mark.set_job_id(view.state.next_job_id - 1);
    ingest.NoteLogMark(mark);
    log_marks.Note(mark);
  }

  void NotifyOutput(int64_t job_id) {
    logs.NotifyStored(job_id);
    if (dashboard != nullptr) dashboard->NotifyOutput(job_id);
  }

  // Returns the name of the job. Empty if the job is no longer in the state, or if the loop thread
  // does not answer in time. Do not call on the loop thread.
  std::string JobName(int64_t job_id) {
    const auto name = std::make_shared<std::promise<std::string>>();
    std::future<std::string> found = name->get_future();
    loop->Read([job_id, name](const ClusterView& view) {
      const JobEntry* entry = FindEntry(view.state, job_id);
      name->set_value(entry == nullptr ? "" : entry->job.name());
    });
    return found.wait_for(kNameWait) == std::future_status::ready ? found.get() : "";
  }

  void WakeOnEvents() {
    loop->Read([this](const ClusterView&) {
      loop->Listen([this](const ClusterView&, const TickSummary& summary) {
        if (!summary.events.empty()) hooks.Wake();
        if (std::ranges::any_of(summary.events, &v1::Event::has_job_deleted)) pruner.Wake();
        return true;
      });
    });
  }

  Stores stores;
  const Clock& clock;
  FrontDoor door;
  StorageHealth health;
  ShutdownSignal shutdown;
  ReaderPool readers{kReaderThreads, kReaderQueue};
  ReaderPool searchers{kSearchThreads, kReaderQueue};
  LeaderNoteWriter note_writer{stores.notes.get(), readers};
  std::unique_ptr<Loop> loop;
  LayoutChooser layouts{*loop, readers};
  StartForecaster start_forecaster{*loop, readers};
  CodeSources code_sources;
  MetricsExporter exporter;
  const Api api;
  StoreScrubber scrubber;
  DatabaseMonitor database;
  LogMarkKeeper log_marks;
  LoopEndedJobs ended_jobs;
  Pruner pruner;
  CodeCleaner code_cleaner;
  LogService logs;
  // Set before the first worker can attach. Null if HTTP is off.
  std::unique_ptr<http::Dashboard> dashboard;
  Ingest ingest;
  HookSender hooks;
  WorkerSessions sessions;
  Services services;
  RootReader root;
  LocalListener local;
  ListeningServer listening;
  std::unique_ptr<ProgressRecovery> progress_recovery;
  bool stopped = false;
};

absl::StatusOr<std::unique_ptr<Controller>> Controller::Start(const ControllerOptions& options,
                                                              const Clock& clock) {
  ControllerOptions resolved = options;
  TRAINYARD_ASSIGN_OR_RETURN(resolved.data_dir, AbsolutePath(options.data_dir));
  TRAINYARD_ASSIGN_OR_RETURN(Stores stores, OpenStores(resolved));
  return StartOn(std::move(stores), resolved, clock);
}

absl::StatusOr<std::unique_ptr<Controller>> Controller::StartOn(Stores stores,
                                                                const ControllerOptions& options,
                                                                const Clock& clock) {
  ControllerOptions resolved = options;
  for (const ListenerSetting& listener : ListenersOf(options)) {
    TRAINYARD_RETURN_IF_ERROR(CheckListener(listener));
  }
  TRAINYARD_ASSIGN_OR_RETURN(resolved.checkpoint_root, CheckpointRoot(options));
  resolved.loop.core.checkpoint_root = resolved.checkpoint_root;
  resolved.loop.core.stop_on_lost_events = !stores.database.empty() && !options.accept_lost_events;
  TRAINYARD_ASSIGN_OR_RETURN(const auto newest, stores.events->ReadEventsBefore(0, 0, 1));
  if (!newest.empty()) {
    // A store that was moved from PostgreSQL continues its newest term. Workers refuse lower ones.
    int64_t& term = resolved.loop.core.leader_term;
    term = std::max<int64_t>(term, newest.front().event().leader_term());
  }
  TRAINYARD_ASSIGN_OR_RETURN(
      std::unique_ptr<Loop> loop,
      Loop::Recover(*stores.events, clock, resolved.loop, options.replayed.get()));
  TRAINYARD_ASSIGN_OR_RETURN(std::string cluster_id, ClusterIdOf(stores, loop->LogIsEmpty()));
  resolved.retention.checkpoint_root = resolved.checkpoint_root;
  resolved.retention.policy = RetentionOf(stores, options.retention.policy);
  if (stores.directory != nullptr) {
    resolved.retention.data_dir = stores.directory->path();
    if (!newest.empty()) resolved.retention.newest_event_ms = newest.front().event().time_ms();
  }
  TRAINYARD_RETURN_IF_ERROR(RecoverLosses(stores, clock, resolved.loop, loop));
  loop->SetRendezvousOffset(RendezvousOffset(cluster_id));
  std::vector<v1::Job> jobs_to_recover = JobsToRecover(loop->View().state);
  v1::GetServerInfoResponse info = MakeServerInfo(resolved, cluster_id, clock.Now());
  auto parts = std::make_unique<Parts>(std::move(stores), std::move(loop), std::move(cluster_id),
                                       std::move(info), resolved, clock);
  Parts& started = *parts;
  // If listening fails below, the destructor of `controller` stops the parts that have already
  // started.
  std::unique_ptr<Controller> controller(new Controller(std::move(parts)));
  TRAINYARD_RETURN_IF_ERROR(started.ListenForHttp(options));
  started.NoteLogMark(started.loop->View());
  started.loop->Start();
  started.RecoverProgress(std::move(jobs_to_recover));
  started.WakeOnEvents();
  TRAINYARD_RETURN_IF_ERROR(started.hooks.Start());
  started.StartThreads();
  TRAINYARD_RETURN_IF_ERROR(started.Serve(options));
  const std::string& database = started.stores.database;
  spdlog::info("serving on {}, data in {}", started.listening.address,
               database.empty() ? resolved.data_dir : database);
  for (const std::string& danger : Dangers(options)) spdlog::warn("{}", danger);
  return controller;
}

Controller::Controller(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Controller::~Controller() { Stop(); }

void Controller::StopWithin(std::chrono::milliseconds limit,
                            std::unique_ptr<Controller> controller) {
  std::promise<void> stopped;
  std::thread watch([limit, done = stopped.get_future()] {
    if (done.wait_for(limit) == std::future_status::ready) return;
    spdlog::warn(
        "the controller did not stop within {} ms and exits now; no acknowledged change is lost",
        limit.count());
    spdlog::default_logger()->flush();
    std::_Exit(EXIT_SUCCESS);
  });
  controller.reset();
  stopped.set_value();
  watch.join();
}

const std::string& Controller::address() const { return parts_->listening.address; }

std::string Controller::http_address() const {
  return parts_->dashboard == nullptr ? "" : parts_->dashboard->address();
}

void Controller::EndService(std::chrono::milliseconds grace) {
  EndCalls(grace);
  SaveSessions();
  parts_->ingest.Stop();
  parts_->loop->Stop();
  // Writes the last mark.
  parts_->log_marks.Stop();
}

void Controller::EndCalls(std::chrono::milliseconds grace) {
  // Streams check the signal after the next tick.
  parts_->shutdown.Raise();
  parts_->sessions.CloseAll(ShutdownSignal::Status());
  parts_->loop->Post([this] { parts_->loop->ScheduleTick(); });
  parts_->local.Stop();
  parts_->door.token_watch.Stop();
  if (parts_->listening.server != nullptr) {
    parts_->listening.server->Shutdown(std::chrono::system_clock::now() + grace);
    parts_->listening.server->Wait();
  }
  if (parts_->dashboard != nullptr) parts_->dashboard->Stop();
}

void Controller::SaveSessions() {
  if (const absl::Status saved = parts_->door.gate.SaveSessions(); !saved.ok()) {
    spdlog::warn("cannot store the dashboard sessions: {}", std::string(saved.message()));
  }
}

void Controller::Stop() {
  if (std::exchange(parts_->stopped, true)) return;
  EndCalls(kCallGrace);
  parts_->progress_recovery.reset();
  parts_->searchers.Join();
  parts_->readers.Join();
  SaveSessions();
  parts_->scrubber.Stop();
  parts_->hooks.Stop();
  parts_->pruner.Stop();
  parts_->code_cleaner.Stop();
  parts_->root.Stop();
  parts_->ingest.Stop();
  parts_->loop->Stop();
  parts_->log_marks.Stop();
  // A slow database server delays this by seconds, so it is last.
  parts_->database.Stop();
}

}  // namespace trainyard::controller
