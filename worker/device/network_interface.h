// Finds the network interface of an address of this machine.
#ifndef TRAINYARD_WORKER_DEVICE_NETWORK_INTERFACE_H_
#define TRAINYARD_WORKER_DEVICE_NETWORK_INTERFACE_H_

#include <string>

namespace trainyard::worker {

// Returns the interface with this address, such as "eth0"; "lo" for any loopback address. `address`
// is an IP address or a host name. Empty if no interface has the address, for example behind NAT.
// May query DNS for a host name.
std::string InterfaceOf(const std::string& address);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_NETWORK_INTERFACE_H_
