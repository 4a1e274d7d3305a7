// Wraps proto/files/durable_file.h: throws exceptions instead of returning errors, and adds
// operations on checkpoint directories.
//
// All functions throw TrainerError with the path and the system's reason. The code is kCannotWrite
// unless stated otherwise.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_DURABLE_FILE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_DURABLE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/files/durable_file.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

// Creates the directory and its parents if they do not exist.
void MakeDirectories(const std::string& path);

// Writes a file of a checkpoint (see DurableFile).
class DurableFileWriter {
 public:
  // Creates the file, or empties an existing one.
  explicit DurableFileWriter(const std::string& path);
  void Append(std::string_view piece);
  // Syncs and closes the file. If Finish is not called, the incomplete file is kept.
  void Finish();

 private:
  DurableFile file_;
};

// Writes a file that appears under its name only when it is complete and on disk.
void WriteFileAtomically(const std::string& path, std::string_view text);

// Syncs the directory, so that the creation, renaming and removal of its files survive a crash.
void SyncDirectory(const std::string& path);

// Renames directory `from` to `to`. If `to` already exists, that directory gets the name `from`.
// The exchange is atomic if the file system supports it; otherwise the old directory is renamed
// first.
void ReplaceDirectory(const std::string& from, const std::string& to);

// Removes as much of a directory tree as possible, without following links
// (proto/files/remove_tree.h). Never throws. std::filesystem::remove_all cannot be used: PyTorch's
// CUDA wheels export C++ file system symbols of another libstdc++, with which remove_all crashes
// (seen with 2.11+cu130).
void RemoveTree(const std::string& path);

// Removes a file of the directory; ignores errors. Does nothing if the directory is a symbolic
// link.
void RemoveFile(const std::string& directory, const std::string& name);

// Returns the text of the file. If it cannot be read, throws TrainerError with code `failure`. The
// caller chooses the code, because it depends on who is responsible for the file.
std::string ReadFile(const std::string& path, ExitCode failure);

// Returns the size of the file in bytes; -1 if it is not a regular file or cannot be accessed.
int64_t FileBytes(const std::string& path);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_DURABLE_FILE_H_
