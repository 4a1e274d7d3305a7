#include "cli/data/data_command.h"

#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/data/data_options.h"

namespace trainyard::cli {
namespace {

DataOptions Parse(const std::vector<std::string>& line) {
  std::vector<const char*> arguments;
  for (const std::string& argument : line) arguments.push_back(argument.c_str());
  CLI::App app;
  DataOptions options;
  AddDataCommands(app, &options);
  app.parse(static_cast<int>(arguments.size()), arguments.data());
  return options;
}

// Sets all options that the commands share to values other than the defaults.
void SetInputs(data::InputOptions* options) {
  options->inputs = {"a.txt", "-b.txt", "dir with space"};
  options->field = "body";
  options->utf8 = "replace";
  options->bad = "stop";
  options->bad_fraction = 0.3;
  options->jobs = 3;
  options->quiet = true;
}

void ExpectInputs(const data::InputOptions& read) {
  data::InputOptions options;
  SetInputs(&options);
  EXPECT_EQ(read.inputs, options.inputs);
  EXPECT_EQ(read.field, options.field);
  EXPECT_EQ(read.utf8, options.utf8);
  EXPECT_EQ(read.bad, options.bad);
  EXPECT_EQ(read.bad_fraction, options.bad_fraction);
  EXPECT_EQ(read.jobs, options.jobs);
  EXPECT_TRUE(read.quiet);
}

TEST(DataCommandTest, EveryOptionOfPrepareReachesTheProgramThatDoesTheWork) {
  data::PrepareOptions options;
  SetInputs(&options);
  options.out = "out put";
  options.tokenizer = "unigram";
  options.tokenizer_options = {"qwen3", "id", "[EOS]"};
  options.vocab_size = 1234;
  options.val_fraction = 0.1;
  options.format = "llmc";
  options.force = true;
  const data::PrepareOptions read = Parse(PrepareLine("trainyard-data", options)).prepare;
  ExpectInputs(read);
  EXPECT_EQ(read.out, options.out);
  EXPECT_EQ(read.tokenizer, options.tokenizer);
  EXPECT_EQ(read.tokenizer_options.family, "qwen3");
  EXPECT_EQ(read.tokenizer_options.special_text, "id");
  EXPECT_EQ(read.tokenizer_options.end_of_document, "[EOS]");
  EXPECT_EQ(read.vocab_size, options.vocab_size);
  EXPECT_EQ(read.val_fraction, options.val_fraction);
  EXPECT_EQ(read.format, options.format);
  EXPECT_TRUE(read.force);
  options.force = options.quiet = false;
  EXPECT_FALSE(Parse(PrepareLine("x", options)).prepare.force);
  EXPECT_FALSE(Parse(PrepareLine("x", options)).prepare.quiet);
}

TEST(DataCommandTest, TokenizeIsAnotherNameOfPrepare) {
  const data::PrepareOptions read =
      Parse({"x", "tokenize", "--out=tokens", "--tokenizer=gpt2", "a.txt"}).prepare;
  EXPECT_EQ(read.out, "tokens");
  EXPECT_EQ(read.tokenizer, "gpt2");
  EXPECT_EQ(read.inputs, std::vector<std::string>{"a.txt"});
}

TEST(DataCommandTest, EveryOptionOfAStepReachesTheProgramThatDoesTheWork) {
  data::StepDocumentsOptions options;
  options.job = "17 llama, attempt 2";
  options.step = 1200;
  options.batch = 512;
  options.seq_length = 2048;
  options.seed = 18'000'000'000'000'000'000u;
  options.sources = {"/data/a b", "-c"};
  options.samples = {{0, 1, 2, 3, 0, 5}, {6, 7, 8, 9, 1, 11}};
  options.trained_ms = 1795262400000;
  options.accepts_changed = true;
  options.max_bytes = 77;
  options.output = "json";
  CLI::App app;
  data::StepDocumentsOptions read;
  AddStepOptions(*app.add_subcommand(kStepCommand), &read);
  const std::vector<std::string> line = StepLine("trainyard-data", options);
  std::vector<const char*> arguments;
  for (const std::string& argument : line) arguments.push_back(argument.c_str());
  app.parse(static_cast<int>(arguments.size()), arguments.data());
  EXPECT_EQ(read.job, options.job);
  EXPECT_EQ(read.step, options.step);
  EXPECT_EQ(read.batch, options.batch);
  EXPECT_EQ(read.seq_length, options.seq_length);
  EXPECT_EQ(read.seed, options.seed);
  EXPECT_EQ(read.sources, options.sources);
  EXPECT_EQ(read.samples, options.samples);
  EXPECT_EQ(read.trained_ms, options.trained_ms);
  EXPECT_TRUE(read.accepts_changed);
  EXPECT_EQ(read.max_bytes, options.max_bytes);
  EXPECT_EQ(read.output, options.output);
}

TEST(DataCommandTest, NamedFilesReplaceTheFraction) {
  data::PrepareOptions options;
  SetInputs(&options);
  options.out = "out";
  options.val = {"v.jsonl", "a dir"};
  const data::PrepareOptions read = Parse(PrepareLine("trainyard-data", options)).prepare;
  ExpectInputs(read);
  EXPECT_EQ(read.val, options.val);
  const std::vector<std::string> both = {"x",     "prepare", "a.txt",          "-o", "d",
                                         "--val", "b.txt",   "--val-fraction", "0.1"};
  EXPECT_THROW(Parse(both), CLI::ExcludesError);
  // Each --val has one value, so that inputs may follow.
  EXPECT_EQ(Parse({"x", "prepare", "-o", "d", "--val", "v", "a.txt"}).prepare.inputs,
            std::vector<std::string>{"a.txt"});
}

TEST(DataCommandTest, EveryOptionOfVerifyReachesTheProgramThatDoesTheWork) {
  const data::VerifyOptions read = Parse(VerifyLine("trainyard-data", {"-dir", true})).verify;
  EXPECT_EQ(read.directory, "-dir");
  EXPECT_TRUE(read.quiet);
  EXPECT_FALSE(Parse(VerifyLine("trainyard-data", {"dir", false})).verify.quiet);
}

TEST(DataCommandTest, EveryOptionOfInspectReachesTheProgramThatDoesTheWork) {
  data::InspectOptions options;
  options.inputs = {"a.txt", "-b.txt"};
  options.field = "body";
  options.utf8 = "replace";
  options.jobs = 3;
  options.quiet = true;
  options.output = "json";
  const data::InspectOptions read = Parse(InspectLine("trainyard-data", options)).inspect;
  EXPECT_EQ(read.inputs, options.inputs);
  EXPECT_EQ(read.field, options.field);
  EXPECT_EQ(read.utf8, options.utf8);
  EXPECT_EQ(read.jobs, options.jobs);
  EXPECT_TRUE(read.quiet);
  EXPECT_EQ(read.output, "json");
}

TEST(DataCommandTest, EveryOptionOfCountReachesTheProgramThatDoesTheWork) {
  data::CountOptions options;
  SetInputs(&options);
  options.tokenizers = {"gpt2", "a dir"};
  options.tokenizer_options = {"llama3", "id", "</s>"};
  options.output = "json";
  const data::CountOptions read = Parse(CountLine("trainyard-data", options)).count;
  ExpectInputs(read);
  EXPECT_EQ(read.tokenizers, options.tokenizers);
  EXPECT_EQ(read.tokenizer_options.family, "llama3");
  EXPECT_EQ(read.tokenizer_options.special_text, "id");
  EXPECT_EQ(read.tokenizer_options.end_of_document, "</s>");
  EXPECT_EQ(read.output, "json");
  // Each --tokenizer has one value, so that inputs may follow.
  const data::CountOptions typed =
      Parse({"x", "count", "--tokenizer", "gpt2", "--tokenizer", "byte", "a.txt"}).count;
  EXPECT_EQ(typed.tokenizers, (std::vector<std::string>{"gpt2", "byte"}));
  EXPECT_EQ(typed.inputs, std::vector<std::string>{"a.txt"});
}

TEST(DataCommandTest, EveryOptionOfTrainTokenizerReachesTheProgramThatDoesTheWork) {
  data::TrainTokenizerOptions options;
  SetInputs(&options);
  options.out = "new.json";
  options.vocab_size = 777;
  options.min_frequency = 9;
  options.special = "[UNK],[BOS]";
  options.unit = "document";
  options.memory_mib = 100;
  options.force = true;
  const data::TrainTokenizerOptions read =
      Parse(TrainTokenizerLine("trainyard-data", options)).train_tokenizer;
  ExpectInputs(read);
  EXPECT_EQ(read.out, options.out);
  EXPECT_EQ(read.vocab_size, options.vocab_size);
  EXPECT_EQ(read.min_frequency, options.min_frequency);
  EXPECT_EQ(read.special, options.special);
  EXPECT_EQ(read.unit, options.unit);
  EXPECT_EQ(read.memory_mib, options.memory_mib);
  EXPECT_TRUE(read.force);
}

TEST(DataCommandTest, EveryOptionOfFilterReachesTheProgramThatDoesTheWork) {
  data::FilterOptions options;
  SetInputs(&options);
  options.out = "out put";
  options.rules = "guide,my rules.yaml";
  options.memory_mib = 500;
  options.force = true;
  const data::FilterOptions read = Parse(FilterLine("trainyard-data", options)).filter;
  ExpectInputs(read);
  EXPECT_EQ(read.out, options.out);
  EXPECT_EQ(read.rules, options.rules);
  EXPECT_EQ(read.memory_mib, options.memory_mib);
  EXPECT_TRUE(read.force);
  options.force = false;
  EXPECT_FALSE(Parse(FilterLine("x", options)).filter.force);
}

TEST(DataCommandTest, EveryOptionOfDedupReachesTheProgramThatDoesTheWork) {
  data::DedupOptions options;
  SetInputs(&options);
  options.out = "out put";
  options.preset = "near";
  options.threshold = 0.7;
  options.keep = "components";
  options.against = {"val", "-test.jsonl"};
  options.scratch = "/scratch";
  options.memory_mib = 100;
  options.force = true;
  const data::DedupOptions read = Parse(DedupLine("trainyard-data", options)).dedup;
  ExpectInputs(read);
  EXPECT_EQ(read.out, options.out);
  EXPECT_EQ(read.preset, options.preset);
  EXPECT_EQ(read.threshold, options.threshold);
  EXPECT_EQ(read.keep, options.keep);
  EXPECT_EQ(read.against, options.against);
  EXPECT_EQ(read.scratch, options.scratch);
  EXPECT_EQ(read.memory_mib, options.memory_mib);
  EXPECT_TRUE(read.force);
  const data::DedupOptions typed = Parse({"x", "dedup", "--against", "val", "a", "-o", "d"}).dedup;
  EXPECT_EQ(typed.inputs, std::vector<std::string>{"a"});
  EXPECT_EQ(typed.threshold, std::nullopt);
  EXPECT_EQ(Parse(DedupLine("x", typed)).dedup.threshold, std::nullopt);
}

TEST(DataCommandTest, EveryOptionOfMixReachesTheProgramThatDoesTheWork) {
  const data::MixOptions options = {"-mix.yaml", "out put", 1'500'000, 4096, true};
  const data::MixOptions read = Parse(MixLine("trainyard-data", options)).mix;
  EXPECT_EQ(read.file, options.file);
  EXPECT_EQ(read.out, options.out);
  EXPECT_EQ(read.tokens, options.tokens);
  EXPECT_EQ(read.step_tokens, options.step_tokens);
  EXPECT_TRUE(read.force);
  const data::MixOptions typed =
      Parse({"x", "mix", "m.yaml", "-o", "d", "--tokens", "100B", "--step-tokens", "4M"}).mix;
  EXPECT_EQ(typed.tokens, 100'000'000'000);
  EXPECT_EQ(typed.step_tokens, 4'000'000);
  const data::MixOptions again = Parse(MixLine("x", Parse({"x", "mix", "m", "-o", "d"}).mix)).mix;
  EXPECT_EQ(again.tokens, 0);
  EXPECT_EQ(again.step_tokens, 0);
  EXPECT_FALSE(again.force);
}

TEST(DataCommandTest, RunKeepsItsOptions) {
  data::PipelineOptions options;
  options.pipeline = "-p.yaml";
  options.quiet = true;
  const data::PipelineOptions read = Parse(RunLine("trainyard-data", options)).run;
  EXPECT_EQ(read.pipeline, options.pipeline);
  EXPECT_TRUE(read.quiet);
  EXPECT_FALSE(Parse({"x", "run", "p.yaml"}).run.quiet);
  EXPECT_THROW(Parse({"x", "run"}), CLI::RequiredError);
}

TEST(DataCommandTest, RefusesValuesThatMakeNoSense) {
  EXPECT_THROW(Parse({"x", "mix", "m.yaml"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "mix", "-o", "d"}), CLI::RequiredError);
  for (const char* tokens : {"0", "-1", "1.5B", "5X", "9999999999999T"}) {
    EXPECT_THROW(Parse({"x", "mix", "m.yaml", "-o", "d", "--tokens", tokens}), CLI::ValidationError)
        << tokens;
  }
  EXPECT_THROW(Parse({"x", "filter", "a.txt", "-o", "d"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "filter", "a.txt", "--rules", "c4"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "filter", "a.txt", "--rules", "c4", "-o", "d", "--memory-mib", "1"}),
               CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "prepare", "a.txt"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "prepare", "-o", "d"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "prepare", "-o", "d", "a.txt", "--val-fraction", "1"}),
               CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "prepare", "-o", "d", "a.txt", "--vocab-size", "10"}),
               CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "prepare", "-o", "d", "a.txt", "--special-text", "both"}),
               CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "prepare", "-o", "d", "a.txt", "--format", "parquet"}),
               CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "verify"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "verify", ""}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "inspect"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "inspect", "a.txt", "-o", "csv"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "inspect", "a.txt", "--bad", "skip"}), CLI::ExtrasError);
  EXPECT_THROW(Parse({"x", "count", "a.txt"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "count", "a.txt", "--tokenizer", "gpt2", "-o", "csv"}),
               CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "train-tokenizer", "a.txt"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "train-tokenizer", "a.txt", "-o", "t.json", "--unit", "word"}),
               CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "train-tokenizer", "a.txt", "-o", "t.json", "--vocab-size", "9"}),
               CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "prepare", "-o", "d", "a.txt", "--jobs", "-1"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "prepare", "-o", "d", "a.txt", "--utf8", "latin1"}),
               CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "prepare", "-o", "d", "a.txt", "--bad", "ignore"}),
               CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "prepare", "-o", "d", "a.txt", "--bad-fraction", "2"}),
               CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "dedup", "a.txt"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "dedup", "a.txt", "-o", "d", "--preset", "far"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "dedup", "a.txt", "-o", "d", "--threshold", "2"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "dedup", "a.txt", "-o", "d", "--keep", "all"}), CLI::ValidationError);
  // An unset shell variable causes such an empty value.
  EXPECT_THROW(Parse({"x", "prepare", "a.txt", "-o", ""}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "prepare", "a.txt", "-o", "d", "--field", ""}), CLI::ValidationError);
}

