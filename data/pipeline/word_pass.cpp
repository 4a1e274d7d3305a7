#include <utility>

#include "data/bpe_training/word_counter.h"
#include "data/pipeline/document_pass.h"
#include "data/pipeline/passes.h"
#include "data/stages/binary_part.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Increase it if the words of a text change.
constexpr int kWordVersion = 1;
// Memory for the distinct words of a block. More words, of a large compressed file, are stored in
// files.
constexpr size_t kTableBytes = size_t{64} << 20;

class WordPass : public DocumentPass {
 public:
  WordPass(std::string out, Plan plan, DecodeSettings decode, TrainingUnit unit)
      : DocumentPass(std::move(out), std::move(plan), std::move(decode)), unit_(unit) {}

  absl::StatusOr<BlockRecord> Work(const BlockLease& lease, const PartNames& names,
                                   const Advance& advance) const override {
    WordCounterOptions options;
    options.unit = unit_;
    options.memory_bytes = kTableBytes;
    options.scratch = names.directory();
    TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<WordCounter> counter,
                               WordCounter::Create(std::move(options)));
    TRAINYARD_ASSIGN_OR_RETURN(BlockRecord record,
                               ReadBlock(lease, advance, [&](const Document& document) {
                                 return counter->Add(0, document.text);
                               }));
    TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<BinaryPartWriter> part,
                               BinaryPartWriter::Create(names, lease, kWordPass));
    TRAINYARD_RETURN_IF_ERROR(counter->Finish([&](std::string_view word, uint64_t count) {
      TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(count));
      TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(static_cast<uint32_t>(word.size())));
      return part->Append(word);
    }));
    TRAINYARD_ASSIGN_OR_RETURN(PartFile file, part->Finish());
    record.parts.push_back(std::move(file));
    return record;
  }

 private:
  const TrainingUnit unit_;
};

}  // namespace

StepPassOr MakeWordPass(const Pipeline& pipeline, const PipelineStep& step) {
  const auto& options = std::get<TrainTokenizerOptions>(step.options);
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> files, DocumentsOf(pipeline, step));
  TRAINYARD_ASSIGN_OR_RETURN(
      Plan plan, DocumentPass::PlanFor(pipeline, kWordPass,
                                       {{"version", kWordVersion}, {"unit", options.unit}}, files,
                                       ReadsEarlierStep(step)));
  const TrainingUnit unit =
      options.unit == "document" ? TrainingUnit::kDocument : TrainingUnit::kLine;
  return std::make_unique<WordPass>(WorkDirectoryOf(pipeline, step, kWordPass), std::move(plan),
                                    DecodeOf(pipeline), unit);
}

}  // namespace trainyard::data
