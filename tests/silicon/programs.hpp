// Small programs for tests of the `neuron` executor.
#pragma once

#include <cmath>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>

namespace trn::neuron::testing {

inline constexpr std::int64_t kRows = 8, kColumns = 16;

struct Twice {
  int variant = 0;  // another value is another program
  bool operator==(const Twice&) const = default;
};
// y = x + x
inline tile::Program twice_program(const Twice& args, const tile::Machine& machine) {
  tile::Builder b(args.variant == 0 ? "twice" : "twice" + std::to_string(args.variant), machine);
  const tile::Access x = b.input("x", DType::Float32, {kRows, kColumns}),
                     y = b.output("y", DType::Float32, {kRows, kColumns}),
                     t = b.sbuf("t", kRows, {kColumns}, DType::Float32),
                     u = b.sbuf("u", kRows, {kColumns}, DType::Float32);
  b.dma_copy(t, x);
  b.tensor_tensor(u, t, t, tile::AluOp::Add);
  b.dma_copy(y, u);
  return b.finish();
}
inline void twice(const Executor& e, const Array<float>& x, const Array<float>& y, int variant = 0) {
  tile::launch(e, twice_program, Twice{variant}, {{"x", static_cast<const float*>(x.data())}, {"y", y.data()}});
}

inline std::vector<float> filled(float value) { return std::vector<float>(kRows * kColumns, value); }
inline std::vector<float> numbers(int seed) {
  std::vector<float> values(kRows * kColumns);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i + 1) * static_cast<float>(seed));
  return values;
}

struct AddInto {
  bool operator==(const AddInto&) const = default;
};
// y = y_in + x; y continues y_in.
inline tile::Program add_into_program(const AddInto&, const tile::Machine& machine) {
  tile::Builder b("add_into", machine);
  const tile::Access x = b.input("x", DType::Float32, {kRows, kColumns}),
                     before = b.input("y_in", DType::Float32, {kRows, kColumns}), y = b.output_over("y", before),
                     t = b.sbuf("t", kRows, {kColumns}, DType::Float32),
                     u = b.sbuf("u", kRows, {kColumns}, DType::Float32),
                     v = b.sbuf("v", kRows, {kColumns}, DType::Float32);
  b.dma_copy(t, x);
  b.dma_copy(u, before);
  b.tensor_tensor(v, t, u, tile::AluOp::Add);
  b.dma_copy(y, v);
  return b.finish();
}

}  // namespace trn::neuron::testing
