// The operation `scale` of docs/adding-an-operation.md, as the page shows it: it compiles, runs on every device and
// gives the right numbers. The listings of the page are lines of this file (tests/check_docs.py).
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/launch.hpp>

namespace trn::blas::device {
namespace {

using namespace trn::tile;
using blocks::for_blocks;

struct ScaleShape {
  DType dtype = DType::Float32;
  std::int64_t rows = 1, columns = 1;
  bool operator==(const ScaleShape&) const = default;
};

tile::Program scale_program(const ScaleShape& s, const tile::Machine& machine) {
  Builder b("blas_scale", machine);
  const Access x = b.input("x", s.dtype, {s.rows, s.columns});
  const Access y = b.output("y", s.dtype, {s.rows, s.columns});
  const Access alpha = blocks::scalar_input(b, "alpha");  // (128, 1)
  for_blocks(b, "mb", s.rows, machine.partitions, LoopKind::Parallel, [&](const Affine& m0, std::int64_t rows) {
    for_blocks(b, "nb", s.columns, 4096, LoopKind::Parallel, [&](const Affine& n0, std::int64_t columns) {
      const Access t = b.sbuf("t", rows, {columns}, s.dtype, 2);  // (128, <=4096), two buffers
      b.dma_copy(t, x(ds(m0, rows), ds(n0, columns)));
      b.tensor_scalar(t, t, AluOp::Multiply, alpha(ds(0, rows), all));
      b.dma_copy(y(ds(m0, rows), ds(n0, columns)), t);
    });
  });
  return b.finish();
}

struct ScaleArgs {
  DType dtype;
  std::int64_t rows, columns;
  const void* x;
  void* y;
  float alpha;
};

void scale(const Executor& executor, const ScaleArgs& g) {
  launch(executor, scale_program, ScaleShape{g.dtype, g.rows, g.columns},
         {{"x", g.x}, {"y", g.y}, constant("alpha", std::array{g.alpha})});
}

TEST(AddingAnOperation, ScaleOfThePage) {
  for (const char* name : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Executor e = Executor::open(name);
    constexpr std::int64_t kRows = 129, kColumns = 4100;  // both blocks ragged
    std::vector<float> values(kRows * kColumns);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000) - 500;
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, values);
    Array<float> y(e, {kRows, kColumns});
    scale(e, {DType::Float32, kRows, kColumns, x.data(), y.data(), 0.5f});
    const std::vector<float> got = y.to_host();
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(got[i], values[i] / 2) << name << " " << i;
  }
}

}  // namespace
}  // namespace trn::blas::device
