// Runs trainyard-trainer as users do, with real processes and real files.
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

// A temporary folder with a small token file and a spec. The destructor removes it.
class TrainerFolder {
 public:
  TrainerFolder();
  ~TrainerFolder();
  TrainerFolder(const TrainerFolder&) = delete;
  TrainerFolder& operator=(const TrainerFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Settings of the run. A test may change them before it starts a process.
  nlohmann::json spec;
  void WriteTokens(const std::string& split, const std::vector<uint16_t>& tokens,
                   int64_t vocab_size) const;

 private:
  std::filesystem::path path_;
};

// Start parameters of a process that are not part of the spec.
struct TrainerStart {
  int64_t rank = 0;
  int64_t world_size = 1;
  int64_t port = 0;         // The rendezvous port.
  std::string run = "run";  // Prefix for each rank's output file and telemetry folder.
  std::string checkpoints = "checkpoints";
  std::vector<std::string> flags;
  std::map<std::string, std::string> variables;
  // A directory that only this process sees at its checkpoint path. If "", the process sees the
  // folder's directory. A value other than "" needs root.
  std::string own_checkpoints;
};

// A child process. The destructor kills it if it is still running.
class TrainerProcess {
 public:
  TrainerProcess(const TrainerFolder& folder, const TrainerStart& start);
  ~TrainerProcess();
  TrainerProcess(const TrainerProcess&) = delete;
  TrainerProcess& operator=(const TrainerProcess&) = delete;

  // Waits until the process exits. Returns its exit code, or 128 + the number of the signal that
  // ended it. Kills a process that hangs and fails the test.
  int Wait();
  void Signal(int signal) const;
  // Waits until the condition holds. Returns false if the process exits or the deadline passes
  // first.
  bool WaitFor(const std::function<bool()>& condition);
  // Waits until the telemetry has metrics of `step`. Returns false if the process exits first.
  bool WaitForStep(int64_t step);
  // Waits until a telemetry record of this type satisfies the condition.
  bool WaitForRecord(
      const std::string& type,
      const std::function<bool(const nlohmann::json&)>& is_it = [](const auto&) { return true; });

  std::string Output() const;  // stdout, then stderr.
  // Returns the telemetry records of one type, oldest first.
  std::vector<nlohmann::json> Records(const std::string& type) const;
  // Returns the loss of each logged step.
  std::map<int64_t, double> Losses() const;

 private:
  bool IsOver();
  void Kill();

  std::filesystem::path run_;
  pid_t pid_ = -1;
  int status_ = -1;  // -1 until the process has ended.
};

// Returns the telemetry records of one type in a run's folder, oldest first.
std::vector<nlohmann::json> TelemetryRecords(const std::filesystem::path& run,
                                             const std::string& type);

// Runs `world_size` processes (default 1) until they exit. Expects exit code 0 from each. Returns
// the losses of rank 0.
std::map<int64_t, double> TrainToTheEnd(const TrainerFolder& folder, TrainerStart start);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_TRAINER_PROCESS_H_
