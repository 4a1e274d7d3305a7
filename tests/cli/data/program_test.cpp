// Tests the program trainyard-data as users see it: exit codes and output.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "cli/data/data_command.h"
#include "tests/data/text_directory.h"

namespace trainyard::cli {
namespace {

using data::Prose;
using data::TextDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct Ended {
  int code = -1;
  std::string out;
  std::string err;
};

Ended RunProgram(const TextDirectory& directory, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TRAINYARD_DATA_PROGRAM);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::string out = directory / "stdout";
  const std::string err = directory / "stderr";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, argv[0], &files, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), ReadFile(out),
          ReadFile(err)};
}

TEST(DataProgramTest, PreparesADataSet) {
  const TextDirectory directory;
  const std::string input = directory.Write("a.txt", Prose(200000, 1));
  const Ended ended = RunProgram(directory, {"prepare", "--out", directory / "out", input});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("data set     " + directory.path() + "/out\n"));
  EXPECT_THAT(ended.out, HasSubstr("next         trainyard submit"));
  EXPECT_THAT(ended.err, StartsWith("reading 1 files, 200.0 kB\n"));
  EXPECT_EQ(
      RunProgram(directory, {"prepare", "--out", directory / "out", input, "--force", "-q"}).err,
      "");
}

TEST(DataProgramTest, ExitCodesTellTheKindsOfFailure) {
  const TextDirectory directory;
  const std::string good = directory.Write("a.txt", Prose(2000, 1));
  const std::string bad = directory.Write("b.txt", "\xFF");
  const std::string out = directory / "out";
  const auto expect = [&](const std::vector<std::string>& arguments, int code, const char* part) {
    const Ended ended = RunProgram(directory, arguments);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(part));
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(directory.Names(), ElementsAre("a.txt", "b.txt", "stderr", "stdout"));
  };
  expect({"prepare", "--out", out, bad, "-q"}, 1, "error: ");
  expect({"prepare", "--out", out, bad, "-q"}, 1, "b.txt: not UTF-8 at byte 0 (0xff)");
  expect({"prepare", "--out", out}, 2, "inputs is required");
  expect({"prepare", "--out", out, good, "--tokenizer", "words", "-q"}, 3,
         "words: cannot open: No such file");
  expect({"--out", out, good}, 2, "subcommand");
  expect({"count", bad, "--tokenizer", "byte", "-q"}, 1, "b.txt: not UTF-8");
  expect({"train-tokenizer", good, "--out", directory / "b.txt"}, 2,
         "b.txt exists; replace it with --force");
  expect({"prepare", "--out", directory / "a.txt", good}, 2, "a.txt exists and is not a data set");
  expect({"prepare", "--out", out, directory / "none.txt"}, 3, "none.txt: No such file");
}

TEST(DataProgramTest, FiltersAndPreparesTheKeptDocuments) {
  const TextDirectory directory;
  std::string prose = Prose(500, 1);
  std::replace(prose.begin(), prose.end(), '\n', ' ');
  std::string lines;
  for (int i = 0; i < 100; ++i) {
    lines += "{\"text\": \"" + (i % 4 == 0 ? "short" : prose) + "\"}\n";
  }
  const std::string input = directory.Write("a.jsonl", lines);
  const std::vector<std::string> filter = {"filter", input,   "--rules",         "guide",
                                           "-q",     "--out", directory / "kept"};
  const Ended filtered = RunProgram(directory, filter);
  EXPECT_EQ(filtered.code, 0) << filtered.err;
  EXPECT_THAT(filtered.out, HasSubstr("25.00%  " + input + ":1, " + input + ":5, " + input + ":9"));
  EXPECT_EQ(RunProgram(directory, filter).out, filtered.out) << "a complete run is not repeated";
  const Ended prepared = RunProgram(directory, {"prepare", directory / "kept", "--out",
                                                directory / "out", "-q", "--val-fraction", "0"});
  EXPECT_EQ(prepared.code, 0) << prepared.err;
  EXPECT_THAT(prepared.out, HasSubstr(" from 1 files\n"));
  // Other rules need another directory.
  const Ended other = RunProgram(
      directory, {"filter", input, "--rules", "gopher", "-q", "--out", directory / "kept"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("kept contains another run: setting filter.rules was "));
}

TEST(DataProgramTest, TrainsATokenizerAndCountsWithIt) {
  const TextDirectory directory;
  const std::string input = directory.Write("a.txt", Prose(200000, 1));
  const std::string tokenizer = directory / "tokenizer.json";
  const Ended trained = RunProgram(
      directory, {"train-tokenizer", input, "--vocab-size", "300", "-o", tokenizer, "-q"});
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("vocabulary   "));
  EXPECT_THAT(trained.out, HasSubstr("--tokenizer " + tokenizer + " --out DIR\n"));
  const Ended counted = RunProgram(directory, {"count", input, "--tokenizer", tokenizer,
                                               "--tokenizer", "byte", "-q", "-o", "json"});
  EXPECT_EQ(counted.code, 0) << counted.err;
  EXPECT_THAT(counted.out, HasSubstr("\"tokens\": 200002,"));
}

