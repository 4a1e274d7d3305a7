// The token that ends a document in a run's data.
#ifndef TRAINYARD_TRAINER_DATA_DOCUMENT_TOKEN_H_
#define TRAINYARD_TRAINER_DATA_DOCUMENT_TOKEN_H_

#include <cstdint>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// data.eod_token, or the one that the headers of all training files name; -1 where no setting needs
// documents. Throws TrainerError: kBadConfig when files name none or different ones, or one outside
// of the vocabulary, and what TokenFile throws.
int64_t EndOfDocumentToken(const RunConfig& config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_DOCUMENT_TOKEN_H_
