#include "data/pipeline/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const std::string& yaml) {
  const auto pipeline = ParsePipeline(yaml, "p.yaml", "/data");
  EXPECT_EQ(pipeline.status().code(), absl::StatusCode::kInvalidArgument) << yaml;
  return std::string(pipeline.status().message());
}

TEST(PipelineTest, ReadsAllSteps) {
  const auto pipeline = ParsePipeline(R"(
inputs: [corpus, /other/a.jsonl]
out: prepared
validation: val
field: body
utf8: replace
bad: stop
bad_fraction: 0.5
jobs: 3
memory_mib: 512
block_bytes: 1000
steps:
  - filter: {rules: c4}
  - filter: {rules: gopher, name: again}
  - dedup: {preset: near, threshold: 0.7, keep: components, against: [val, /x]}
  - decontaminate: {against: eval, against_field: question, ngram: 8, min_words: 4,
                    min_hits: 2, min_share: 0.7}
  - train_tokenizer: {vocab_size: 1000, min_frequency: 3, special: "<a>,<b>", unit: document}
  - count
  - tokenize: {format: megatron, val_fraction: 0.25, special_text: id, validation: other}
)",
                                      "p.yaml", "/data");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ(pipeline->out, "/data/prepared");
  EXPECT_THAT(pipeline->input.inputs, ElementsAre("/data/corpus", "/other/a.jsonl"));
  EXPECT_THAT(pipeline->validation, ElementsAre("/data/val"));
  EXPECT_EQ(pipeline->input.field, "body");
  EXPECT_EQ(pipeline->input.utf8, "replace");
  EXPECT_EQ(pipeline->input.bad, "stop");
  EXPECT_EQ(pipeline->input.bad_fraction, 0.5);
  EXPECT_EQ(pipeline->input.jobs, 3);
  EXPECT_EQ(pipeline->memory_mib, 512);
  EXPECT_EQ(pipeline->block_bytes, 1000);
  ASSERT_EQ(pipeline->steps.size(), 7u);
  EXPECT_EQ(pipeline->steps[1].name, "again");
  const auto& dedup = std::get<DedupOptions>(pipeline->steps[2].options);
  EXPECT_EQ(dedup.threshold, 0.7);
  EXPECT_EQ(dedup.keep, "components");
  EXPECT_THAT(dedup.against, ElementsAre("/data/val", "/x"));
  const auto& decontaminate = std::get<DecontaminateOptions>(pipeline->steps[3].options);
  EXPECT_THAT(decontaminate.against, ElementsAre("/data/eval"));
  EXPECT_EQ(decontaminate.against_field, "question");
  EXPECT_EQ(decontaminate.ngram, 8);
  EXPECT_EQ(decontaminate.min_words, 4);
  EXPECT_EQ(decontaminate.min_hits, 2);
  EXPECT_EQ(decontaminate.min_share, 0.7);
  const auto& train = std::get<TrainTokenizerOptions>(pipeline->steps[4].options);
  EXPECT_EQ(train.vocab_size, 1000);
  EXPECT_EQ(train.min_frequency, 3);
  EXPECT_EQ(train.special, "<a>,<b>");
  EXPECT_EQ(train.unit, "document");
  EXPECT_EQ(pipeline->steps[5].name, "count");
  const auto& tokenize = std::get<TokenizeStep>(pipeline->steps[6].options);
  EXPECT_EQ(tokenize.tokenizer, "");
  EXPECT_EQ(tokenize.format, "megatron");
  EXPECT_EQ(tokenize.val_fraction, 0.25);
  EXPECT_EQ(tokenize.tokenizer_options.special_text, "id");
  EXPECT_THAT(tokenize.val, ElementsAre("/data/other"));
}

