// A pass that computes numbers of documents, for a later pass of its step.
#ifndef TRAINYARD_DATA_PIPELINE_DOCUMENT_PASS_H_
#define TRAINYARD_DATA_PIPELINE_DOCUMENT_PASS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/documents/block_decoder.h"
#include "data/pipeline/step_pass.h"
#include "data/stages/block_documents.h"

namespace trainyard::data {

class DocumentPass : public StepPass {
 public:
  DocumentPass(std::string out, Plan plan, DecodeSettings decode)
      : StepPass(std::move(out), std::move(plan)), decode_(std::move(decode)) {}

  // Returns the plan of a pass. `settings` must contain everything besides the documents that
  // influences the parts.
  static absl::StatusOr<Plan> PlanFor(const Pipeline& pipeline, const std::string& pass,
                                      nlohmann::ordered_json settings,
                                      const std::vector<InputFile>& files, bool from_earlier_step) {
    nlohmann::ordered_json all = {
        {"pass", pass}, {"field", pipeline.input.field}, {"utf8", pipeline.input.utf8}};
    all[pass] = std::move(settings);
    return Plan::Make(files, std::move(all), LimitsOf(pipeline, from_earlier_step));
  }

  std::string Report(const RunTotals& totals) const override {
    const nlohmann::ordered_json report = {{"plan", plan().Hash()},
                                           {"documents_in", totals.documents_in()},
                                           {"bytes_in", totals.bytes_in()},
                                           {"sums", totals.sums()}};
    return report.dump(2) + "\n";
  }

 protected:
  // Passes the documents of a block to `take`, and returns the record without its parts.
  absl::StatusOr<BlockRecord> ReadBlock(const BlockLease& lease, const Advance& advance,
                                        const TakeDocument& take) const {
    BlockRecord record;
    record.block = lease.block;
    const TakeDocument count = [&](const Document& document) {
      CountInFile(document, &record.counts.files);
      ++record.counts.documents_in;
      record.counts.bytes_in += static_cast<int64_t>(document.text.size());
      return take(document);
    };
    auto lines = ReadDocuments(plan(), plan().blocks()[lease.block], decode_, count, advance);
    if (!lines.ok()) return lines.status();
    record.lines = *std::move(lines);
    record.counts.documents_out = record.counts.documents_in;
    record.counts.bytes_out = record.counts.bytes_in;
    return record;
  }

 private:
  // All documents are kept.
  static void CountInFile(const Document& document, std::vector<FileCounts>* files) {
    if (files->empty() || files->back().file != document.file) files->push_back({document.file});
    FileCounts& counts = files->back();
    ++counts.documents_in;
    ++counts.documents_out;
    counts.bytes_in += static_cast<int64_t>(document.text.size());
    counts.bytes_out = counts.bytes_in;
  }

  const DecodeSettings decode_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_DOCUMENT_PASS_H_
