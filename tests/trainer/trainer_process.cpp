#include "tests/trainer/trainer_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "tests/trainer/parallel/free_port.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

constexpr int64_t kVocabulary = 64;

// Far longer than any of these runs takes, even on a busy machine. A longer run hangs.
constexpr std::chrono::seconds kDeadline{120};

// Returns tokens that a model can learn: most tokens follow from the preceding token.
std::vector<uint16_t> LearnableTokens(size_t count, uint64_t seed) {
  std::vector<uint16_t> tokens(count);
  uint64_t state = seed;
  for (size_t i = 1; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const bool surprise = (state >> 60) < 3;
    tokens[i] = surprise ? (state >> 33) % kVocabulary : (tokens[i - 1] * 5 + 7) % kVocabulary;
  }
  return tokens;
}

json SmallSpec(const std::string& data) {
  return {{"name", "test"},
          {"resources", {{"device", "cpu"}}},
          {"layout", {{"micro_batch", 4}}},
          {"model",
           {{"num_layers", 2},
            {"hidden_size", 32},
            {"ffn_hidden_size", 64},
            {"num_attention_heads", 4},
            {"num_query_groups", 2},
            {"vocab_size", kVocabulary}}},
          {"data", {{"path", data}}},
          {"train",
           {{"seq_length", 16},
            {"global_batch", 8},
            {"steps", 20},
            {"precision", "fp32"},
            {"threads", 1}}},
          {"optimizer", {{"lr", 3e-3}}},
          {"schedule", {{"warmup_steps", 4}}},
          {"evaluation", {{"every_steps", 10}, {"samples", 12}}},
          {"checkpoint", {{"every_steps", 5}}}};
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> EnvironmentOf(const TrainerFolder& folder, const TrainerStart& start,
                                       const std::filesystem::path& run) {
  std::map<std::string, std::string> variables = {
      {"PATH", "/usr/bin:/bin"},
      {"RANK", std::to_string(start.rank)},
      {"WORLD_SIZE", std::to_string(start.world_size)},
      {"LOCAL_RANK", std::to_string(start.rank)},
      {"LOCAL_WORLD_SIZE", std::to_string(start.world_size)},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", std::to_string(start.port)},
      {"TRAINYARD_RUN_DIR", run},
      {"TRAINYARD_SPEC", run / "spec.json"},
      {"TRAINYARD_CHECKPOINT_DIR", folder.path() / start.checkpoints}};
  if (start.port == 0) variables.erase("MASTER_PORT");
  for (const auto& [name, value] : start.variables) variables[name] = value;
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Mounts `from` at the path `at` for this process only.
bool BindAlone(const std::string& from, const std::string& at) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount(from.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0;
}

int OpenForWriting(const std::filesystem::path& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

}  // namespace

TrainerFolder::TrainerFolder() {
  std::string pattern = testing::TempDir() + "trainer_XXXXXX";
  path_ = mkdtemp(pattern.data());
  std::filesystem::create_directory(path_ / "data");
  WriteTokens("train", LearnableTokens(20000, 1), kVocabulary);
  WriteTokens("val", LearnableTokens(1000, 2), kVocabulary);
  spec = SmallSpec(path_ / "data");
}

TrainerFolder::~TrainerFolder() { std::filesystem::remove_all(path_); }

void TrainerFolder::WriteTokens(const std::string& split, const std::vector<uint16_t>& tokens,
                                int64_t vocab_size) const {
  std::ofstream bin(path_ / "data" / (split + ".bin"), std::ios::binary);
  bin.write(reinterpret_cast<const char*>(tokens.data()),
            static_cast<std::streamsize>(tokens.size() * sizeof(uint16_t)));
  const json header = {{"format", "trainyard-tokens"},
                       {"version", 1},
                       {"dtype", "uint16"},
                       {"tokens", tokens.size()},
                       {"vocab_size", vocab_size},
                       {"documents", 1},
                       {"source_bytes", tokens.size()},
                       {"unigram_entropy", 4.1},
                       {"end_of_document", 0},
                       {"xxh64", ""}};
  std::ofstream(path_ / "data" / (split + ".json")) << header;
}

TrainerProcess::TrainerProcess(const TrainerFolder& folder, const TrainerStart& start)
    : run_(folder.path() / (start.run + "_rank" + std::to_string(start.rank))) {
  std::filesystem::create_directories(run_);
  std::ofstream(run_ / "spec.json") << folder.spec;
  std::vector<std::string> arguments = {TRAINER_PROGRAM};
  arguments.insert(arguments.end(), start.flags.begin(), start.flags.end());
  std::vector<std::string> environment = EnvironmentOf(folder, start, run_);
  const std::vector<char*> argv = Pointers(arguments), envp = Pointers(environment);
  const int out = OpenForWriting(run_ / "out.log"), err = OpenForWriting(run_ / "err.log");
  const std::string own = start.own_checkpoints;
  const std::string shared = folder.path() / start.checkpoints;
  if (!own.empty()) std::filesystem::create_directories(shared);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // Ends the trainer if the test is killed.
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (!own.empty() && !BindAlone(own, shared)) _exit(126);
    if (chdir(run_.c_str()) != 0) _exit(126);
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  close(out);
  close(err);
}

TrainerProcess::~TrainerProcess() {
  if (!IsOver()) Kill();
}

bool TrainerProcess::IsOver() {
  if (status_ < 0 && waitpid(pid_, &status_, WNOHANG) == 0) status_ = -1;
  return status_ >= 0;
}

void TrainerProcess::Kill() {
  Signal(SIGKILL);
  waitpid(pid_, &status_, 0);
}

int TrainerProcess::Wait() {
  if (!WaitFor([this] { return status_ >= 0; })) Kill();
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

void TrainerProcess::Signal(int signal) const { kill(pid_, signal); }

bool TrainerProcess::WaitFor(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  for (;;) {
    const bool over = IsOver();
    if (condition()) return true;
    if (over) return false;
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "still waiting after " << kDeadline.count() << " s; " << Output();
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool TrainerProcess::WaitForStep(int64_t step) {
  return WaitFor([&] {
    const auto losses = Losses();
    return !losses.empty() && losses.rbegin()->first >= step;
  });
}

bool TrainerProcess::WaitForRecord(const std::string& type,
                                   const std::function<bool(const json&)>& is_it) {
  return WaitFor([&] {
    const auto records = Records(type);
    return std::any_of(records.begin(), records.end(), is_it);
  });
}

std::string TrainerProcess::Output() const {
  return ReadFile(run_ / "out.log") + ReadFile(run_ / "err.log");
}

std::vector<json> TrainerProcess::Records(const std::string& type) const {
  return TelemetryRecords(run_, type);
}

std::vector<json> TelemetryRecords(const std::filesystem::path& run, const std::string& type) {
  std::ifstream file(run / "telemetry.jsonl");
  std::vector<json> records;
  for (std::string line; std::getline(file, line);) {
    const json record = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!record.is_discarded() && record["type"] == type) records.push_back(record);
  }
  return records;
}

std::map<int64_t, double> TrainerProcess::Losses() const {
  std::map<int64_t, double> losses;
  for (const json& record : Records("metrics")) {
    if (record.contains("loss")) losses[record["step"]] = record["loss"];
  }
  return losses;
}

std::map<int64_t, double> TrainToTheEnd(const TrainerFolder& folder, TrainerStart start) {
  if (start.world_size > 1) start.port = FreePort();
  std::vector<std::unique_ptr<TrainerProcess>> ranks;
  for (start.rank = 0; start.rank < start.world_size; ++start.rank) {
    ranks.push_back(std::make_unique<TrainerProcess>(folder, start));
  }
  for (const auto& rank : ranks) EXPECT_EQ(rank->Wait(), 0) << rank->Output();
  return ranks[0]->Losses();
}

}  // namespace trainyard::trainer
