#include "cli/convert/job_finish.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/fields/node_range.h"

namespace trainyard::cli {
namespace {

// The number of ranks; 0 if neither the sources nor the request state it.
int64_t RanksOf(const JobDraft& draft) {
  const int64_t slots = draft.Whole("resources.slots_per_node").value_or(0);
  // With a range of nodes, the largest gang decides.
  const auto range = ParseNodeRange(draft.Value("resources.nodes"));
  const bool is_range = range.has_value() && range->ok();
  const int64_t nodes = is_range ? (*range)->max : draft.Whole("resources.nodes").value_or(1);
  constexpr int64_t kMost = 1'000'000;
  return 0 < slots && slots <= kMost && 0 < nodes && nodes <= kMost ? slots * nodes : 0;
}

int64_t LayoutRanks(const JobDraft& draft) {
  int64_t ranks = 1;
  for (const char* key : {"layout.tp", "layout.cp", "layout.pp"}) {
    ranks *= std::clamp<int64_t>(draft.Whole(key).value_or(1), 1, 100000);
  }
  return ranks;
}

// Computes the batch size from the accumulation steps and the number of ranks. If the cluster is
// not known, adds a note instead.
void FinishBatch(JobDraft& draft) {
  const int64_t micro = draft.Whole("layout.micro_batch").value_or(0);
  constexpr int64_t kMost = 1'000'000;
  if (draft.accumulation <= 0 || micro <= 0) return;
  if (draft.accumulation > kMost || micro > kMost) return;
  const int64_t share = micro * draft.accumulation;
  const std::optional<int64_t> batch = draft.Whole("train.global_batch");
  const int64_t ranks = RanksOf(draft);
  const bool divides = ranks > 0 && ranks % LayoutRanks(draft) == 0;
  if (batch.has_value() && *batch % share != 0) {
    draft.Note(
        0, absl::StrCat("the batch size ", *batch, " is not a multiple of the micro-batch size (",
                        micro, ") * the number of micro-batches (", draft.accumulation,
                        "); correct one of these settings"));
  } else if (batch.has_value() && !divides) {
    draft.Note(0, absl::StrCat("these batch sizes require ", *batch / share,
                               " data-parallel ranks; pass --nodes and --per-node so that the "
                               "number of GPUs matches"));
  } else if (!batch.has_value() && divides) {
    draft.Set("train.global_batch", absl::StrCat(share * (ranks / LayoutRanks(draft))));
  } else if (!batch.has_value()) {
    draft.Note(0, absl::StrCat("the batch is ", share,
                               " samples per data-parallel rank, but the number of GPUs is "
                               "unknown; pass --nodes and --per-node"));
  }
}

void FinishModel(JobDraft& draft) {
  if (!draft.lacks_model || draft.HasCommand() || draft.Has("model.num_layers")) return;
  draft.Note(0,
             "a DeepSpeed configuration has no `model`, no `data` and no train.seq_length; extend "
             "a recipe (`extends: llama3-8b`), or convert the configuration together with the "
             "launch script (`trainyard convert ds_config.json run.sh`)");
}

// Adds a note if the layout needs several ranks but the job names no cluster of that size.
void FinishCluster(JobDraft& draft) {
  const int64_t data = std::clamp<int64_t>(draft.Whole("layout.dp").value_or(1), 1, 100000);
  const int64_t ranks = LayoutRanks(draft);
  if (draft.HasCommand() || draft.Has("resources.slots_per_node") || ranks * data == 1) return;
  draft.Note(
      0, absl::StrCat("the layout requires ", draft.Has("layout.dp") ? "" : "a multiple of ",
                      ranks * data,
                      " GPUs, but the number of nodes is unknown; pass --nodes and --per-node, or "
                      "set resources.nodes and resources.slots_per_node"));
}

// Removes settings of trainyard-trainer from a job that runs its own program, because that program
// reads its own settings.
void FinishProgram(JobDraft& draft) {
  if (!draft.HasCommand()) return;
  std::vector<std::string> dropped;
  for (const auto& [key, setting] : draft.settings()) {
    const std::string section = key.substr(0, key.find('.'));
    for (const char* name :
         {"model", "train", "optimizer", "schedule", "data", "layout", "evaluation"}) {
      if (section == name && key != section) dropped.push_back(key);
    }
  }
  for (const std::string& key : dropped) draft.Erase(key);
  if (!dropped.empty()) {
    draft.Note(0,
               "the program reads its own settings, so model, batch and optimizer are not in the "
               "job file");
  }
}

}  // namespace

void FinishDraft(JobDraft& draft) {
  if (!draft.HasCommand()) FinishBatch(draft);
  FinishModel(draft);
  FinishCluster(draft);
  FinishProgram(draft);
}

}  // namespace trainyard::cli
