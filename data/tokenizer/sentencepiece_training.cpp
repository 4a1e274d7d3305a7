#include "data/tokenizer/sentencepiece_training.h"

#include <sentencepiece_trainer.h>

namespace trainyard::data {
namespace {

class SentenceListIterator : public sentencepiece::SentenceIterator {
 public:
  explicit SentenceListIterator(const std::vector<std::string>& sentences)
      : sentences_(sentences) {}
  bool done() const override { return next_ >= sentences_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return sentences_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& sentences_;
  size_t next_ = 0;
};

}  // namespace

std::string TrainSentencePiece(const std::vector<std::string>& sentences,
                               const SentencePieceSettings& settings, std::string* error) {
  SentenceListIterator iterator(sentences);
  std::string model;
  const sentencepiece::util::Status status = sentencepiece::SentencePieceTrainer::Train(
      {
          {"model_type", settings.algorithm},
          {"vocab_size", std::to_string(settings.vocab_size)},
          {"hard_vocab_limit", "false"},  // a short text gives fewer pieces than requested
          // These four options keep the text unchanged, so that Decode returns exactly what was
          // encoded.
          {"byte_fallback", "true"},
          {"normalization_rule_name", "identity"},
          {"add_dummy_prefix", "false"},
          {"remove_extra_whitespaces", "false"},
          {"allow_whitespace_only_pieces", "true"},
          {"split_digits", "true"},
          {"max_sentence_length", "65536"},  // in bytes; longer sentences are ignored
          {"unk_id", "0"},
          {"eos_id", "1"},
          {"bos_id", "-1"},
          {"pad_id", "-1"},
          // The number of threads is constant, so that the model does not depend on the machine:
          // the order in which unigram adds floating-point numbers depends on the number of
          // threads. 8 threads may be more than the machine has cores.
          {"num_threads", "8"},
          {"minloglevel", "4"},  // above fatal: prints no log lines
      },
      &iterator, &model);
  if (status.ok()) return model;
  *error = status.message();
  return "";
}

}  // namespace trainyard::data
