// Running a program of a shape: from the device's cache or built, with memory bound by name. And constants on their way there.
#pragma once

#include <trn/core/array.hpp>
#include <trn/tile/device.hpp>
#include <vector>

namespace trn::fft::device {

// build(shape, machine) makes the program.
template <class Shape, class Build>
void launch(const Executor& e, const Shape& shape, const Build& build, const std::vector<tile::Binding>& bindings) {
  tile::Device& device = tile::device_of(e);
  device.run(*device.programs().get(shape, [&](const Shape& s) { return build(s, device.machine()); }), bindings);
}

[[nodiscard]] inline Buffer upload(const Executor& e, const std::vector<float>& values) {
  Buffer buffer(e, static_cast<std::int64_t>(values.size() * sizeof(float)));
  if (buffer.bytes() > 0) tile::device_of(e).copy_in(buffer.data(), values.data(), buffer.bytes());
  return buffer;
}

}  // namespace trn::fft::device