TEST(DataProgramTest, MixesDataSets) {
  const TextDirectory directory;
  const std::string input = directory.Write("a.txt", Prose(200000, 1));
  for (const char* name : {"web", "code"}) {
    ASSERT_EQ(RunProgram(directory, {"prepare", "--out", directory / name, input, "-q"}).code, 0);
  }
  const std::string mix = directory.Write("mix.yaml", "blend: [3 web, 1 code]\n");
  const std::string out = directory / "mixed";
  const Ended mixed = RunProgram(directory, {"mix", mix, "--tokens", "4M", "-o", out});
  EXPECT_EQ(mixed.code, 0) << mixed.err;
  EXPECT_EQ(mixed.err, "");
  EXPECT_THAT(mixed.out, StartsWith("the weights sum to 4 and are normalized to 1\nSOURCE"));
  EXPECT_THAT(mixed.out, HasSubstr("wrote " + out + "/data.yaml; to train on the blend"));
  const Ended again = RunProgram(directory, {"mix", mix, "-o", out});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("replace it with --force"));
}

TEST(DataProgramTest, VerifiesADataSet) {
  const TextDirectory directory;
  const std::string input = directory.Write("a.txt", Prose(200000, 1));
  const std::string out = directory / "out";
  ASSERT_EQ(RunProgram(directory, {"prepare", "--out", out, input, "-q"}).code, 0);
  const Ended sound = RunProgram(directory, {"verify", out, "-q"});
  EXPECT_EQ(sound.code, 0) << sound.err;
  EXPECT_THAT(sound.out, HasSubstr("tokenizer    byte, fingerprint "));
  EXPECT_EQ(sound.err, "");
  directory.Write("out/val.bin", "x");
  directory.Write("out/tokenizer.json", "x");
  const Ended damaged = RunProgram(directory, {"verify", out, "-q"});
  EXPECT_EQ(damaged.code, 1);
  EXPECT_THAT(damaged.out, HasSubstr("documents: 1 problem\n"));
  EXPECT_THAT(damaged.err, StartsWith("error: " + out + "/val.bin: has 1 bytes instead of "));
  EXPECT_THAT(damaged.err, HasSubstr("\nerror: " + out + "/tokenizer.json: is not a JSON object"));
  EXPECT_EQ(RunProgram(directory, {"verify", directory / "none"}).code, 3);
}

