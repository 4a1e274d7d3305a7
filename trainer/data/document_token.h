// The end-of-document token of a run's data.
#ifndef TRAINYARD_TRAINER_DATA_DOCUMENT_TOKEN_H_
#define TRAINYARD_TRAINER_DATA_DOCUMENT_TOKEN_H_

#include <cstdint>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// Returns data.eod_token, or else the token named by the headers of all training files; -1 if no
// setting needs documents. Throws TrainerError: kBadConfig if files name no token, different tokens
// or one outside the vocabulary, and what TokenFile throws.
int64_t EndOfDocumentToken(const RunConfig& config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_DOCUMENT_TOKEN_H_
