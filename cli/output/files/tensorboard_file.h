// Writes metrics as a TensorBoard event file: TFRecords of v1::TensorboardEvent.
#ifndef TRAINYARD_CLI_OUTPUT_FILES_TENSORBOARD_FILE_H_
#define TRAINYARD_CLI_OUTPUT_FILES_TENSORBOARD_FILE_H_

#include <string>

#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::cli {

// Returns the record that begins each file.
std::string TensorboardFileStart(double unix_seconds);

// Returns the records of all points of a series, in the order of the steps.
std::string TensorboardSeries(const v1::Series& series);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_FILES_TENSORBOARD_FILE_H_