TEST(PipelineTest, BlendsNameStepsAndDataSets) {
  const auto pipeline = ParsePipeline(R"(
inputs: corpus
out: prepared
steps:
  - tokenize: {tokenizer: byte}
  - mix: {blend: [0.7 tokenize, 0.27 /sets/code], blend_stages: ["9 code=1"], tokens: 20B,
          step_tokens: 4M}
)",
                                      "p", "/data");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const auto& mix = std::get<MixStep>(pipeline->steps[1].options);
  EXPECT_THAT(mix.data.blend, ElementsAre("0.7 /data/prepared/tokenize", "0.27 /sets/code"));
  EXPECT_THAT(mix.data.blend_stages, ElementsAre("9 code=1"));
  EXPECT_EQ(mix.tokens, 20'000'000'000);
  EXPECT_EQ(mix.step_tokens, 4'000'000);
}

TEST(PipelineTest, StepsReadTheDocumentsOfEarlierStepsOrFiles) {
  const auto pipeline = ParsePipeline(R"(
inputs: corpus
out: prepared
steps:
  - count: {tokenizers: byte}
  - filter: {rules: c4}
  - filter: {name: code, rules: c4, inputs: [src, ./filter]}
  - dedup: {against: filter}
  - train_tokenizer: {inputs: [filter, dedup]}
  - count: {name: both, tokenizers: [train_tokenizer, gpt2]}
)",
                                      "p", "/data");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_THAT(pipeline->steps[0].inputs, ElementsAre("/data/corpus"));
  EXPECT_THAT(pipeline->steps[1].sources, ElementsAre());
  EXPECT_THAT(pipeline->steps[2].inputs, ElementsAre("/data/src", "/data/filter"));
  EXPECT_THAT(pipeline->steps[3].sources, ElementsAre(2));
  EXPECT_THAT(std::get<DedupOptions>(pipeline->steps[3].options).against,
              ElementsAre("/data/prepared/filter"));
  EXPECT_THAT(pipeline->steps[4].sources, ElementsAre(1, 3));
  EXPECT_THAT(pipeline->steps[5].sources, ElementsAre(3));
  EXPECT_THAT(std::get<CountOptions>(pipeline->steps[5].options).tokenizers,
              ElementsAre("/data/prepared/train_tokenizer/tokenizer.json", "gpt2"));
}

TEST(PipelineTest, MakesPathsOfTokenizersAbsolute) {
  const auto pipeline = ParsePipeline(
      "inputs: a\nout: b\nsteps:\n  - count: {tokenizers: [byte, gpt2, llama3]}\n", "p", "/data");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_THAT(std::get<CountOptions>(pipeline->steps[0].options).tokenizers,
              ElementsAre("byte", "gpt2", "/data/llama3"));
}

TEST(PipelineTest, ErrorsNameTheLineAndTheNextStep) {
  const std::string head = "inputs: a\nout: b\nsteps:\n";
  EXPECT_THAT(ErrorOf("- a"), HasSubstr("must be a mapping"));
  EXPECT_THAT(ErrorOf("inputs: a\nout: b\n"), HasSubstr("`steps` is missing"));
  EXPECT_THAT(ErrorOf("inputs: a\nout: b\nsteps: []\n"), HasSubstr("must be a list of steps"));
  EXPECT_THAT(ErrorOf("out: b\nsteps:\n  - count: {tokenizers: byte}\n"),
              HasSubstr("p.yaml:3: `inputs` is missing; add it to the file or to this step"));
  EXPECT_THAT(ErrorOf("inputs: {\n"), HasSubstr("p.yaml: "));
  EXPECT_THAT(ErrorOf("inputs: a\nout: b\nfoo: c\n" + head), HasSubstr("p.yaml"));
  EXPECT_THAT(ErrorOf(head + "  - sort\n"), HasSubstr("p.yaml:4: unknown step `sort`"));
  EXPECT_THAT(ErrorOf(head + "  - filter: {rules: c4, rule: x}\n"),
              HasSubstr("p.yaml:4: unknown key `rule`; the keys are inputs, name, rules"));
  EXPECT_THAT(ErrorOf(head + "  - filter: {}\n"), HasSubstr("`rules` is missing"));
  EXPECT_THAT(ErrorOf(head + "  - filter: {rules: unknown}\n"), HasSubstr("p.yaml:4: "));
  EXPECT_THAT(ErrorOf(head + "  - filter: {rules: c4}\n  - filter: {rules: c4}\n"),
              HasSubstr("p.yaml:5: second step filter; give it another name"));
  EXPECT_THAT(ErrorOf(head + "  - filter: {rules: c4, name: ../x}\n"), HasSubstr("only a-z"));
  EXPECT_THAT(ErrorOf(head + "  - dedup: {threshold: 2}\n"),
              HasSubstr("`threshold` must be a number from 0 to 1"));
  EXPECT_THAT(ErrorOf(head + "  - dedup: {preset: unknown}\n"), HasSubstr("p.yaml:4: "));
  EXPECT_THAT(ErrorOf(head + "  - train_tokenizer: {vocab_size: 5}\n"),
              HasSubstr("must be an integer from 257"));
  EXPECT_THAT(ErrorOf(head + "  - train_tokenizer: {unit: word}\n"),
              HasSubstr("`unit` must be line or document"));
  EXPECT_THAT(ErrorOf(head + "  - tokenize\n"), HasSubstr("no earlier step trains one"));
  EXPECT_THAT(ErrorOf(head + "  - tokenize: {tokenizer: bpe}\n"), HasSubstr("train_tokenizer"));
  EXPECT_THAT(ErrorOf(head + "  - train_tokenizer\n  - train_tokenizer: {name: b}\n"),
              HasSubstr("at most one tokenizer"));
}

