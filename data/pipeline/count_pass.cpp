#include <utility>

#include "data/pipeline/document_pass.h"
#include "data/pipeline/passes.h"
#include "data/prepare/tokenizers/choose_tokenizer.h"
#include "data/tokenizer/fingerprint.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Increase it if the counts of the same documents change.
constexpr int kCountVersion = 1;

struct NamedTokenizer {
  std::string source;
  std::unique_ptr<Tokenizer> tokenizer;
};

class CountPass : public DocumentPass {
 public:
  CountPass(std::string out, Plan plan, DecodeSettings decode,
            std::vector<NamedTokenizer> tokenizers)
      : DocumentPass(std::move(out), std::move(plan), std::move(decode)),
        tokenizers_(std::move(tokenizers)) {}

  absl::StatusOr<BlockRecord> Work(const BlockLease& lease, const PartNames&,
                                   const Advance& advance) const override {
    std::vector<int64_t> tokens(tokenizers_.size(), 0);
    std::vector<uint32_t> ids;
    TRAINYARD_ASSIGN_OR_RETURN(BlockRecord record,
                               ReadBlock(lease, advance, [&](const Document& document) {
                                 for (size_t i = 0; i < tokenizers_.size(); ++i) {
                                   ids.clear();
                                   tokenizers_[i].tokenizer->Encode(document.text, &ids);
                                   tokens[i] += static_cast<int64_t>(ids.size());
                                 }
                                 return absl::OkStatus();
                               }));
    for (size_t i = 0; i < tokenizers_.size(); ++i) {
      record.counts.sums[tokenizers_[i].source] = tokens[i];
    }
    return record;
  }

 private:
  const std::vector<NamedTokenizer> tokenizers_;
};

}  // namespace

std::vector<std::string> TokenizersOf(const Pipeline& pipeline, const CountOptions& options) {
  if (!options.tokenizers.empty()) return options.tokenizers;
  return {TrainedTokenizer(pipeline)};
}

StepPassOr MakeCountPass(const Pipeline& pipeline, const PipelineStep& step) {
  const auto& options = std::get<CountOptions>(step.options);
  std::vector<NamedTokenizer> tokenizers;
  nlohmann::ordered_json fingerprints = nlohmann::ordered_json::object();
  for (const std::string& source : TokenizersOf(pipeline, options)) {
    TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer,
                               ChooseTokenizer(source, options.tokenizer_options));
    fingerprints[source] = FingerprintText(tokenizer->fingerprint());
    tokenizers.push_back({source, std::move(tokenizer)});
  }
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> files, DocumentsOf(pipeline, step));
  nlohmann::ordered_json settings = {{"version", kCountVersion}, {"tokenizers", fingerprints}};
  TRAINYARD_ASSIGN_OR_RETURN(Plan plan,
                             DocumentPass::PlanFor(pipeline, kCountPass, std::move(settings), files,
                                                   ReadsEarlierStep(step)));
  return std::make_unique<CountPass>(DirectoryOf(pipeline, step), std::move(plan),
                                     DecodeOf(pipeline), std::move(tokenizers));
}

}  // namespace trainyard::data
