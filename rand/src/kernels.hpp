// The kernels of every trnrand operation, both families: the only file that names both.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/core/shape.hpp>
#include <trn/rand/fill_program.hpp>

namespace trn::rand {

// A draw after its door: at least one element, none of them shared, the last position within 64 bits.
struct FillArgs {
  State state;
  Draw draw;
  void* out;  // uint32 or float elements
  Shape shape;
  Strides strides;
};

namespace host {
void fill(const Executor& executor, const FillArgs& args);
}
namespace device {
void fill(const Executor& executor, const FillArgs& args);
}

inline constexpr KernelTable<FillArgs> kRaw32{"rand.raw32", host::fill, device::fill};
inline constexpr KernelTable<FillArgs> kUniform{"rand.uniform", host::fill, device::fill};

}  // namespace trn::rand
