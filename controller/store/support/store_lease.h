// The right of a process to write to stores that several processes can reach.
#ifndef TRAINYARD_CONTROLLER_STORE_SUPPORT_STORE_LEASE_H_
#define TRAINYARD_CONTROLLER_STORE_SUPPORT_STORE_LEASE_H_

namespace trainyard::controller {

// Keeps the right during its lifetime. The destructor returns it.
class StoreLease {
 public:
  virtual ~StoreLease() = default;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SUPPORT_STORE_LEASE_H_
