#include "data/dedup/dedup_run.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/dedup/decide.h"
#include "data/dedup/decider.h"
#include "data/dedup/document_passes.h"
#include "data/dedup/scratch_directory.h"
#include "data/stages/input_sources.h"
#include "data/stages/run_directory.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Increase it if the decisions change for the same settings.
constexpr int kDecisionsVersion = 1;

double Rounded(double similarity) { return std::round(similarity * 10000) / 10000; }

}  // namespace

nlohmann::ordered_json SettingsJson(const DedupSettings& settings, const Plan* against) {
  nlohmann::ordered_json json = {
      {"version", kDecisionsVersion},
      {"preset", settings.preset},
      {"shingle_length", settings.shingle_length},
      {"bands", settings.bands},
      {"rows", settings.rows},
      {"threshold", settings.verify ? nlohmann::json(settings.threshold) : nlohmann::json()},
      {"keep", settings.components ? "components" : "greedy"},
      {"references", against == nullptr ? "" : against->Hash()}};
  if (against == nullptr) return json;
  std::vector<InputFile> files;
  for (const PlanFile& file : against->files()) files.push_back(file.input);
  json["against"] = SourcesJson(SourcesOf(files));
  return json;
}

absl::StatusOr<std::string> ReasonOf(const Decider& decider, const DroppedDocument& dropped) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string id, decider.PlaceOf(dropped.document));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string kept, decider.PlaceOf(dropped.kept));
  const nlohmann::ordered_json reason = {
      {"id", id}, {"kept", kept}, {"similarity", Rounded(dropped.similarity)}};
  // A path need not be UTF-8.
  return reason.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string WithReason(std::string_view json, const std::string& reason) {
  const size_t brace = json.find('{');
  std::string line(json.substr(0, brace + 1));
  line += "\"trainyard_dropped\":" + reason + ",";
  return line.append(json.substr(brace + 1));
}

absl::StatusOr<std::vector<ReportedCluster>> ClustersOf(const Decider& decider) {
  std::vector<ReportedCluster> clusters;
  for (const Cluster& cluster : decider.decisions().largest) {
    ReportedCluster reported;
    TRAINYARD_ASSIGN_OR_RETURN(reported.kept, decider.PlaceOf(cluster.kept));
    reported.documents = cluster.documents;
    reported.lowest_similarity = cluster.lowest_similarity;
    for (const DroppedDocument& dropped : decider.decisions().dropped) {
      if (dropped.kept != cluster.kept) continue;
      if (reported.members.size() == ReportedCluster::kMembers) break;
      TRAINYARD_ASSIGN_OR_RETURN(std::string id, decider.PlaceOf(dropped.document));
      reported.members.push_back({std::move(id), dropped.similarity});
    }
    clusters.push_back(std::move(reported));
  }
  return clusters;
}

nlohmann::ordered_json DetailsJson(const Decider& decider,
                                   const std::vector<ReportedCluster>& clusters) {
  nlohmann::ordered_json largest = nlohmann::ordered_json::array();
  for (const ReportedCluster& cluster : clusters) {
    nlohmann::ordered_json members = nlohmann::ordered_json::array();
    for (const ReportedDuplicate& member : cluster.members) {
      members.push_back({{"id", member.id}, {"similarity", Rounded(member.similarity)}});
    }
    largest.push_back({{"kept", cluster.kept},
                       {"documents", cluster.documents},
                       {"lowest_similarity", Rounded(cluster.lowest_similarity)},
                       {"members", std::move(members)}});
  }
  return {{"references", decider.first_new()},
          {"clusters", decider.decisions().clusters},
          {"largest", std::move(largest)}};
}

namespace {

// Keeps or drops the next document of a block.
class BlockApplier {
 public:
  explicit BlockApplier(const Decider& decider) : decider_(decider) {}

  absl::Status Apply(const Document& document, BlockOutput* output) {
    const size_t block = decider_.first_new_block() + document.block;
    const uint64_t number = decider_.numbers().FirstOf(block) + next_++;
    const std::vector<DroppedDocument>& dropped = decider_.decisions().dropped;
    const auto found = std::lower_bound(
        dropped.begin(), dropped.end(), number,
        [](const DroppedDocument& a, uint64_t other) { return a.document < other; });
    if (found == dropped.end() || found->document != number) {
      return output->Keep(document.json, document.text.size());
    }
    TRAINYARD_ASSIGN_OR_RETURN(const std::string reason, ReasonOf(decider_, *found));
    return output->Drop(document, kDuplicateReason, WithReason(document.json, reason));
  }

