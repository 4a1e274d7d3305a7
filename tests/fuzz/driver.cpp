// On systems without libFuzzer, runs a fuzz target on a corpus and on mutations of the corpus. The
// run has a time limit and a seed.
//
//   fuzz_NAME [--seconds S] [--seed N] [--max-bytes N] CORPUS...
//
// CORPUS consists of files and folders of inputs. With --seconds 0, each input is run once,
// unchanged, for example to reproduce a saved failure. If an input fails, it is written to
// crash-NAME.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace trainyard::fuzz {
namespace {

namespace fs = std::filesystem;

// An input that takes longer counts as a hang.
constexpr unsigned kHangSeconds = 10;

struct Options {
  double seconds = 0;
  uint64_t seed = 1;
  std::size_t max_bytes = 4096;
  std::vector<std::string> paths;
};

// The current input, and the path to which it is written on a crash. The signal handler uses both.
const uint8_t* current_data = nullptr;
std::size_t current_size = 0;
char crash_file[256] = "crash";

// Uses only async-signal-safe functions.
void OnCrash(int number) {
  const int file = open(crash_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0) {
    std::size_t written = 0;
    while (written < current_size) {
      const ssize_t more = write(file, current_data + written, current_size - written);
      if (more <= 0) break;
      written += static_cast<std::size_t>(more);
    }
    close(file);
  }
  const char* why = number == SIGALRM ? "hang" : "crash";
  for (const char* text : {why, ": the input is in ", static_cast<const char*>(crash_file), "\n"}) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void WatchCrashes(const std::string& program) {
  std::snprintf(crash_file, sizeof crash_file, "crash-%s", fs::path(program).filename().c_str());
  for (const int one : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    std::signal(one, OnCrash);
  }
}

void RunOne(const std::string& input) {
  current_data = reinterpret_cast<const uint8_t*>(input.data());
  current_size = input.size();
  alarm(kHangSeconds);
  LLVMFuzzerTestOneInput(current_data, current_size);
  alarm(0);
}

std::string ReadInput(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> ReadCorpus(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  // Sorts the files of a folder, because their order is undefined. A seed must give the same run on
  // every machine.
  std::sort(files.begin(), files.end());
  std::vector<std::string> corpus;
  for (const fs::path& file : files) corpus.push_back(ReadInput(file));
  return corpus;
}

// Changes an input slightly, or joins two inputs.
class Mutator {
 public:
  Mutator(const std::vector<std::string>& corpus, const Options& options)
      : corpus_(corpus), random_(options.seed), max_bytes_(options.max_bytes) {}

  std::string Next() {
    std::string input = Any();
    const std::size_t changes = 1 + Below(8);
    for (std::size_t i = 0; i < changes; ++i) Change(input);
    if (input.size() > max_bytes_) input.resize(max_bytes_);
    return input;
  }

 private:
  std::size_t Below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  const std::string& Any() { return corpus_[Below(corpus_.size())]; }

  void Change(std::string& input) {
    const std::size_t at = Below(input.size() + 1);
    switch (Below(8)) {
      case 0:
        if (!input.empty()) input[Below(input.size())] ^= static_cast<char>(1 << Below(8));
        break;
      case 1:
        if (!input.empty()) input[Below(input.size())] = static_cast<char>(random_());
        break;
      case 2:
        input.insert(at, 1, static_cast<char>(random_()));
        break;
      case 3:
        if (at < input.size()) input.erase(at, 1 + Below(16));
        break;
      case 4:
        input.insert(at, Part(input));
        break;
      case 5:
        input.insert(at, Part(Any()));
        break;
      case 6:
        input.insert(at, Interesting());
        break;
      default:
        // Repeats a part of the input, which creates deeply nested and long inputs.
        for (std::size_t i = 0, end = 1 + Below(64); i < end && input.size() < max_bytes_; ++i) {
          input.insert(std::min(at, input.size()), 1,
                       input.empty() ? '[' : input[at % input.size()]);
        }
    }
  }

  std::string Part(const std::string& text) {
    const std::size_t from = Below(text.size() + 1);
    return text.substr(from, Below(text.size() - from + 1));
  }

  // Returns a value that parsers of text or numbers often handle incorrectly.
  std::string Interesting() {
    static constexpr std::string_view kInteresting[] = {"0",
                                                        "-1",
                                                        "2147483648",
                                                        "9223372036854775807",
                                                        "-9223372036854775808",
                                                        "18446744073709551616",
                                                        "1e309",
                                                        "-1e-309",
                                                        "NaN",
                                                        "Infinity",
                                                        "null",
                                                        "true",
                                                        "~",
                                                        "%",
                                                        "%00",
                                                        "%ff",
                                                        "%2f",
                                                        "\r\n",
                                                        "\n",
                                                        "\r",
                                                        "\t",
                                                        ": ",
                                                        "- ",
                                                        "{",
                                                        "}",
                                                        "[",
                                                        "]",
                                                        ",",
                                                        "\"",
                                                        "'",
                                                        "\\",
                                                        "\\u0000",
                                                        "\\ud800",
                                                        "&a",
                                                        "*a",
                                                        "!!binary ",
                                                        "!",
                                                        "|",
                                                        ">",
                                                        "?",
                                                        "#",
                                                        "<<: ",
                                                        "../",
                                                        "/",
                                                        "\xff\xfe",
                                                        "\xef\xbb\xbf",
                                                        "\xc3\x28",
                                                        "\xed\xa0\x80",
                                                        "Transfer-Encoding: chunked\r\n",
                                                        "Content-Length: ",
                                                        "Expect: 100-continue\r\n",
                                                        "extends: ",
                                                        "$",
                                                        "=",
                                                        "?",
                                                        "&",
                                                        "+"};
    return std::string(kInteresting[Below(std::size(kInteresting))]);
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_;
  const std::size_t max_bytes_;
};

bool ReadOptions(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (!argument.starts_with("--")) {
      options.paths.push_back(argument);
      continue;
    }
    if (++i == argc) return false;
    std::istringstream value(argv[i]);
    if (argument == "--seconds") {
      value >> options.seconds;
    } else if (argument == "--seed") {
      value >> options.seed;
    } else if (argument == "--max-bytes") {
      value >> options.max_bytes;
    } else {
      return false;
    }
    if (!value || !value.eof()) return false;
  }
  return !options.paths.empty();
}

int Run(const Options& options) {
  const std::vector<std::string> corpus = ReadCorpus(options.paths);
  if (corpus.empty()) {
    std::cerr << "the corpus is empty\n";
    return 2;
  }
  using Steady = std::chrono::steady_clock;
  const Steady::time_point end =
      Steady::now() +
      std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(options.seconds));
  for (const std::string& input : corpus) RunOne(input);
  int64_t mutated = 0;
  for (Mutator mutator(corpus, options); Steady::now() < end; ++mutated) RunOne(mutator.Next());
  std::cout << corpus.size() << " inputs of the corpus and " << mutated << " mutations, seed "
            << options.seed << ": nothing found\n";
  return 0;
}

}  // namespace
}  // namespace trainyard::fuzz

int main(int argc, char** argv) {
  trainyard::fuzz::Options options;
  if (!trainyard::fuzz::ReadOptions(argc, argv, options)) {
    std::cerr << "usage: " << argv[0]
              << " [--seconds S] [--seed N] [--max-bytes N] CORPUS_FILE_OR_FOLDER...\n";
    return 2;
  }
  trainyard::fuzz::WatchCrashes(argv[0]);
  return trainyard::fuzz::Run(options);
}
