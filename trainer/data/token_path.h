// Finds the files of a data set.
#ifndef TRAINYARD_TRAINER_DATA_TOKEN_PATH_H_
#define TRAINYARD_TRAINER_DATA_TOKEN_PATH_H_

#include <string>
#include <vector>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

struct TokenFileNames {
  DataFormat format = DataFormat::kTrainyard;  // Never kAuto.
  // Without ".bin"; several where a data set is in parts, in the order of their names.
  std::vector<std::string> stems;
};

// True when `path` is a directory of splits, or not there; false for one file or prefix of files,
// which is a split by itself.
bool HoldsSplits(const std::string& path);

// `path` is a directory that holds SPLIT.bin, or (Megatron-LM, llm.c) .bin files with SPLIT as a
// word of their name, such as c4_train_00001.bin; or the name of one file, with or without .bin or
// .idx, which is split "train". Throws TrainerError: kNoInput when there are no such files,
// kBadData when kAuto cannot tell their format.
TokenFileNames FindTokenFiles(const std::string& path, const std::string& split, DataFormat format);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_TOKEN_PATH_H_
