#include "data/tokens/make_token_sink.h"

#include <utility>

#include "data/tokens/llmc_shards.h"
#include "data/tokens/megatron_index.h"
#include "data/tokens/token_packer.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// SPLIT.bin, which contains only tokens, and in Megatron-LM's format SPLIT.idx.
class OneFile : public TokenSink {
 public:
  OneFile(std::unique_ptr<HashedFile> file, std::unique_ptr<MegatronIndex> index)
      : file_(std::move(file)), index_(std::move(index)) {}

  absl::Status Write(std::string_view packed) override { return file_->Write(packed); }

  absl::Status EndDocument(int64_t tokens) override {
    return index_ == nullptr ? absl::OkStatus() : index_->AddDocument(tokens);
  }

  absl::StatusOr<std::vector<TokenFileFacts>> Finish() override {
    std::vector<TokenFileFacts> files(1);
    TRAINYARD_ASSIGN_OR_RETURN(files[0], file_->Finish());
    if (index_ == nullptr) return files;
    TRAINYARD_ASSIGN_OR_RETURN(TokenFileFacts index, index_->Finish());
    files.push_back(std::move(index));
    return files;
  }

 private:
  const std::unique_ptr<HashedFile> file_;
  const std::unique_ptr<MegatronIndex> index_;  // null in the other formats
};

}  // namespace

absl::StatusOr<std::unique_ptr<TokenSink>> MakeTokenSink(OutputFormat format,
                                                         const std::string& directory,
                                                         const std::string& split,
                                                         const Tokenizer& tokenizer) {
  if (format == OutputFormat::kLlmc) {
    return std::make_unique<LlmcShards>(directory, split, *FindLlmcVariant(tokenizer));
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<HashedFile> file,
                             HashedFile::Create(directory, split + ".bin"));
  std::unique_ptr<MegatronIndex> index;
  if (format == OutputFormat::kMegatron) {
    TRAINYARD_ASSIGN_OR_RETURN(
        index, MegatronIndex::Create(directory, split, BytesPerToken(tokenizer.vocab_size())));
  }
  return std::make_unique<OneFile>(std::move(file), std::move(index));
}

}  // namespace trainyard::data
