// From an executor to the device behind it.
#include <trn/tile/device.hpp>

namespace trn::tile {

Device& device_of(const Executor& executor) {
  require(executor.family() == Family::Device,
          "device_of: executor '{}' is of the {} family and runs no tile programs; open a device such as sim:trn2",
          executor.name(), name(executor.family()));
  auto* device = dynamic_cast<Device*>(&executor.backend());
  ensure(device != nullptr, "device_of: the backend of executor '{}' says it is a device but is none", executor.name());
  return *device;
}

}  // namespace trn::tile
