#include "data/tokenizer/sentencepiece_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "data/tokenizer/proto_fields.h"
#include "data/unicode/code_point.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::data {
namespace {

// Numbers of sentencepiece_model.proto.
enum ModelField : uint32_t { kPieces = 1, kTrainer = 2, kNormalizer = 3 };
enum PieceField : uint32_t { kPieceText = 1, kPieceScore = 2, kPieceType = 3 };
enum PieceType : uint64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUser = 4,
  kUnused = 5,
  kByte = 6
};
enum TrainerField : uint32_t { kModelType = 3, kSpaceAsSuffix = 24 };
enum ModelType : uint64_t { kUnigram = 1, kBpe = 2 };
enum NormalizerField : uint32_t { kCharacterMap = 2, kPrefix = 3, kRemoveSpaces = 4, kEscape = 5 };

struct Piece {
  std::string_view text;
  float score = 0;
  uint64_t type = kNormal;
};

struct Model {
  std::vector<Piece> pieces;
  uint64_t type = kUnigram;
  bool space_as_suffix = false;
  bool has_character_map = false;
  bool prefix = true;
  bool removes_spaces = true;
  bool escapes_spaces = true;
};

// Calls on_field for each field. Returns false if the message is damaged.
template <typename OnField>
bool ForEachField(std::string_view message, OnField on_field) {
  ProtoFields fields(message);
  for (ProtoField field; fields.Next(&field);) on_field(field);
  return !fields.damaged();
}

bool ParsePiece(std::string_view message, Model* model) {
  Piece& piece = model->pieces.emplace_back();
  return ForEachField(message, [&piece](const ProtoField& field) {
    if (field.number == kPieceText) piece.text = field.bytes;
    if (field.number == kPieceScore) piece.score = field.fixed32;
    if (field.number == kPieceType) piece.type = field.varint;
  });
}

bool ParseTrainer(std::string_view message, Model* model) {
  return ForEachField(message, [model](const ProtoField& field) {
    if (field.number == kModelType) model->type = field.varint;
    if (field.number == kSpaceAsSuffix) model->space_as_suffix = field.varint != 0;
  });
}

bool ParseNormalizer(std::string_view message, Model* model) {
  return ForEachField(message, [model](const ProtoField& field) {
    if (field.number == kCharacterMap) model->has_character_map = !field.bytes.empty();
    if (field.number == kPrefix) model->prefix = field.varint != 0;
    if (field.number == kRemoveSpaces) model->removes_spaces = field.varint != 0;
    if (field.number == kEscape) model->escapes_spaces = field.varint != 0;
  });
}

bool ParseModel(std::string_view message, Model* model) {
  bool valid = true;
  const bool complete = ForEachField(message, [&](const ProtoField& field) {
    if (field.number == kPieces) valid = valid && ParsePiece(field.bytes, model);
    if (field.number == kTrainer) valid = valid && ParseTrainer(field.bytes, model);
    if (field.number == kNormalizer) valid = valid && ParseNormalizer(field.bytes, model);
  });
  return complete && valid && !model->pieces.empty();
}

absl::Status UnsupportedModel(const std::string& path, const std::string& what) {
  return absl::UnimplementedError(absl::StrCat(
      path, ": ", what, " is not supported; tokenize with spm_encode, or use another tokenizer"));
}

absl::Status CheckSupported(const Model& model, const std::string& path) {
  if (model.type != kBpe) return UnsupportedModel(path, "a model of another type than BPE");
  if (model.has_character_map) return UnsupportedModel(path, "a normalization rule");
  if (model.removes_spaces) return UnsupportedModel(path, "remove_extra_whitespaces");
  if (!model.escapes_spaces) return UnsupportedModel(path, "escape_whitespaces=false");
  if (model.space_as_suffix) return UnsupportedModel(path, "treat_whitespace_as_suffix");
  for (const Piece& piece : model.pieces) {
    if (piece.type == kUser || piece.type == kUnused) {
      return UnsupportedModel(path, absl::StrCat("user-defined or unused piece \"",
                                                 ReplaceInvalidUtf8(piece.text), "\""));
    }
  }
  return absl::OkStatus();
}

// Returns the byte of a piece "<0xNN>", or -1.
int ByteOf(std::string_view text) {
  unsigned byte = 0;
  if (text.size() != 6 || !text.starts_with("<0x") || !text.ends_with('>')) return -1;
  const auto parsed = std::from_chars(text.data() + 3, text.data() + 5, byte, 16);
  return parsed.ptr == text.data() + 5 ? static_cast<int>(byte) : -1;
}