TEST(DataCommandTest, ThereIsOneCommandForEachLine) {
  CLI::App app;
  DataOptions options;
  for (const DataCommand& command : AddDataCommands(app, &options)) {
    EXPECT_EQ(command.line("trainyard-data")[1], command.app->get_name());
    EXPECT_EQ(app.get_subcommand(command.app->get_name()), command.app);
  }
}

TEST(DataCommandTest, EveryOptionOfDecontaminateReachesTheProgramThatDoesTheWork) {
  data::DecontaminateOptions options;
  SetInputs(&options);
  options.out = "out put";
  options.against = {"e.jsonl", "a dir"};
  options.against_field = "question";
  options.ngram = 8;
  options.min_words = 5;
  options.min_hits = 3;
  options.min_share = 0.7;
  options.memory_mib = 777;
  options.force = true;
  const data::DecontaminateOptions read =
      Parse(DecontaminateLine("trainyard-data", options)).decontaminate;
  ExpectInputs(read);
  EXPECT_EQ(read.out, options.out);
  EXPECT_EQ(read.against, options.against);
  EXPECT_EQ(read.against_field, options.against_field);
  EXPECT_EQ(read.ngram, options.ngram);
  EXPECT_EQ(read.min_words, options.min_words);
  EXPECT_EQ(read.min_hits, options.min_hits);
  EXPECT_EQ(read.min_share, options.min_share);
  EXPECT_EQ(read.memory_mib, options.memory_mib);
  EXPECT_TRUE(read.force);
}

