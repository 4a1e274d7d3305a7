// Wraps proto/files/durable_file.h with exceptions and adds operations on checkpoint
// directories.
//
// All functions throw TrainerError with the path and the system's reason, kCannotWrite unless
// stated otherwise.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_DURABLE_FILE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_DURABLE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/files/durable_file.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

// Creates the directory and its parents if missing.
void MakeDirectories(const std::string& path);

// A DurableFile in a checkpoint.
class DurableFileWriter {
 public:
  // Creates the file, or empties an existing one.
  explicit DurableFileWriter(const std::string& path);
  void Append(std::string_view piece);
  // Syncs and closes the file. Without this call the file remains as it is.
  void Finish();

 private:
  DurableFile file_;
};

// Writes a file that appears under its name only once it is complete and on disk.
void WriteFileAtomically(const std::string& path, std::string_view text);

// Makes creations, renames and removals inside the directory durable.
void SyncDirectory(const std::string& path);

// Renames directory `from` to `to`. An existing directory `to` gets the name `from`. Atomic if the
// file system can exchange two names; otherwise the old directory is renamed first.
void ReplaceDirectory(const std::string& from, const std::string& to);

// Removes a directory tree as far as possible, without following links
// (proto/files/remove_tree.h). Never throws. Avoids std::filesystem::remove_all: PyTorch's CUDA
// wheels export C++ file system symbols of another libstdc++, and remove_all crashes with them
// (seen with 2.11+cu130).
void RemoveTree(const std::string& path);

// Removes a file of the directory if possible. Does nothing if the directory is a symbolic link.
void RemoveFile(const std::string& directory, const std::string& name);

// Returns the text of the file. Throws TrainerError with code `failure` if it cannot be read; the
// caller chooses the code, because it depends on the owner of the file.
std::string ReadFile(const std::string& path, ExitCode failure);

// Size of the file in bytes; -1 if it is not an accessible regular file.
int64_t FileBytes(const std::string& path);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_DURABLE_FILE_H_
