#include "data/pipeline/run_pipeline.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "data/leases/lease_client.h"
#include "data/leases/lease_server.h"
#include "data/pipeline/make_pass.h"
#include "data/pipeline/pipeline.h"
#include "data/pipeline/pipeline_directory.h"
#include "data/pipeline/report_sender.h"
#include "data/pipeline/run_steps.h"
#include "data/pipeline/run_telemetry.h"
#include "data/pipeline/step_pass.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

int64_t NowMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

int ThreadsOf(const Pipeline& pipeline, const Ranks& ranks) {
  if (pipeline.input.jobs > 0) return pipeline.input.jobs;
  if (ranks.threads > 0) return ranks.threads;
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// Equal in all ranks of a run.
std::string GroupOf(const Pipeline& pipeline, const Ranks& ranks) {
  return pipeline.hash + "/" + std::to_string(ranks.world_size) + "/" + ranks.attempt;
}

absl::StatusOr<std::string> RunSteps(const RunContext& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<PipelineDirectory> directory,
                             PipelineDirectory::Open(context.pipeline));
  PassRunner runner(context);
  ReportSender reports(context);
  std::string summary;
  for (const PipelineStep& step : context.pipeline.steps) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::string line, RunStep(&runner, step));
    summary += line;
    reports.Send(step);
    if (context.cancelled) {
      return absl::CancelledError("interrupted; repeat the command to continue");
    }
  }
  return summary + "directory       " + context.pipeline.out + "\n";
}

absl::StatusOr<std::string> Lead(const Pipeline& pipeline, const Ranks& ranks,
                                 RunTelemetry* telemetry, Progress* progress,
                                 const std::atomic<bool>& cancelled) {
  std::unique_ptr<LeaseServer> server;
  if (ranks.world_size > 1) {
    LeaseServerSettings settings;
    settings.port = ranks.port;
    settings.group = GroupOf(pipeline, ranks);
    TRAINYARD_ASSIGN_OR_RETURN(server, LeaseServer::Start(settings));
  }
  const RunContext context = {
      pipeline, ThreadsOf(pipeline, ranks), server.get(), progress, telemetry, cancelled};
  absl::StatusOr<std::string> summary = RunSteps(context);
  if (server != nullptr) server->Finish(summary.status());
  return summary;
}

// Helps with a pass of rank 0. Returns an error only if the run has ended.
absl::Status Help(const Pipeline& pipeline, LeaseClient* client, const LeaseClient::Pass& pass,
                  int threads, RunTelemetry* telemetry, const std::atomic<bool>& cancelled) {
  const absl::StatusOr<std::unique_ptr<StepPass>> made = MakeNamedPass(pipeline, pass.name);
  if (!made.ok()) return client->FailRun(pass, made.status());
  if ((*made)->plan().Hash() != pass.plan) {
    return client->FailRun(
        pass, absl::FailedPreconditionError(
                  "this node and rank 0 find different input files; put inputs and output on "
                  "shared storage, at a path that is the same on all nodes"));
  }
  const PartNames names((*made)->out(), (*made)->plan().blocks().size());
  const BlockWork work = [&](const BlockLease& lease, const Advance& advance) {
    return (*made)->Work(lease, names, advance);
  };
  const std::unique_ptr<BlockSource> blocks = client->BlocksOf(pass);
  telemetry->EnterPhase(Phase::kTrain);
  const int useful =
      ThreadsFor(threads, pipeline.memory_mib << 20, (*made)->plan().blocks().size());
  const absl::Status status = RunBlocks(
      blocks.get(), work, useful, [&](int64_t bytes) { telemetry->Advance(bytes); }, cancelled);
  telemetry->EnterPhase(Phase::kLoad);
  return status;
}

absl::StatusOr<std::string> Follow(const Pipeline& pipeline, const Ranks& ranks,
                                   RunTelemetry* telemetry, const std::atomic<bool>& cancelled) {
  LeaseClientSettings settings;
  settings.host = ranks.address;
  settings.port = ranks.port;
  settings.group = GroupOf(pipeline, ranks);
  settings.rank = ranks.rank;
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<LeaseClient> client,
                             LeaseClient::Connect(settings, cancelled));
  uint64_t last = 0;
  for (;;) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::optional<LeaseClient::Pass> pass, client->Next(last));
    if (!pass) return "";
    last = pass->number;
    TRAINYARD_RETURN_IF_ERROR(
        Help(pipeline, client.get(), *pass, ThreadsOf(pipeline, ranks), telemetry, cancelled));
  }
}

}  // namespace

absl::StatusOr<std::string> RunPipeline(const PipelineOptions& options, const Ranks& ranks,
                                        Progress* progress, const std::atomic<bool>& cancelled) {
  RunTelemetry telemetry(ranks.telemetry, NowMs);
  telemetry.EnterPhase(Phase::kInit);
  TRAINYARD_ASSIGN_OR_RETURN(const Pipeline pipeline, ReadPipeline(options.pipeline));
  // Ranks compute in passes only. Between passes they wait for rank 0, or are rank 0, which merges.
  telemetry.EnterPhase(Phase::kLoad);
  absl::StatusOr<std::string> summary = ranks.rank == 0
                                            ? Lead(pipeline, ranks, &telemetry, progress, cancelled)
                                            : Follow(pipeline, ranks, &telemetry, cancelled);
  if (summary.ok()) telemetry.EnterPhase(Phase::kDone);
  return summary;
}

}  // namespace trainyard::data