TEST(DataProgramTest, InspectsFiles) {
  const TextDirectory directory;
  const std::string input = directory.Write("a.jsonl", "{\"text\": \"one\"}\nbad\n");
  const Ended text = RunProgram(directory, {"inspect", input, "-q"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("lines        2 of JSON, 1 bad (50.0 %): 1 not_json\n"));
  EXPECT_THAT(RunProgram(directory, {"inspect", input, "-q", "-o", "json"}).out,
              StartsWith("{\n  \"files\": ["));
}

TEST(DataProgramTest, RemovesDuplicates) {
  const TextDirectory directory;
  const std::string input = directory.Write("a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"One\"}\n");
  const Ended ended = RunProgram(directory, {"dedup", input, "-o", directory / "out", "-q"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, StartsWith("documents    2 from 1 files: 1 kept, 1 dropped (50.00%)\n"));
  EXPECT_THAT(ended.out, HasSubstr("next         trainyard data prepare"));
  const Ended refused = RunProgram(directory, {"dedup", input, "-o", directory / "out2", "-q",
                                               "--preset", "exact", "--threshold", "0.5"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("preset exact has no threshold"));
}

TEST(DataProgramTest, RemovesDocumentsOfEvaluationSets) {
  const TextDirectory directory;
  const std::string question = "how many of the long wagons does the yard move every night now";
  const std::string evaluation = directory.Write("q.jsonl", "{\"q\":\"" + question + "?\"}\n");
  const std::string input = directory.Write(
      "a.jsonl", "{\"text\":\"So, " + question + "\"}\n{\"text\":\"how many wagons\"}\n");
  std::vector<std::string> arguments = {
      "decontaminate", input, "--against", evaluation, "-q", "--out", directory / "clean"};
  const Ended wrong_field = RunProgram(directory, arguments);
  EXPECT_EQ(wrong_field.code, 1);
  arguments.insert(arguments.end(), {"--against-field", "q"});
  const Ended ended = RunProgram(directory, arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("documents    2 from 1 files: 1 kept, 1 dropped (50.00%)\n"));
  EXPECT_THAT(ended.out, HasSubstr("overlap      1 documents with " + evaluation + ", first " +
                                   input + ":1\n"));
  EXPECT_EQ(RunProgram(directory, {"decontaminate", input, "--out", directory / "x"}).code, 2);
}

TEST(DataProgramTest, ReportsTheStepsAndShowsDocuments) {
  const TextDirectory directory;
  const std::string input = directory.Write("a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"One\"}\n");
  const std::string unique = directory / "unique";
  ASSERT_EQ(RunProgram(directory, {"dedup", input, "-o", unique, "-q"}).code, 0);
  const Ended report = RunProgram(directory, {"report", unique});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out,
              HasSubstr("dedup                                1        3 B   50.00%  "));
  EXPECT_THAT(RunProgram(directory, {"report", unique, "-o", "json"}).out,
              StartsWith("{\n  \"format\": \"trainyard-data-report\","));
  const Ended shown = RunProgram(directory, {"show", unique, input + ":2", "--tokenizer", "byte"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("dropped by dedup, number 1 of the dropped documents\n"));
  EXPECT_THAT(shown.out, HasSubstr("\nO|n|e\n"));
  EXPECT_EQ(RunProgram(directory, {"show", unique, "2"}).code, 3);
  EXPECT_EQ(RunProgram(directory, {"report", directory.path()}).code, 3);
  EXPECT_EQ(RunProgram(directory, {"show", unique}).code, 2);
}

TEST(DataProgramTest, ShowsTheDocumentsOfAStep) {
  const TextDirectory directory;
  const std::string input = directory.Write("a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"two\"}\n");
  const std::string out = directory / "out";
  ASSERT_EQ(RunProgram(directory, {"prepare", input, "-o", out, "-q", "--val-fraction", "0"}).code,
            0);
  const std::vector<std::string> step = {"step-documents", "--job=17",       "--step=1",
                                         "--batch=1",      "--seq-length=7", "--seed=1",
                                         "--source=" + out};
  const auto show = [&](const std::string& option) {
    std::vector<std::string> arguments = step;
    arguments.push_back(option);
    return RunProgram(directory, arguments);
  };
  const Ended shown = show("--sample=0:0:0:0:0:0");
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("  document 1: tokens 0 to 3, bytes 0 to 3\n    from " + input +
                                   ":1\n    \"one\"\n"));
  EXPECT_THAT(shown.out, HasSubstr("  document 2: tokens 0 to 3, bytes 0 to 3\n    from " + input +
                                   ":2\n    \"two\"\n"));
  for (const char* sample : {"--sample=0:0:0:0:0", "--sample=0:0:0:0:0:0:0", "--sample=0:0:0:0:0:x",
                             "--sample=0:0:0:0:1:0", "--sample=0:-1:0:0:0:0"}) {
    EXPECT_EQ(show(sample).code, 2) << sample;
  }
  std::filesystem::remove_all(out);
  EXPECT_EQ(show("--sample=0:0:0:0:0:0").code, 3);
}

TEST(DataProgramTest, ItsAbsenceIsExplained) {
  testing::internal::CaptureStderr();
  CLI::App app;
  DataOptions options;
  // No trainyard-data is next to this test.
  EXPECT_EQ(RunDataCommand(AddDataCommands(app, &options)[0]), 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("error: cannot start /"));
}

}  // namespace
}  // namespace trainyard::cli
