// The controller's certificate and private key.
#ifndef TRAINYARD_CONTROLLER_ACCESS_TLS_IDENTITY_H_
#define TRAINYARD_CONTROLLER_ACCESS_TLS_IDENTITY_H_

#include <string>

namespace trainyard::controller {

// PEM texts. If both are empty, connections are not encrypted.
struct TlsIdentity {
  std::string certificate;
  std::string key;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_TLS_IDENTITY_H_
