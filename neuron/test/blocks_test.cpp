// The reusable blocks, simulated on every machine and compared with plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <trn/core/float_types.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/blocks/reduce.hpp>
#include <trn/tile/blocks/transpose.hpp>

namespace trn::neuron {
namespace {

using namespace trn::tile;

std::vector<float> random_floats(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& x : values) x = normal(engine);
  return values;
}

class BlocksOn : public ::testing::TestWithParam<const char*> {
 protected:
  const Machine& machine_ = tile::machine(GetParam());
  void run(Builder& b, std::vector<Binding> bindings) {
    for (const SimOptions& options : {SimOptions{}, SimOptions{.order = Order::shuffled(3)}}) {
      (void)simulate(b_program(b), machine_, bindings, options);
    }
  }

 private:
  const Program& b_program(Builder& b) {
    if (!program_) program_ = b.finish();
    return *program_;
  }
  std::optional<Program> program_;
};

INSTANTIATE_TEST_SUITE_P(Every, BlocksOn, ::testing::Values("trn1", "trn2", "trn3"));

TEST_P(BlocksOn, ForBlocksCoversAnExtentOnce) {
  const std::int64_t n = 300;
  std::vector<float> in = random_floats(n * 5, 1), out(in.size(), NAN);
  Builder b("copy", machine_);
  const Access x = b.input("x", DType::Float32, {n, 5}), y = b.output("y", DType::Float32, {n, 5});
  blocks::for_blocks(b, "i", n, 128, LoopKind::Parallel, [&](const Affine& start, std::int64_t rows) {
    const Access t = b.sbuf("t", rows, {5}, DType::Float32, 2);
    b.dma_copy(t, x(ds(start, rows), all));
    b.dma_copy(y(ds(start, rows), all), t);
  });
  run(b, {{"x", in.data()}, {"y", out.data()}});
  EXPECT_EQ(in, out);
}

// Rows and columns beyond one bank, several tiles of k, the first overwriting.
TEST_P(BlocksOn, AccumulatorHoldsAProduct) {
  const std::int64_t m = 150, n = 700, tiles = 3, k = 100;
  std::vector<float> a = random_floats(k * tiles * m, 2), w = random_floats(k * tiles * n, 3),
                     c(static_cast<std::size_t>(m * n), NAN);
  Builder b("product", machine_);
  const Access ha = b.input("a", DType::Float32, {k, tiles, m}), hw = b.input("w", DType::Float32, {k, tiles, n});
  const Access hc = b.output("c", DType::Float32, {m, n});
  const Access ta = b.sbuf("ta", k, {tiles, m}, DType::Float32), tw = b.sbuf("tw", k, {tiles, n}, DType::Float32);
  b.dma_copy(ta, ha);
  b.dma_copy(tw, hw);
  const blocks::Accumulator acc = blocks::accumulator(b, "acc", m, n);
  EXPECT_EQ(acc.row_pieces(), 2);
  EXPECT_EQ(acc.column_pieces(), 2);
  blocks::multiply_into(b, acc, ta, tw, Affine(0));
  for (std::int64_t i = 0; i < acc.row_pieces(); ++i) {
    for (std::int64_t j = 0; j < acc.column_pieces(); ++j) {
      const Access out = b.sbuf("out", acc.rows_of(i), {acc.columns_of(j)}, DType::Float32);
      blocks::scale(b, out, acc.piece(i, j), 1.0, (i + j) % 2 ? Engine::Scalar : Engine::Vector);
      b.dma_copy(hc(ds(i * acc.piece_rows, acc.rows_of(i)), ds(j * acc.piece_columns, acc.columns_of(j))), out);
    }
  }
  run(b, {{"a", a.data()}, {"w", w.data()}, {"c", c.data()}});
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      long double sum = 0, size = 0;
      for (std::int64_t p = 0; p < k * tiles; ++p) {
        const long double product =
            static_cast<long double>(a[static_cast<std::size_t>(p * m + i)]) * w[static_cast<std::size_t>(p * n + j)];
        sum += product;
        size += std::abs(product);
      }
      // k fused products in a chain, then one addition per tile.
      ASSERT_LE(std::abs(c[static_cast<std::size_t>(i * n + j)] - sum), (k + tiles) * 0x1p-24L * size) << i << ' ' << j;
    }
  }
}

