// Descriptors of stores: which copies get static ones, and when.
#include <gtest/gtest.h>

#include <trn/tile/builder.hpp>
#include <trn/tile/stores.hpp>

namespace trn::tile {
namespace {

// `trip` times: a load, a copy, a store, a store that converts, and one whose descriptors are the hardware's.
Program program(const char* name, std::int64_t trip) {
  const Machine& m = machine(name);
  Builder b("stores", m);
  const Access x = b.input("x", DType::Float32, {128, 64}), y = b.output("y", DType::Float32, {128, 64 * trip}),
               z = b.output("z", DType::BFloat16, {128, 64 * trip}),
               w = b.output("w", DType::Float32, {128, 64 * trip});
  b.parallel("i", trip, [&](const Affine& i) {
    const Access t = b.sbuf("t", 128, {64}, DType::Float32);
    b.dma_copy(t, x);
    b.dma_copy(y(all, ds(i * 64, 64)), t);
    b.dma_copy(z(all, ds(i * 64, 64)), t);
    b.dma_copy(w(all, ds(i * 64, 64)), t, {.dge = m.hardware_dge ? DgeMode::Hardware : DgeMode::Default});
  });
  return b.finish();
}

std::vector<DgeMode> modes(const Program& p) {
  std::vector<DgeMode> result;
  for (const Instruction& i : p.instructions()) result.push_back(dma_route(i)->dge);
  return result;
}

TEST(StaticStores, OfAProgramThatIsWrittenOut) {
  for (const char* name : {"trn2", "trn3"}) {
    const Program p = static_stores(program(name, kWrittenOut / 4));
    EXPECT_EQ(modes(p), (std::vector{DgeMode::Default, DgeMode::Static, DgeMode::Default, DgeMode::Hardware}));
  }
}

TEST(StaticStores, NotInDeviceLoopsNorWhereEveryCopyIsStatic) {
  EXPECT_EQ(static_stores(program("trn2", kWrittenOut / 4 + 1)), program("trn2", kWrittenOut / 4 + 1));
  EXPECT_EQ(static_stores(program("trn1", 2)), program("trn1", 2));
}

// Where a register decides the address, descriptors cannot be made beforehand.
TEST(StaticStores, NotWhereARegisterDecidesTheAddress) {
  Builder b("stores", machine("trn2"));
  const Access y = b.output("y", DType::Float32, {64, 8}), t = b.sbuf("t", 8, {8}, DType::Float32);
  const Access n = b.register_alloc("n");
  b.memset(t, 1);
  b.register_move(n, 3);
  b.fori_loop("i", n, 8, [&](const Affine& i) { b.dma_copy(y(ds(i * 8, 8), all), t); });
  b.dma_copy_at(y(ds(0, 8), all), t, {.dst = {n, 64, 7}});
  const Program p = b.finish();
  EXPECT_EQ(static_stores(p), p);
}

}  // namespace
}  // namespace trn::tile
