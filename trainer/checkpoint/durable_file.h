// proto/contract/durable_file.h with exceptions, and further operations on checkpoint directories.
//
// All functions throw TrainerError with the path and the system's reason, kCannotWrite unless they
// say otherwise.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_DURABLE_FILE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_DURABLE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/contract/durable_file.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

// Makes the directory and its parents where missing.
void MakeDirectories(const std::string& path);

// A DurableFile of a checkpoint.
class DurableFileWriter {
 public:
  // Makes or empties the file.
  explicit DurableFileWriter(const std::string& path);
  void Append(std::string_view piece);
  // Syncs and closes. Without it the file is left as it is.
  void Finish();

 private:
  DurableFile file_;
};

// Writes a file that appears under its name only when it is complete and on disk.
void WriteFileAtomically(const std::string& path, std::string_view text);

// Makes creations, renames and removals inside the directory durable.
void SyncDirectory(const std::string& path);

// Moves directory `from` to the name `to`; a directory that had the name `to` gets the name `from`.
// Atomic where the file system can exchange two names; elsewhere the old directory is renamed
// first.
void ReplaceDirectory(const std::string& from, const std::string& to);

// Removes a directory and what is in it, as far as it can and without following links
// (proto/contract/remove_tree.h); never throws. Not by std::filesystem::remove_all: PyTorch's CUDA
// wheels export C++ file system symbols of another libstdc++, and remove_all crashes among them
// (seen with 2.11+cu130).
void RemoveTree(const std::string& path);

// Removes a file of the directory if possible. Does nothing if the directory is a link.
void RemoveFile(const std::string& directory, const std::string& name);

// The text of the file. Throws `failure` when the file cannot be read: the right code depends on
// the owner of the file.
std::string ReadFile(const std::string& path, ExitCode failure);

// Size of the file in bytes; -1 when it is not an accessible regular file.
int64_t FileBytes(const std::string& path);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_DURABLE_FILE_H_
