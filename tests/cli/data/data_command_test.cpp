#include "cli/data/data_command.h"

#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace trainyard::cli {
namespace {

data::PrepareOptions Parse(const std::vector<std::string>& line) {
  std::vector<const char*> arguments;
  for (const std::string& argument : line) arguments.push_back(argument.c_str());
  CLI::App app;
  data::PrepareOptions options;
  AddPrepareOptions(app, &options);
  app.parse(static_cast<int>(arguments.size()), arguments.data());
  return options;
}

TEST(DataCommandTest, EveryOptionReachesTheProgramThatDoesTheWork) {
  data::PrepareOptions options;
  options.inputs = {"a.txt", "-b.txt", "dir with space"};
  options.out = "out put";
  options.tokenizer = "unigram";
  options.vocab_size = 1234;
  options.val_fraction = 0.1;
  options.field = "body";
  options.utf8 = "replace";
  options.bad = "stop";
  options.bad_fraction = 0.3;
  options.jobs = 3;
  options.force = true;
  options.quiet = true;
  const data::PrepareOptions read = Parse(PrepareCommandLine("trainyard-data", options));
  EXPECT_EQ(read.inputs, options.inputs);
  EXPECT_EQ(read.out, options.out);
  EXPECT_EQ(read.tokenizer, options.tokenizer);
  EXPECT_EQ(read.vocab_size, options.vocab_size);
  EXPECT_EQ(read.val_fraction, options.val_fraction);
  EXPECT_EQ(read.field, options.field);
  EXPECT_EQ(read.utf8, options.utf8);
  EXPECT_EQ(read.bad, options.bad);
  EXPECT_EQ(read.bad_fraction, options.bad_fraction);
  EXPECT_EQ(read.jobs, options.jobs);
  EXPECT_TRUE(read.force);
  EXPECT_TRUE(read.quiet);
  options.force = options.quiet = false;
  EXPECT_FALSE(Parse(PrepareCommandLine("x", options)).force);
  EXPECT_FALSE(Parse(PrepareCommandLine("x", options)).quiet);
}

TEST(DataCommandTest, RefusesValuesThatMakeNoSense) {
  EXPECT_THROW(Parse({"x", "a.txt"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "-o", "d"}), CLI::RequiredError);
  EXPECT_THROW(Parse({"x", "-o", "d", "a.txt", "--val-fraction", "1"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "-o", "d", "a.txt", "--vocab-size", "10"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "-o", "d", "a.txt", "--tokenizer", "words"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "-o", "d", "a.txt", "--jobs", "-1"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "-o", "d", "a.txt", "--utf8", "latin1"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "-o", "d", "a.txt", "--bad", "ignore"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "-o", "d", "a.txt", "--bad-fraction", "2"}), CLI::ValidationError);
  // An unset shell variable causes such an empty value.
  EXPECT_THROW(Parse({"x", "a.txt", "-o", ""}), CLI::ValidationError);
  EXPECT_THROW(Parse({"x", "a.txt", "-o", "d", "--field", ""}), CLI::ValidationError);
}

TEST(DataCommandTest, IsFoundUnderDataPrepare) {
  CLI::App app;
  data::PrepareOptions options;
  const CLI::App* prepare = AddDataCommands(app, &options);
  EXPECT_EQ(prepare, app.get_subcommand("data")->get_subcommand("prepare"));
}

}  // namespace
}  // namespace trainyard::cli