template <class T> void transpose_case(const Machine& machine, std::int64_t rows, std::int64_t columns) {
  std::vector<T> in(static_cast<std::size_t>(rows * columns)), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = T(static_cast<float>(i % 251) - 100.0f);
  Builder b("turn", machine);
  const std::int64_t side = machine.partitions, whole = columns / side, rest = columns % side;
  const Access x = b.input("x", dtype_of<T>, {rows, columns}), y = b.output("y", dtype_of<T>, {columns, rows});
  const Access strip = b.sbuf("strip", rows, {columns}, dtype_of<T>);
  b.dma_copy(strip, x);
  const Access turned = b.sbuf("turned", std::min(side, columns), {blocks::ceil_div(columns, side), rows}, dtype_of<T>);
  blocks::transpose_pieces(b, turned, strip);
  for (std::int64_t t = 0; t < whole; ++t) b.dma_copy(y(ds(t * side, side), all), turned(all, ds(t, 1), all));
  if (rest > 0) b.dma_copy(y(ds(whole * side, rest), all), turned(ds(0, rest), ds(whole, 1), all));
  const std::vector<Binding> bindings{{"x", in.data()}, {"y", out.data()}};
  (void)simulate(b.finish(), machine, bindings);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      ASSERT_EQ(static_cast<float>(out[static_cast<std::size_t>(j * rows + i)]),
                static_cast<float>(in[static_cast<std::size_t>(i * columns + j)]))
          << i << ' ' << j;
    }
  }
}

TEST_P(BlocksOn, TransposePieces) {
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{128, 1024}, {77, 300}, {1, 129}, {128, 1}, {33, 128}}) {
    transpose_case<float>(machine_, rows, columns);
    transpose_case<bfloat16>(machine_, rows, columns);
  }
}

// Each product and the sum rounded to float, then to bfloat16; beta * y never rounds to y's own dtype first.
TEST_P(BlocksOn, ScaleAddRoundsInFloat) {
  const std::int64_t n = 64;
  std::vector<float> x = random_floats(32 * n, 5), yf = random_floats(32 * n, 6);
  std::vector<bfloat16> y, out(x.size());
  for (const float v : yf) y.push_back(bfloat16(v));
  Builder b("scale_add", machine_);
  const Access hx = b.input("x", DType::Float32, {32, n}), hy = b.input("y", DType::BFloat16, {32, n}),
               ho = b.output("o", DType::BFloat16, {32, n});
  const Access tx = b.sbuf("tx", 32, {n}, DType::Float32), ty = b.sbuf("ty", 32, {n}, DType::BFloat16),
               to = b.sbuf("to", 32, {n}, DType::BFloat16);
  b.dma_copy(tx, hx);
  b.dma_copy(ty, hy);
  blocks::scale_add(b, to, tx, static_cast<double>(0.3f), ty, static_cast<double>(-1.7f));
  b.dma_copy(ho, to);
  run(b, {{"x", x.data()}, {"y", y.data()}, {"o", out.data()}});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float scaled_y = static_cast<float>(y[i]) * -1.7f, scaled_x = x[i] * 0.3f;
    EXPECT_EQ(out[i].bits, bfloat16(scaled_x + scaled_y).bits) << i;
  }
}

TEST_P(BlocksOn, Reductions) {
  const std::int64_t p = 100, n = 200;
  std::vector<float> x = random_floats(p * n, 7), rows(static_cast<std::size_t>(p), NAN),
                     columns(static_cast<std::size_t>(n), NAN);
  Builder b("reduce", machine_);
  const Access hx = b.input("x", DType::Float32, {p, n}), hr = b.output("rows", DType::Float32, {p, 1}),
               hc = b.output("columns", DType::Float32, {1, n});
  const Access t = b.sbuf("t", p, {n}, DType::Float32), r = b.sbuf("r", p, {1}, DType::Float32),
               c = b.sbuf("c", 1, {n}, DType::Float32);
  b.dma_copy(t, hx);
  blocks::reduce_rows(b, r, AluOp::Maximum, t);
  blocks::sum_partitions(b, c, t);
  b.dma_copy(hr, r);
  b.dma_copy(hc, c);
  run(b, {{"x", x.data()}, {"rows", rows.data()}, {"columns", columns.data()}});
  for (std::int64_t i = 0; i < p; ++i) {
    EXPECT_EQ(rows[static_cast<std::size_t>(i)], *std::max_element(x.begin() + i * n, x.begin() + (i + 1) * n));
  }
  for (std::int64_t j = 0; j < n; ++j) {
    float sum = 0;  // times 1.0 is exact, so the fused chain is a chain of additions in partition order
    for (std::int64_t i = 0; i < p; ++i) sum += x[static_cast<std::size_t>(i * n + j)];
    EXPECT_EQ(columns[static_cast<std::size_t>(j)], sum);
  }
}

}  // namespace
}  // namespace trn::neuron
