// Finds the files of a data set.
#ifndef TRAINYARD_TRAINER_DATA_TOKEN_PATH_H_
#define TRAINYARD_TRAINER_DATA_TOKEN_PATH_H_

#include <string>
#include <vector>

#include "proto/contract/data_config.h"

namespace trainyard::trainer {

struct TokenFileNames {
  DataFormat format = DataFormat::kTrainyard;  // Never kAuto.
  // Paths without ".bin". Several, sorted by name, if the data set is in parts.
  std::vector<std::string> stems;
};

// True if `path` is a directory of splits or does not exist. False for one file or file prefix,
// which is a single split.
bool HoldsSplits(const std::string& path);

// Finds the files of `split`. `path` is a directory with SPLIT.bin or, for Megatron-LM and llm.c,
// with .bin files that have SPLIT as a word of their name, such as c4_train_00001.bin. Or it names
// one file, with or without .bin, .idx or .json, which is split "train". Throws TrainerError:
// kNoInput if there are no such files, kBadData if kAuto cannot determine the format.
TokenFileNames FindTokenFiles(const std::string& path, const std::string& split, DataFormat format);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_TOKEN_PATH_H_
