// Shows the progress of long work: as a bar on a terminal, otherwise as an occasional line.
#ifndef TRAINYARD_DATA_PREPARE_COMMAND_PROGRESS_H_
#define TRAINYARD_DATA_PREPARE_COMMAND_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <string>

namespace trainyard::data {

// For use by one thread. `print` receives the text with its control characters.
class Progress {
 public:
  struct Settings {
    bool is_terminal = false;
    std::function<void(const std::string&)> print;  // empty: quiet
    std::function<double()> seconds;                // steady clock
  };

  explicit Progress(Settings settings) : settings_(std::move(settings)) {}

  // Prints a line about the current work.
  void PrintLine(const std::string& line);
  // Begins work on `total` bytes.
  void Start(const std::string& what, int64_t total);
  void Advance(int64_t bytes);
  void Stop();

  // Time of the clock in the settings.
  double Seconds() const { return settings_.seconds(); }

 private:
  std::string Line() const;

  const Settings settings_;
  std::string what_;
  int64_t total_ = 0;
  int64_t done_ = 0;
  double started_ = 0;
  double printed_ = 0;
  bool bar_shown_ = false;
};

// "9.1 MB"
std::string ReadableBytes(int64_t bytes);
// "1,234,567"
std::string ReadableCount(int64_t count);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_COMMAND_PROGRESS_H_
