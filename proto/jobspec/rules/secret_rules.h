// Recognizes keys, tokens and passwords. The job file, the event log and `describe` show `env` and
// `command` in clear text, so a secret must be in `secrets`.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_SECRET_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_SECRET_RULES_H_

#include <string>

namespace trainyard {

// True if the text contains an address with a password, or has a common format of API keys.
bool HoldsSecret(const std::string& text);

// True for names of variables that contain secrets, such as WANDB_API_KEY.
bool HasSecretName(const std::string& name);

// True if the variable must be in `secrets`. Short values, such as EOS_TOKEN: </s>, are not treated
// as secrets.
bool LooksSecret(const std::string& name, const std::string& value);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_SECRET_RULES_H_
