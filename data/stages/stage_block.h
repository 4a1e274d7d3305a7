// Runs a stage on one block.
#ifndef TRAINYARD_DATA_STAGES_STAGE_BLOCK_H_
#define TRAINYARD_DATA_STAGES_STAGE_BLOCK_H_

#include "absl/status/statusor.h"
#include "data/documents/block_decoder.h"
#include "data/stages/block_documents.h"
#include "data/stages/part_names.h"
#include "data/stages/plan.h"
#include "data/stages/record.h"
#include "data/stages/stage.h"

namespace trainyard::data {

// Writes the parts of a block under their unfinished names and returns its record without
// `seconds`. The contents of the parts are on disk afterwards, but their names are not. Removes the
// parts after an error. Thread-safe for different blocks.
absl::StatusOr<BlockRecord> RunStageOnBlock(const Stage& stage, const Plan& plan,
                                            const BlockLease& lease, const DecodeSettings& decode,
                                            const PartNames& names, const Advance& advance);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_STAGE_BLOCK_H_
