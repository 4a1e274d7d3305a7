// Finds the end-of-document token of a run's data.
#ifndef TRAINYARD_TRAINER_DATA_DOCUMENT_TOKEN_H_
#define TRAINYARD_TRAINER_DATA_DOCUMENT_TOKEN_H_

#include <cstdint>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// Returns -1 if no setting needs to know where documents end. Otherwise returns data.eod_token if
// it is set, or else the token that the headers of all training files name. Throws TrainerError
// kBadConfig if files name no token, different tokens or a token outside the vocabulary, and all
// errors of TokenFile.
int64_t EndOfDocumentToken(const RunConfig& config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_DOCUMENT_TOKEN_H_
