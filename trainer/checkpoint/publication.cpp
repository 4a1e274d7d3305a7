#include "trainer/checkpoint/publication.h"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/fence.h"
#include "trainer/checkpoint/retention.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// Publishes the checkpoint by renaming its directory. Throws kFenced if a newer attempt has claimed
// the checkpoint directory since the caller's check. In this case that attempt has already renamed
// `temporary`, so this function's rename fails.
void Rename(const std::string& temporary, const std::string& path, const WriterKey& writer,
            const FenceLock& lock) {
  try {
    ReplaceDirectory(temporary, path);
  } catch (const TrainerError&) {
    lock.CheckNotNewerThan(writer);
    throw;
  }
}

std::string RetiredPath(const PublishedCheckpoint& checkpoint,
                        const CheckpointWriterOptions& options) {
  return options.directory + "/" + TemporaryName(checkpoint.step, options.writer, 0);
}

// If `checkpoint` is a checkpoint in `directory`, returns its path in the form that ListCheckpoints
// uses, so that the paths can be compared. Otherwise returns `checkpoint`.
std::string InDirectory(const std::string& directory, const std::string& checkpoint) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::weakly_canonical(checkpoint, error);
  if (!path.has_filename()) path = path.parent_path();
  const std::string ours = directory + "/" + path.filename().string();
  return std::filesystem::equivalent(path, ours, error) ? ours : checkpoint;
}

// Gives temporary names to the checkpoints that retention removes. The caller must hold the fence,
// because an ended attempt must not remove the checkpoint from which a newer attempt
// resumes.
std::vector<PublishedCheckpoint> Retire(const std::string& published,
                                        const CheckpointWriterOptions& options) {
  std::vector<std::string> in_use = {published};
  if (!options.resumed_from.empty()) {
    in_use.push_back(InDirectory(options.directory, options.resumed_from));
  }
  std::vector<PublishedCheckpoint> ours = ListCheckpoints(options.directory);
  std::erase_if(ours, [&](const PublishedCheckpoint& checkpoint) {
    return checkpoint.attempt.job_id != options.writer.attempt.job_id;
  });
  std::vector<PublishedCheckpoint> retired;
  for (const PublishedCheckpoint& checkpoint :
       CheckpointsToDelete(ours, options.retention, in_use)) {
    std::error_code error;
    std::filesystem::rename(checkpoint.path, RetiredPath(checkpoint, options), error);
    if (!error) retired.push_back(checkpoint);
  }
  return retired;
}

void RemoveRetired(const std::vector<PublishedCheckpoint>& retired, const SaveSteps& steps) {
  for (const PublishedCheckpoint& checkpoint : retired) {
    // If some files cannot be removed, the next attempt removes them.
    RemoveTree(RetiredPath(checkpoint, steps.options()));
    CheckpointEvent event;
    event.kind = CheckpointEvent::Kind::kDeleted;
    event.step = checkpoint.step;
    event.attempt = checkpoint.attempt.number;
    event.path = checkpoint.path;
    event.bytes = checkpoint.bytes;
    steps.Notify(event);
  }
}

// Renames the directory of the save, and reports the checkpoint. Returns the older checkpoints that
// retention now removes.
std::vector<PublishedCheckpoint> RenameAndReport(const SaveJob& job, int64_t bytes,
                                                 SaveSteps& steps) {
  const CheckpointWriterOptions& options = steps.options();
  CheckpointEvent event = steps.EventOf(job, CheckpointEvent::Kind::kPublished);
  event.bytes = bytes;
  std::optional<FenceLock> lock;
  steps.Retry(job, [&] {
    // Releases the lock of the previous try, so that a newer attempt can claim the directory
    // between two tries.
    lock.reset();
    lock.emplace(options.directory);
    lock->CheckNotNewerThan(options.writer);
    steps.Reach(SavePhase::kFenceHeld);
    Rename(job.temporary, event.path, options.writer, *lock);
  });
  steps.Retry(job, [&] { SyncDirectory(options.directory); });
  steps.Reach(SavePhase::kPublished);
  // Reports this checkpoint before retiring older checkpoints, because the controller may know only
  // the older checkpoints.
  steps.Notify(event);
  return Retire(event.path, options);
}

}  // namespace

void Publish(const SaveJob& job, Entries entries, SaveSteps& steps) {
  const CheckpointWriterOptions& options = steps.options();
  const Manifest manifest = {job.step,           options.writer.attempt,
                             options.world_size, options.model_fingerprint,
                             job.trainer_state,  std::move(entries)};
  const std::string text = ManifestToText(manifest);
  for (int rank = 0; rank < options.world_size; ++rank) {
    RemoveFile(job.temporary, RankEntriesName(rank));
  }
  steps.Retry(job, [&] { WriteFileAtomically(job.temporary + "/" + kManifestName, text); });
  steps.Reach(SavePhase::kManifestWritten);
  auto bytes = static_cast<int64_t>(text.size());
  for (const auto& [_, file] : manifest.entries.files) bytes += file.bytes;
  RemoveRetired(RenameAndReport(job, bytes, steps), steps);
  RemoveTree(job.temporary);  // If the step had a checkpoint before, the rename moved it here.
  steps.Reach(SavePhase::kRetained);
}

}  // namespace trainyard::trainer