 private:
  const Decider& decider_;
  uint64_t next_ = 0;  // index of the next document in the block
};

DedupResult ResultOf(const Decider& decider, const RunTotals& totals,
                     std::vector<ReportedCluster> clusters) {
  DedupResult result;
  result.references = static_cast<int64_t>(decider.first_new());
  result.documents_in = totals.documents_in();
  result.documents_out = totals.documents_out();
  result.bytes_in = totals.bytes_in();
  result.bytes_out = totals.bytes_out();
  result.clusters = decider.decisions().clusters;
  result.largest = std::move(clusters);
  if (totals.bad_lines().bad() > 0) result.bad_lines = totals.bad_lines().Summary();
  result.repaired = totals.bad_lines().repaired();
  return result;
}

// Creates the output directory, or returns the error that RunStage would return much later.
absl::Status CheckOutput(const Plan& plan, RunSettings* run) {
  std::vector<BlockRecord> records;
  TRAINYARD_RETURN_IF_ERROR(RunDirectory::Open(run->out, plan, run->replace, &records).status());
  run->replace = false;  // RunStage must not delete the new directory.
  return absl::OkStatus();
}

std::string ScratchPrefix(const DedupRunSettings& settings) {
  if (!settings.scratch.empty()) return settings.scratch + "/trainyard-dedup-";
  std::string out = settings.run.out;
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out + ".scratch-";
}

}  // namespace

absl::StatusOr<DedupResult> RunDedup(const std::vector<InputFile>& files,
                                     const std::vector<InputFile>& references,
                                     const DedupRunSettings& settings,
                                     const DedupObserver& observer,
                                     const std::atomic<bool>& cancelled) {
  RunSettings run = settings.run;
  Stage stage;
  stage.name = "dedup";
  stage.settings = SettingsJson(settings.dedup, nullptr);
  TRAINYARD_ASSIGN_OR_RETURN(const Plan reference_plan,
                             PlanStage(stage, run.decode, references, settings.limits));
  if (!references.empty()) stage.settings = SettingsJson(settings.dedup, &reference_plan);
  TRAINYARD_ASSIGN_OR_RETURN(const Plan plan, PlanStage(stage, run.decode, files, settings.limits));
  TRAINYARD_RETURN_IF_ERROR(CheckOutput(plan, &run));

  DedupInputs inputs;
  if (!references.empty()) inputs.plans.push_back(&reference_plan);
  inputs.plans.push_back(&plan);
  inputs.decode = run.decode;
  inputs.bad_lines = run.bad_lines;
  inputs.threads = run.threads;
  std::mutex mutex;
  inputs.advance = [&](int64_t bytes) -> absl::Status {
    if (cancelled) return absl::CancelledError("interrupted; repeat the command to continue");
    const std::lock_guard<std::mutex> lock(mutex);
    observer.advance(bytes);
    return absl::OkStatus();
  };
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<ScratchDirectory> scratch,
                             ScratchDirectory::Create(ScratchPrefix(settings)));
  Decider decider(settings.dedup, settings.run.memory_bytes, observer.start, std::move(inputs),
                  scratch->path());
  TRAINYARD_RETURN_IF_ERROR(decider.Run());
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<ReportedCluster> clusters, ClustersOf(decider));

  stage.details = DetailsJson(decider, clusters);
  stage.begin_block = [&decider]() -> ProcessDocument {
    const auto applier = std::make_shared<BlockApplier>(decider);
    return [applier](const Document& document, BlockOutput* output) {
      return applier->Apply(document, output);
    };
  };
  const RunObserver stage_observer = {
      [&observer](size_t, size_t, int64_t bytes) { observer.start("writing", bytes); },
      observer.advance};
  TRAINYARD_ASSIGN_OR_RETURN(const RunTotals totals,
                             RunStage(stage, plan, run, stage_observer, cancelled));
  return ResultOf(decider, totals, std::move(clusters));
}

}  // namespace trainyard::data