TEST(DataCommandTest, EveryOptionOfReportReachesTheProgramThatDoesTheWork) {
  const data::ReportOptions read =
      Parse(ReportLine("x", {"-a dir", "json", true, {"gpt2", "a b"}})).report;
  EXPECT_EQ(read.directory, "-a dir");
  EXPECT_EQ(read.output, "json");
  EXPECT_TRUE(read.texts);
  EXPECT_EQ(read.tokenizers, (std::vector<std::string>{"gpt2", "a b"}));
}

TEST(DataCommandTest, EveryOptionOfShowReachesTheProgramThatDoesTheWork) {
  data::ShowOptions options;
  options.directory = "-a dir";
  options.document = "a.jsonl:5";
  options.tokenizers = {"gpt2", "a b"};
  options.tokenizer_options = {"qwen3", "id", "[EOS]"};
  options.max_bytes = 77;
  options.output = "json";
  const data::ShowOptions read = Parse(ShowLine("x", options)).show;
  EXPECT_EQ(read.directory, options.directory);
  EXPECT_EQ(read.document, options.document);
  EXPECT_EQ(read.tokenizers, options.tokenizers);
  EXPECT_EQ(read.tokenizer_options.family, "qwen3");
  EXPECT_EQ(read.tokenizer_options.special_text, "id");
  EXPECT_EQ(read.tokenizer_options.end_of_document, "[EOS]");
  EXPECT_EQ(read.max_bytes, options.max_bytes);
  EXPECT_EQ(read.output, options.output);
}

}  // namespace
}  // namespace trainyard::cli
