#include "data/report/run_step.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "data/documents/bad_lines.h"
#include "data/report/source_entries.h"
#include "data/stages/read_run.h"
#include "data/stages/run_totals.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// The inputs of a run by directory.
class Inputs {
 public:
  explicit Inputs(const Plan& plan) : plan_(plan) {
    for (const Plan::Run& run : plan.runs()) plans_[Absolute(run.directory)] = run.plan;
    for (const PlanFile& file : plan.files()) {
      StepInput& input = InputOf(file);
      ++input.files;
      input.bytes += file.input.bytes;
    }
  }

  void Add(const BlockRecord& record) {
    for (const FileCounts& file : record.counts.files) {
      if (file.file >= plan_.files().size()) continue;
      StepInput& input = InputOf(plan_.files()[file.file]);
      input.documents_in = input.documents_in.value_or(0) + file.documents_in;
      input.documents_out = input.documents_out.value_or(0) + file.documents_out;
      input.bytes_in += file.bytes_in;
      input.bytes_out += file.bytes_out;
    }
  }

  std::vector<StepInput> Take() {
    std::vector<StepInput> list;
    for (auto& [directory, input] : inputs_) list.push_back(std::move(input));
    return list;
  }

 private:
  std::string Absolute(const std::string& path) const {
    return AbsoluteBelow(plan_.working_directory(), path);
  }

  StepInput& InputOf(const PlanFile& file) {
    const std::string parent = std::filesystem::path(file.input.path).parent_path().string();
    const std::string directory = Absolute(parent);
    StepInput& input = inputs_[directory];
    if (!input.directory.empty()) return input;
    input.directory = directory;
    input.use = "train";
    input.documents_in = 0;
    input.documents_out = 0;
    if (const auto found = plans_.find(directory); found != plans_.end()) {
      input.plan = found->second;
    }
    return input;
  }

  const Plan& plan_;
  std::map<std::string, std::string> plans_;
  std::map<std::string, StepInput> inputs_;
};

void AddTotals(const RunTotals& totals, StepReport* step) {
  step->documents_in = totals.documents_in();
  step->documents_out = totals.documents_out();
  step->bytes_in = totals.bytes_in();
  step->bytes_out = totals.bytes_out();
  step->bad_lines = totals.bad_lines().bad();
  step->repaired = totals.bad_lines().repaired();
  for (const auto& [reason, dropped] : totals.dropped()) {
    step->dropped.push_back({reason, dropped.documents, dropped.bytes, dropped.samples});
  }
  std::stable_sort(step->dropped.begin(), step->dropped.end(),
                   [](const StepDrop& a, const StepDrop& b) { return a.documents > b.documents; });
}

// Compares the files of the inputs with the plan.
void CheckInputs(const Plan& plan, StepReport* step) {
  int64_t changed = 0;
  std::string first;
  for (const PlanFile& file : plan.files()) {
    if (CheckUnchanged(file).ok()) continue;
    if (changed++ == 0) first = file.input.path;
  }
  if (changed == 0) return;
  step->problems.push_back(
      std::to_string(changed) + " of " + std::to_string(plan.files().size()) + " inputs of " +
      step->directory + " are missing or have changed since, first " + first +
      "; the numbers describe the earlier contents. Repeat the command with --force to use the "
      "new contents");
}

// The inputs that the settings of a stage name, such as dedup's references.
void AddReferences(const StoredRun& run, StepReport* step) {
  // Catches the exceptions of the JSON library for settings in another form.
  try {
    AddSourceEntries(step->settings.value("against", nlohmann::ordered_json::array()), "against",
                     run.plan.working_directory(), &step->inputs);
  } catch (const nlohmann::json::exception&) {
    step->problems.push_back(step->directory + ": plan.json does not list the inputs of --against");
  }
}

void Describe(const StoredRun& run, StepReport* step) {
  step->directory = run.directory;
  step->name = run.stage;
  step->plan = run.plan_hash;
  step->is_complete = run.report.has_value();
  step->blocks = run.plan.blocks().size();
  step->blocks_done = run.records.size();
  step->settings = run.plan.settings().value(run.stage, nlohmann::ordered_json::object());
  for (const char* key : {"field", "utf8"}) {
    if (run.plan.settings().contains(key)) step->settings[key] = run.plan.settings()[key];
  }
  if (run.report && run.report->contains(run.stage)) step->details = (*run.report)[run.stage];
  if (step->is_complete) return;
  step->problems.push_back(
      step->directory + " is incomplete: " + std::to_string(step->blocks_done) + " of " +
      std::to_string(step->blocks) + " blocks are finished; repeat the command that writes it");
}

// Adds a block if it is one of the slowest.
void AddBlockTime(const Plan& plan, const BlockRecord& record, std::vector<SlowBlock>* slowest) {
  const PlanBlock& block = plan.blocks()[record.block];
  const SlowBlock added = {plan.files()[block.first_file].input.path, block.range_begin,
                           plan.BytesOf(block), record.seconds};
  const auto place = std::upper_bound(
      slowest->begin(), slowest->end(), added,
      [](const SlowBlock& a, const SlowBlock& b) { return a.seconds > b.seconds; });
  slowest->insert(place, added);
  if (slowest->size() > StepReport::kSlowBlocksListed) slowest->pop_back();
}

}  // namespace

absl::StatusOr<StepReport> ReadRunStep(const std::string& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(const StoredRun run, ReadRun(directory));
  StepReport step;
  Describe(run, &step);
  Inputs inputs(run.plan);
  RunTotals totals(run.plan, {.stop = false, .max_fraction = 1});
  for (const auto& [block, record] : run.records) {
    step.seconds += record.seconds;
    AddBlockTime(run.plan, record, &step.slowest);
    inputs.Add(record);
    for (const auto& [bits, documents] : record.counts.lengths) step.lengths[bits] += documents;
    TRAINYARD_RETURN_IF_ERROR(totals.Add(record));
  }
  step.inputs = inputs.Take();
  AddTotals(totals, &step);
  AddReferences(run, &step);
  CheckInputs(run.plan, &step);
  return step;
}

}  // namespace trainyard::data
