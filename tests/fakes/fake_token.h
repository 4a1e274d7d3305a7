// A token for tests, and the answer of a controller that requires the token.
#ifndef TRAINYARD_TESTS_FAKES_FAKE_TOKEN_H_
#define TRAINYARD_TESTS_FAKES_FAKE_TOKEN_H_

#include <sys/stat.h>

#include <string>

#include "proto/proof/proof.h"
#include "tests/fakes/temporary_directory.h"
#include "trainyard/v1/access_service.pb.h"

namespace trainyard {

inline const std::string& FakeToken() {
  static const std::string token(64, '7');
  return token;
}

// Writes the token into the directory and returns its path.
inline std::string WriteFakeToken(const std::string& directory) {
  const std::string path = directory + "/token";
  WriteFile(path, FakeToken() + "\n");
  chmod(path.c_str(), 0600);
  return path;
}

inline v1::ProveResponse ProveFakeToken(const v1::ProveRequest& request) {
  v1::ProveResponse response;
  response.set_proof(ControllerProof(FakeToken(), request.nonce(), request.address()));
  response.set_challenge("challenge");
  return response;
}

}  // namespace trainyard

#endif  // TRAINYARD_TESTS_FAKES_FAKE_TOKEN_H_
