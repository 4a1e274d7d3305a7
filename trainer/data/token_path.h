// Finds the files of a data set.
#ifndef TRAINYARD_TRAINER_DATA_TOKEN_PATH_H_
#define TRAINYARD_TRAINER_DATA_TOKEN_PATH_H_

#include <string>
#include <vector>

#include "proto/contract/data_config.h"

namespace trainyard::trainer {

struct TokenFileNames {
  DataFormat format = DataFormat::kTrainyard;  // Never kAuto.
  // Paths of the files without ".bin". If the data set consists of several files, sorted by name.
  std::vector<std::string> stems;
};

// True if `path` is a directory of splits or does not exist. False if it is a file or the prefix of
// a file, which is a single split.
bool HoldsSplits(const std::string& path);

// Finds the files of the split SPLIT. `path` is one of these:
// - a directory that contains SPLIT.bin or, for Megatron-LM and llm.c, .bin files with SPLIT as a
//   word of their name, such as c4_train_00001.bin
// - one file, with or without .bin, .idx or .json, which is split "train"
//
// Throws TrainerError: kNoInput if there are no such files, kBadData if kAuto cannot detect the
// format.
TokenFileNames FindTokenFiles(const std::string& path, const std::string& split, DataFormat format);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_TOKEN_PATH_H_