absl::Status AddPiece(const Piece& piece, uint32_t id, const std::string& path,
                      BpeDefinition* definition) {
  auto& bpe = std::get<CharacterBpe>(definition->bpe);
  const auto error = [&](const char* cause) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": piece ", id, ", \"",
                                                   ReplaceInvalidUtf8(piece.text), "\", ", cause,
                                                   "; download the file anew"));
  };
  if (!IsUtf8(piece.text)) return error("is not valid UTF-8");
  if (std::isnan(piece.score)) return error("has no score");
  if (bpe.vocabulary.Find(piece.text) != kNoToken) return error("occurs twice");
  if (!bpe.vocabulary.Add(id, piece.text)) return error("is empty, or its id is too large");
  if (piece.type == kUnknown) bpe.unknown = id;
  if (piece.type == kControl || piece.type == kUnknown) {
    definition->added_tokens.push_back({.id = id, .text = std::string(piece.text)});
  }
  if (piece.type != kByte) return absl::OkStatus();
  const int byte = ByteOf(piece.text);
  if (byte < 0) return error("is not the name of a byte");
  bpe.byte_tokens[static_cast<size_t>(byte)] = id;
  return absl::OkStatus();
}

// Calls on_split(left, right) for every way to make a piece of two pieces of type kNormal.
template <typename OnSplit>
void ForEachSplit(const Model& model, const Vocabulary& vocabulary, std::string_view text,
                  OnSplit on_split) {
  const auto normal = [&](std::string_view part) {
    const uint32_t id = vocabulary.Find(part);
    return id == kNoToken || model.pieces[id].type != kNormal ? kNoToken : id;
  };
  for (size_t at = DecodeUtf8(text.data()).length; at < text.size();
       at += DecodeUtf8(text.data() + at).length) {
    const uint32_t left = normal(text.substr(0, at));
    const uint32_t right = normal(text.substr(at));
    if (left != kNoToken && right != kNoToken) on_split(left, right);
  }
}

absl::Status CheckCharacters(const Model& model, const CharacterBpe& bpe, const std::string& path) {
  for (const Piece& piece : model.pieces) {
    if (piece.type != kNormal) continue;
    for (size_t at = 0; at < piece.text.size();) {
      const size_t length = DecodeUtf8(piece.text.data() + at).length;
      if (bpe.vocabulary.Find(piece.text.substr(at, length)) == kNoToken) {
        return UnsupportedModel(path, absl::StrCat("piece \"", std::string(piece.text),
                                                   "\" with a character that is no piece"));
      }
      at += length;
    }
  }
  return absl::OkStatus();
}

// Adds the merges in the order of SentencePiece: the highest score of the result first.
absl::Status AddMerges(const Model& model, const std::string& path, CharacterBpe* bpe) {
  std::vector<uint32_t> order;
  for (uint32_t id = 0; id < model.pieces.size(); ++id) {
    if (model.pieces[id].type == kNormal) order.push_back(id);
  }
  const auto score = [&model](uint32_t id) { return model.pieces[id].score; };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return score(a) > score(b); });
  bool added = true;
  const uint32_t* last = nullptr;  // the last piece that has merges
  for (const uint32_t& id : order) {
    ForEachSplit(model, bpe->vocabulary, model.pieces[id].text, [&](uint32_t left, uint32_t right) {
      const bool shares_rank = last != nullptr && score(*last) == score(id);
      last = &id;
      added = added && (shares_rank ? bpe->merges.AddWithLastRank(left, right, id)
                                    : bpe->merges.Add(left, right, id));
    });
  }
  if (added) return absl::OkStatus();
  return UnsupportedModel(path, absl::StrCat("more than ", kMergesMax, " merges"));
}

}  // namespace

absl::StatusOr<BpeDefinition> ParseSentencePieceModel(const std::string& text,
                                                      const std::string& path,
                                                      const DocumentTokens& tokens) {
  Model model;
  if (!ParseModel(text, &model)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not a model of SentencePiece, or is damaged; download it anew"));
  }
  TRAINYARD_RETURN_IF_ERROR(CheckSupported(model, path));
  BpeDefinition definition;
  auto& bpe = definition.bpe.emplace<CharacterBpe>();
  bpe.byte_tokens.fill(kNoToken);
  for (uint32_t id = 0; id < model.pieces.size(); ++id) {
    TRAINYARD_RETURN_IF_ERROR(AddPiece(model.pieces[id], id, path, &definition));
  }
  if (bpe.unknown == kNoToken) return UnsupportedModel(path, "a model without an unknown piece");
  TRAINYARD_RETURN_IF_ERROR(CheckCharacters(model, bpe, path));
  TRAINYARD_RETURN_IF_ERROR(AddMerges(model, path, &bpe));
  definition.character_splitting.prefix_space =
      model.prefix ? PrefixSpace::kFirstSegment : PrefixSpace::kNever;
  const Family* llama2 = FindFamily("llama2");
  const bool is_llama2 = model.pieces.size() == llama2->base_tokens &&
                         bpe.vocabulary.Find("</s>") == 2 && model.prefix;
  TRAINYARD_RETURN_IF_ERROR(
      FinishDefinition(is_llama2 ? llama2 : nullptr, tokens, path, &definition));
  return definition;
}

}  // namespace trainyard::data