TEST(PipelineTest, ErrorsNameWrongSources) {
  const std::string head = "inputs: a\nout: b\nsteps:\n  - filter: {rules: c4}\n";
  EXPECT_THAT(ErrorOf(head + "  - dedup: {inputs: [filter, x.jsonl]}\n"),
              HasSubstr("p.yaml:5: `inputs` names steps and files (/data/x.jsonl)"));
  EXPECT_THAT(ErrorOf(head + "  - dedup: {against: [filter, x.jsonl]}\n"),
              HasSubstr("`against` names steps and files"));
  const std::string tokens = head + "  - tokenize: {tokenizer: byte}\n";
  EXPECT_THAT(ErrorOf(tokens + "  - dedup: {inputs: tokenize}\n"),
              HasSubstr("the step tokenize, which writes no documents"));
  EXPECT_THAT(ErrorOf(head + "  - decontaminate\n"), HasSubstr("`against` is missing"));
  EXPECT_THAT(ErrorOf(tokens + "  - mix\n"), HasSubstr("`blend` is missing"));
  EXPECT_THAT(ErrorOf(tokens + "  - mix: {blend: [1 tokenize], inputs: a}\n"),
              HasSubstr("unknown key `inputs`"));
  EXPECT_THAT(ErrorOf(tokens + "  - mix: {blend: [tokenize]}\n"), HasSubstr("WEIGHT PATH"));
  EXPECT_THAT(ErrorOf(tokens + "  - mix: {blend: [1 filter]}\n"),
              HasSubstr("the step filter, which writes no tokens"));
  EXPECT_THAT(ErrorOf(tokens + "  - mix: {blend: [1 tokenize], blend_stages: [5 x=1]}\n"),
              HasSubstr("blend_stages"));
  EXPECT_THAT(ErrorOf(tokens + "  - mix: {blend: [1 tokenize, 0 ./x], tokens: 5K, "
                               "blend_stages: [5 x=1]}\n"),
              HasSubstr("`tokens` needs `step_tokens`"));
  for (const char* bad : {"0", "5X", "K", "-5", "2000000000T"}) {
    EXPECT_THAT(ErrorOf(tokens + "  - mix: {blend: [1 tokenize], tokens: " + bad + "}\n"),
                HasSubstr("`tokens` must be a number of tokens such as 4000000, 4M or 20B"))
        << bad;
  }
}

TEST(PipelineTest, RefusesALargeFile) {
  const TextDirectory directory;
  const std::string path = directory.Write("p.yaml", std::string((1 << 20) + 1, ' '));
  EXPECT_THAT(std::string(ReadPipeline(path).status().message()), HasSubstr("more than 1 MiB"));
  EXPECT_EQ(ReadPipeline(directory / "missing").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace trainyard::data
