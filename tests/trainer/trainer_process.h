// Runs trainyard-trainer as users do: real processes, real files.
#ifndef TRAINYARD_TESTS_TRAINER_TRAINER_PROCESS_H_
#define TRAINYARD_TESTS_TRAINER_TRAINER_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace trainyard::trainer {

// A temporary folder with tiny token data and a spec; removed at the end.
class TrainerFolder {
 public:
  TrainerFolder();
  ~TrainerFolder();
  TrainerFolder(const TrainerFolder&) = delete;
  TrainerFolder& operator=(const TrainerFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Settings that a test may change before it starts a process.
  nlohmann::json spec;
  void WriteTokens(const std::string& split, const std::vector<uint16_t>& tokens,
                   int64_t vocab_size) const;

 private:
  std::filesystem::path path_;
};

// Parameters of a process in addition to the spec.
struct TrainerStart {
  int64_t rank = 0;
  int64_t world_size = 1;
  int64_t port = 0;         // Port of the rendezvous.
  std::string run = "run";  // Prefix of the output and telemetry folders, one per rank.
  std::string checkpoints = "checkpoints";
  std::vector<std::string> flags;
  std::map<std::string, std::string> variables;
  // Directory that only this process sees at the path of its checkpoints; empty: the folder's.
  // Needs root.
  std::string own_checkpoints;
};

// A child process that the destructor kills if it is still running.
class TrainerProcess {
 public:
  TrainerProcess(const TrainerFolder& folder, const TrainerStart& start);
  ~TrainerProcess();
  TrainerProcess(const TrainerProcess&) = delete;
  TrainerProcess& operator=(const TrainerProcess&) = delete;

  // The exit code, or 128 + the signal that ended it. Kills a hanging process and fails the test.
  int Wait();
  void Signal(int signal) const;
  // Returns false if the process ends or the deadline passes before the condition holds.
  bool WaitFor(const std::function<bool()>& condition);
  // Waits until the metrics of `step` exist. Returns false if the process ends first.
  bool WaitForStep(int64_t step);
  // Waits until there is a telemetry record of this type that satisfies the condition.
  bool WaitForRecord(
      const std::string& type,
      const std::function<bool(const nlohmann::json&)>& is_it = [](const auto&) { return true; });

  std::string Output() const;  // stdout, then stderr.
  // Telemetry records of one type, oldest first.
  std::vector<nlohmann::json> Records(const std::string& type) const;
  // Loss of each logged step.
  std::map<int64_t, double> Losses() const;

 private:
  bool IsOver();
  void Kill();

  std::filesystem::path run_;
  pid_t pid_ = -1;
  int status_ = -1;  // Set once the process has ended.
};

// Telemetry records of one type in a run's folder, oldest first.
std::vector<nlohmann::json> TelemetryRecords(const std::filesystem::path& run,
                                             const std::string& type);

// Runs one process, or `world_size` processes, to the end. Expects exit code 0 from each and
// returns the losses of rank 0.
std::map<int64_t, double> TrainToTheEnd(const TrainerFolder& folder, TrainerStart start);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_TRAINER_PROCESS_H_
