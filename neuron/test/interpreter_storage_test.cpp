// Exact and Wide storage, stochastic rounding, tile buffers: what does not belong to one engine.
#include <cmath>

#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

TEST(WideStorage, KeepsWhatExactStorageRounds) {
  for (const Storage storage : {Storage::Exact, Storage::Wide}) {
    Rig rig;
    rig.options.storage = storage;
    const Access t = rig.tile("x", DType::Float32, 1, 1, {1}), n = rig.b.sbuf("n", 1, {1}, DType::BFloat16);
    rig.b.tensor_scalar(n, t, AluOp::Add, 0x1p-20, {.engine = Engine::Vector});
    rig.b.tensor_scalar(n, n, AluOp::Subtract, 1.0, {.engine = Engine::Vector});
    rig.emit("out", n);
    rig.run();
    EXPECT_EQ(rig.values("out")[0], storage == Storage::Wide ? 0x1p-20 : 0.0);
  }
}

TEST(WideStorage, MatmulIsADoubleChain) {
  Rig rig;
  rig.options.storage = Storage::Wide;
  const std::int64_t k = 97, m = 33, n = 65;
  const Values a = rounded(normals(k * m, 1), DType::Float32), b = rounded(normals(k * n, 2), DType::Float32);
  const Access c = rig.b.psum("c", m, {n}), copy = rig.b.sbuf("copy", m, {n}, DType::Float32);
  const Access x = rig.tile("a", DType::Float32, k, m, a), y = rig.tile("b", DType::Float32, k, n, b);
  rig.b.nc_matmul(c, x, y);
  rig.b.nc_matmul(c, x, y, {.accumulate = 1});
  rig.b.tensor_copy(copy, c, Engine::Vector);
  rig.b.tensor_scalar(copy, copy, AluOp::Multiply, 0x1p-3, {.engine = Engine::Vector});
  rig.emit("out", copy);
  rig.run();
  for (std::int64_t i = 0; i < m * n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      sum = std::fma(a[static_cast<std::size_t>(j * m + i / n)], b[static_cast<std::size_t>(j * n + i % n)], sum);
    }
    // HBM is float32 in both storages.
    EXPECT_EQ(rig.values("out")[static_cast<std::size_t>(i)], static_cast<float>((sum + sum) * 0x1p-3));
  }
}

TEST(WideStorage, IntegersStayIntegers) {
  Rig rig;
  rig.options.storage = Storage::Wide;
  const Access x = rig.tile("x", DType::Float32, 1, 5, {2.5, 3.5, 1e9, -7.2, std::nan("")});
  const Access n = rig.b.sbuf("n", 1, {5}, DType::Int16);
  const Access big = rig.tile("big", DType::Int32, 1, 1, {-1});
  rig.b.tensor_copy(n, x, Engine::Vector);
  rig.emit("out", n);
  rig.emit("unsigned", big.view(DType::UInt32));
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{2, 4, 32767, -7, 0}));
  EXPECT_EQ(rig.values("unsigned"), (Values{4294967295.0}));
}

TEST(WideStorage, RefusesToReinterpretBits) {
  for (const DType other : {DType::UInt32, DType::BFloat16}) {
    for (const Storage storage : {Storage::Exact, Storage::Wide}) {
      Rig rig;
      rig.options.storage = storage;
      const Access x = rig.tile("x", DType::Float32, 1, 4, {1, 2, 3, 4});
      rig.emit("out", x.view(other));
      if (storage == Storage::Wide) {
        EXPECT_THROW(rig.run(), NotImplemented) << name(other);
      } else {
        EXPECT_NO_THROW(rig.run()) << name(other);
      }
    }
  }
}

// A parallel loop whose iterations run in the given order.
std::vector<std::uint8_t> stochastic(std::uint64_t seed, bool backwards) {
  Rig rig;
  rig.options.rounding = Rounding::Stochastic;
  rig.options.rounding_seed = seed;
  const std::int64_t n = 512;
  const Access x =
      rig.input("x", DType::Float32, {4, 128, n}, Values(static_cast<std::size_t>(4 * 128 * n), 1 + 0x1p-9));
  const Access y = rig.output("y", DType::BFloat16, {4, 128, n});
  rig.b.parallel("i", 4, [&](Affine i) {
    const Access t = rig.b.sbuf("t", 128, {n}, DType::Float32), r = rig.b.sbuf("r", 128, {n}, DType::BFloat16);
    rig.b.dma_copy(t, x(ds(i, 1), all, all));
    rig.b.tensor_copy(r, t, Engine::Vector);
    rig.b.dma_copy(y(ds(i, 1), all, all), r);
  });
  WalkHooks hooks;
  if (backwards) hooks.order = [](std::int32_t, std::int64_t k) { return 3 - k; };
  rig.run(hooks);
  return rig.bytes("y");
}

// 1 + 2^-9 lies a quarter of the way from 1 to the next bfloat16, 1 + 2^-7: a quarter of the elements go up. With
// 262144 draws the standard deviation of the share is 0.00085; six of them bound it.
TEST(StochasticRounding, IsUnbiasedReproducibleAndIndependentOfOrder) {
  const std::vector<std::uint8_t> first = stochastic(1, false);
  EXPECT_EQ(first, stochastic(1, false));
  EXPECT_EQ(first, stochastic(1, true));
  EXPECT_NE(first, stochastic(2, false));
  std::int64_t up = 0;
  const auto elements = static_cast<std::int64_t>(first.size() / 2);
  for (std::size_t i = 0; i < first.size(); i += 2) up += first[i] & 1;
  EXPECT_NEAR(static_cast<double>(up) / static_cast<double>(elements), 0.25, 6 * 0.00085);
  // Iterations draw differently.
  EXPECT_FALSE(std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(first.size() / 4),
                          first.begin() + static_cast<std::ptrdiff_t>(first.size() / 4)));
}

TEST(Buffers, RotateWithEveryAlloc) {
  Rig rig;
  const Access x = rig.input("x", DType::Float32, {6, 4, 2}, normals(48, 3));
  const Access y = rig.output("y", DType::Float32, {6, 4, 2});
  rig.b.sequential("i", 6, [&](Affine i) {
    const Access t = rig.b.sbuf("t", 4, {2}, DType::Float32, 3);
    rig.b.dma_copy(t, x(ds(i, 1), all, all));
    rig.b.dma_copy(y(ds(i, 1), all, all), t);
  });
  rig.run();
  EXPECT_EQ(rig.bytes("y"), rig.bytes("x"));
}

TEST(Accumulate, FollowsTheLoopVariable) {
  Rig rig;
  const Access one = rig.tile("one", DType::Float32, 1, 1, {1}), c = rig.b.psum("c", 1, {1});
  rig.b.sequential("o", 2, [&](Affine) {
    rig.b.sequential("k", 5, [&](Affine k) { rig.b.nc_matmul(c, one, one, {.accumulate = k}); });
  });
  rig.emit("out", c, Space::Psum);
  rig.run();
  EXPECT_EQ(rig.values("out")[0], 5);
}

}  // namespace
}  // namespace trn::neuron::sim
