#include "cli/data/tokenizer.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

namespace trainyard::cli {
namespace {

class ByteTokenizer : public Tokenizer {
 public:
  void Encode(std::string_view text, std::vector<uint32_t>* ids) const override {
    for (const char c : text) ids->push_back(static_cast<unsigned char>(c));
  }
  std::string Decode(const std::vector<uint32_t>& ids) const override {
    std::string text;
    for (const uint32_t id : ids) {
      if (id < kBytes) text += static_cast<char>(id);
    }
    return text;
  }
  int64_t vocab_size() const override { return kBytes + 1; }
  uint32_t end_of_document() const override { return kBytes; }
  std::string kind() const override { return "byte"; }
  const std::string& model() const override { return no_model_; }

 private:
  static constexpr uint32_t kBytes = 256;
  const std::string no_model_;
};

class SentencePieceTokenizer : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(const std::string& model)
      : model_(model), loaded_(processor_.LoadFromSerializedProto(model)) {}

  const sentencepiece::util::Status& loaded() const { return loaded_; }

  void Encode(std::string_view text, std::vector<uint32_t>* ids) const override {
    std::vector<int> pieces;
    // Encode fails only for a processor that has not been loaded.
    processor_.Encode(text, &pieces).IgnoreError();
    ids->insert(ids->end(), pieces.begin(), pieces.end());
  }
  std::string Decode(const std::vector<uint32_t>& ids) const override {
    std::string text;
    processor_.Decode(std::vector<int>(ids.begin(), ids.end()), &text).IgnoreError();
    return text;
  }
  int64_t vocab_size() const override { return processor_.GetPieceSize(); }
  uint32_t end_of_document() const override { return static_cast<uint32_t>(processor_.eos_id()); }
  std::string kind() const override { return "sentencepiece"; }
  const std::string& model() const override { return model_; }

 private:
  const std::string model_;
  sentencepiece::SentencePieceProcessor processor_;
  const sentencepiece::util::Status loaded_;
};

class SentencesOf : public sentencepiece::SentenceIterator {
 public:
  explicit SentencesOf(const std::vector<std::string>& sentences) : sentences_(sentences) {}
  bool done() const override { return next_ >= sentences_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return sentences_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& sentences_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Tokenizer> MakeByteTokenizer() { return std::make_unique<ByteTokenizer>(); }

std::string TrainSentencePiece(const std::vector<std::string>& sentences,
                               const SentencePieceSettings& settings, std::string* error) {
  SentencesOf iterator(sentences);
  std::string model;
  const sentencepiece::util::Status status = sentencepiece::SentencePieceTrainer::Train(
      {
          {"model_type", settings.algorithm},
          {"vocab_size", std::to_string(settings.vocab_size)},
          {"hard_vocab_limit", "false"},  // a small text has fewer pieces than were asked for
          {"byte_fallback", "true"},
          {"normalization_rule_name", "identity"},
          {"add_dummy_prefix", "false"},
          {"remove_extra_whitespaces", "false"},
          {"allow_whitespace_only_pieces", "true"},
          {"split_digits", "true"},
          {"max_sentence_length", "65536"},
          {"unk_id", "0"},
          {"eos_id", "1"},
          {"bos_id", "-1"},
          {"pad_id", "-1"},
          // A fixed number, because sums of unigram depend on it; it may exceed the cores.
          {"num_threads", "8"},
          {"minloglevel", "4"},
      },
      &iterator, &model);
  if (status.ok()) return model;
  *error = status.message();
  return "";
}

std::unique_ptr<Tokenizer> MakeSentencePieceTokenizer(const std::string& model,
                                                      std::string* error) {
  auto tokenizer = std::make_unique<SentencePieceTokenizer>(model);
  if (tokenizer->loaded().ok()) return tokenizer;
  *error = tokenizer->loaded().message();
  return nullptr;
}

}  // namespace trainyard::cli
