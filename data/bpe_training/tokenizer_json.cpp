#include "data/bpe_training/tokenizer_json.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "proto/files/durable_file.h"

namespace trainyard::data {
namespace {

// use_regex selects the split rule of GPT-2.
constexpr char kByteLevel[] =
    R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true})";

std::string Quoted(const std::string& text) { return nlohmann::json(text).dump(); }

// Lines of a JSON array or object.
class Lines {
 public:
  void Add(const std::string& line) {
    text_ += text_.empty() ? "\n      " : ",\n      ";
    text_ += line;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string AddedTokens(const TrainedBpe& trained) {
  Lines lines;
  for (size_t id = 0; id < trained.special_tokens; ++id) {
    lines.Add(absl::StrCat(R"({"id":)", id, R"(,"content":)", Quoted(trained.tokens[id]),
                           R"(,"single_word":false,"lstrip":false,"rstrip":false,)",
                           R"("normalized":false,"special":true})"));
  }
  return lines.text();
}

std::string Vocabulary(const TrainedBpe& trained) {
  Lines lines;
  for (size_t id = 0; id < trained.tokens.size(); ++id) {
    lines.Add(absl::StrCat(Quoted(trained.tokens[id]), ":", id));
  }
  return lines.text();
}

// Every version of the format accepts a merge as text with a space. No part contains a space,
// because the byte alphabet has none.
std::string Merges(const TrainedBpe& trained) {
  Lines lines;
  for (const BpeMerge& merge : trained.merges) {
    lines.Add(Quoted(trained.tokens[merge.left] + " " + trained.tokens[merge.right]));
  }
  return lines.text();
}

}  // namespace

std::string ToTokenizerJson(const TrainedBpe& trained) {
  return absl::StrCat(
      "{\n  \"version\":\"1.0\",\n  \"truncation\":null,\n  \"padding\":null,\n",
      "  \"added_tokens\":[", AddedTokens(trained), "],\n  \"normalizer\":null,\n",
      "  \"pre_tokenizer\":", kByteLevel, ",\n  \"post_processor\":null,\n",
      "  \"decoder\":", kByteLevel, ",\n",
      R"(  "model":{"type":"BPE","dropout":null,"unk_token":null,)",
      R"("continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":false,)",
      R"("byte_fallback":false,"ignore_merges":false,)", "\n    \"vocab\":{", Vocabulary(trained),
      "},\n    \"merges\":[", Merges(trained), "]\n  }\n}\n");
}

absl::Status WriteTokenizerJson(const TrainedBpe& trained, const std::string& path) {
  const FileResult failed = WriteFileAtomically(path, ToTokenizerJson(trained), {.mode = 0644});
  if (!failed.has_value()) return absl::OkStatus();
  const std::string message = absl::StrCat(failed->action, ": ", std::strerror(failed->number));
  if (failed->number != ENOSPC && failed->number != EDQUOT) return absl::InternalError(message);
  return absl::ResourceExhaustedError(message + "; free disk space, or choose another path");
}

}  // namespace trainyard::data
