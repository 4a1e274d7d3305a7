#include "data/prepare/views/show_data.h"

#include <memory>
#include <utility>

#include "data/prepare/tokenizers/choose_tokenizer.h"
#include "data/prepare/tokenizers/described_tokenizer.h"
#include "data/report/run_text.h"
#include "data/report/token_document.h"
#include "data/report/token_origins.h"
#include "data/stages/read_run.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/dataset_description.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

absl::Status ShowOfRun(const StoredRun& run, const std::string& name, ShownDocument* shown) {
  TRAINYARD_ASSIGN_OR_RETURN(RunText read, ReadRunText(run, name));
  shown->text = std::move(read.text);
  ShownRun facts = {run.stage,
                    read.document.is_dropped,
                    read.document.number,
                    std::move(read.reason),
                    std::move(read.fields),
                    {}};
  facts.origins = OriginsOf(run, read.document);
  shown->run = std::move(facts);
  return absl::OkStatus();
}

absl::Status ShowOfTokens(const std::string& directory, const std::string& name,
                          ShownDocument* shown) {
  TRAINYARD_ASSIGN_OR_RETURN(const DatasetDescription description, ReadDescription(directory));
  TRAINYARD_ASSIGN_OR_RETURN(const nlohmann::json tokenizer_json,
                             ReadTokenizerDescription(directory));
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer,
                             LoadDescribed(directory, tokenizer_json));
  TRAINYARD_ASSIGN_OR_RETURN(TokenDocument document,
                             FindTokenDocument(directory, description, name));
  shown->tokens =
      ShownTokens{document.split, document.number, document.first_token, document.ids.size(), {}};
  for (const SplitDescription& split : description.splits) {
    if (split.split != document.split) continue;
    shown->tokens->origins = OriginsOfToken(directory, split, document.first_token);
  }
  TextPieces pieces = PiecesOf(*tokenizer, "", std::move(document.ids));
  pieces.source = pieces.name;
  shown->text = pieces.text;
  shown->tokenizers.push_back(std::move(pieces));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ShownDocument> ShowDocument(const ShowOptions& options) {
  ShownDocument shown;
  shown.directory = options.directory;
  if (IsRunDirectory(options.directory)) {
    TRAINYARD_ASSIGN_OR_RETURN(const StoredRun run, ReadRun(options.directory));
    TRAINYARD_RETURN_IF_ERROR(ShowOfRun(run, options.document, &shown));
  } else {
    TRAINYARD_RETURN_IF_ERROR(ShowOfTokens(options.directory, options.document, &shown));
  }
  for (const std::string& name : options.tokenizers) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer,
                               ChooseTokenizer(name, options.tokenizer_options));
    shown.tokenizers.push_back(PiecesOf(*tokenizer, name, shown.text));
  }
  return shown;
}

}  // namespace trainyard::data
