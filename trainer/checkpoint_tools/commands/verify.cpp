#include "trainer/checkpoint_tools/commands/verify.h"

#include <unistd.h>

#include <map>
#include <sstream>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/commands/readable_text.h"
#include "trainer/checkpoint_tools/files/open_checkpoint.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

std::string SoundText(const std::string& checkpoint) {
  const CheckpointReader reader(checkpoint);
  const auto& files = reader.manifest().entries.files;
  int64_t bytes = 0;
  for (const auto& [_, file] : files) bytes += file.bytes;
  return checkpoint + " is sound: step " + std::to_string(reader.step()) + ", " +
         CountText(static_cast<int64_t>(reader.tensors().size()), "tensor") + " in " +
         CountText(static_cast<int64_t>(files.size()), "file") + " of " + BytesText(bytes) +
         ", every checksum matches\n";
}

// Returns true if the checkpoint has no faults.
bool VerifyOne(const std::string& checkpoint, std::ostream& out) {
  std::vector<std::string> faults = VerifyCheckpoint(checkpoint);
  std::string summary;
  try {
    if (faults.empty()) summary = SoundText(checkpoint);
  } catch (const TrainerError& error) {
    faults.push_back(error.what());
  }
  for (const std::string& fault : faults) out << fault << "\n";
  if (!faults.empty()) {
    summary = checkpoint + " has " + CountText(static_cast<int64_t>(faults.size()), "fault") + "\n";
  }
  out << summary;
  return faults.empty();
}

bool IsGone(const std::string& path) { return access(path.c_str(), F_OK) != 0; }

struct Count {
  int64_t sound = 0;
  int64_t checked = 0;
};

void VerifyListed(const std::string& checkpoint, std::ostream& out, Count* count) {
  std::ostringstream report;
  const bool is_sound = VerifyOne(checkpoint, report);
  if (!is_sound && IsGone(checkpoint)) {
    out << checkpoint << " was removed while it was read\n";
    return;
  }
  out << report.str() << std::flush;
  count->sound += is_sound;
  ++count->checked;
}

}  // namespace

ExitCode VerifyCheckpoints(const VerifyOptions& options, std::ostream& out) {
  if (HasManifest(options.directory)) {
    return VerifyOne(options.directory, out) ? ExitCode::kOk : ExitCode::kBadCheckpoint;
  }
  std::map<std::string, std::string> unreadable;
  const std::vector<PublishedCheckpoint> listed = ListCheckpoints(options.directory, &unreadable);
  std::erase_if(unreadable, [](const auto& fault) { return IsGone(fault.first); });
  if (listed.empty() && unreadable.empty()) OpenCheckpoint(options.directory);  // Throws.
  for (const auto& [_, reason] : unreadable) out << reason << "\n";
  Count count = {0, static_cast<int64_t>(unreadable.size())};
  const size_t first = options.all || listed.empty() ? 0 : listed.size() - 1;
  for (size_t i = first; i < listed.size(); ++i) VerifyListed(listed[i].path, out, &count);
  out << options.directory << ": " << count.sound << " of "
      << CountText(count.checked, "checked checkpoint") << " " << (count.sound == 1 ? "is" : "are")
      << " sound\n";
  const bool is_good = count.sound > 0 && count.sound == count.checked;
  return is_good ? ExitCode::kOk : ExitCode::kBadCheckpoint;
}

}  // namespace trainyard::trainer
