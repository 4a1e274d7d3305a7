#include <utility>

#include "data/pipeline/document_pass.h"
#include "data/pipeline/encoded_parts.h"
#include "data/pipeline/passes.h"
#include "data/prepare/tokenizers/choose_tokenizer.h"
#include "data/tokenizer/fingerprint.h"
#include "data/tokens/token_packer.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Increase it if the parts of the same documents change.
constexpr int kTokenVersion = 2;

class TokenPass : public DocumentPass {
 public:
  TokenPass(std::string out, Plan plan, DecodeSettings decode, std::unique_ptr<Tokenizer> tokenizer)
      : DocumentPass(std::move(out), std::move(plan), std::move(decode)),
        tokenizer_(std::move(tokenizer)) {}

  absl::StatusOr<BlockRecord> Work(const BlockLease& lease, const PartNames& names,
                                   const Advance& advance) const override {
    TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<BinaryPartWriter> part,
                               BinaryPartWriter::Create(names, lease, kEncodedStream));
    TokenPacker packer(tokenizer_->vocab_size());
    int64_t tokens = 0;
    std::vector<uint32_t> ids;
    std::string packed;
    TRAINYARD_ASSIGN_OR_RETURN(
        BlockRecord record, ReadBlock(lease, advance, [&](const Document& document) {
          ids.clear();
          packed.clear();
          tokenizer_->Encode(document.text, &ids);
          packer.Pack(ids, &packed);
          tokens += static_cast<int64_t>(ids.size());
          return AppendEncoded(document, tokenizer_->HasSpecialText(document.text), packed,
                               part.get());
        }));
    TRAINYARD_ASSIGN_OR_RETURN(PartFile file, part->Finish());
    record.parts.push_back(std::move(file));
    record.counts.sums[kTokenSum] = tokens;
    return record;
  }

 private:
  const std::unique_ptr<Tokenizer> tokenizer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> TokenizerOf(const Pipeline& pipeline,
                                                       const TokenizeStep& options) {
  return ChooseTokenizer(options.tokenizer.empty() ? TrainedTokenizer(pipeline) : options.tokenizer,
                         options.tokenizer_options);
}

StepPassOr MakeTokenPass(const Pipeline& pipeline, const PipelineStep& step, bool validation) {
  const auto& options = std::get<TokenizeStep>(step.options);
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, TokenizerOf(pipeline, options));
  TRAINYARD_ASSIGN_OR_RETURN(
      const std::vector<InputFile> files,
      validation ? FindInputFiles(ValidationOf(pipeline, options)) : DocumentsOf(pipeline, step));
  nlohmann::ordered_json settings = {{"version", kTokenVersion},
                                     {"tokenizer", FingerprintText(tokenizer->fingerprint())},
                                     {"special_text", options.tokenizer_options.special_text}};
  const std::string pass = validation ? kValidationPass : kTrainPass;
  TRAINYARD_ASSIGN_OR_RETURN(Plan plan,
                             DocumentPass::PlanFor(pipeline, pass, std::move(settings), files,
                                                   !validation && ReadsEarlierStep(step)));
  return std::make_unique<TokenPass>(WorkDirectoryOf(pipeline, step, pass), std::move(plan),
                                     DecodeOf(pipeline), std::move(tokenizer));
}

}  // namespace trainyard::data
