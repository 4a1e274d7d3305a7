// Writes metrics as a TensorBoard event file: TFRecords of v1::TensorboardEvent.
#ifndef TRAINYARD_CLI_OUTPUT_TENSORBOARD_FILE_H_
#define TRAINYARD_CLI_OUTPUT_TENSORBOARD_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::cli {

// Returns the CRC-32C (Castagnoli) of the bytes.
uint32_t Crc32c(std::string_view bytes);

// Returns the record that contains the bytes: length and bytes, each with its masked CRC-32C.
std::string TfRecord(std::string_view bytes);

// Returns the record that begins each file.
std::string TensorboardFileStart(double unix_seconds);

// Returns the records of all points of a series, in the order of the steps.
std::string TensorboardSeries(const v1::Series& series);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_TENSORBOARD_FILE_H_
