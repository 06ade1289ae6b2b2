// Block-sparse contraction against dense sums in long double, on the host and on simulated devices.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <omp.h>

#include <cmath>

#include <trn/core/error.hpp>
#include <trn/core/event.hpp>
#include <trn/tensor/block_sparse.hpp>

#include "random_case.hpp"
#include "support/message_of.hpp"

namespace trn::tensor {
namespace {

using testing::Placed;
using testing::Sample;
using testing::Values;
using testing::Wide;

const Executor host = Executor::host();
const char* const kPatterns[] = {"ij,jk->ik",       "ij,jk->ki",    "ijk,kl->lij",     "hij,hjk->hik",
                                 "aebf,dfce->abcd", "ij,ij->",      "i,j->ij",         "iij,jk->ik",
                                 "ijk,jl->il",      "ij,jk->k",     "ij,ij->ij",       ",ij->ji",
                                 "ij,kl->",         "bij,bjk->bik", "ijkl,klmn->ijmn", "ii,ii->i"};

// A block-sparse tensor with its blocks in memory of their own.
struct Blocks {
  BlockTensor tensor;
  std::vector<Sample> samples;
};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }

  // Some of the blocks, in any order, with strides in any order of axes and gaps.
  Blocks make(const std::vector<Label>& labels, const std::vector<std::vector<std::int64_t>>& sections, DType dtype,
              int of_ten, bool strided) {
    Blocks result;
    result.tensor.dtype = dtype;
    for (const Label l : labels) result.tensor.sections.push_back(sections[static_cast<std::size_t>(l)]);
    std::vector<std::int64_t> at(labels.size(), 0);
    for (;;) {
      if (below(10) < of_ten) result.tensor.blocks.push_back(at);
      std::size_t m = 0;
      for (; m < at.size(); ++m) {
        if (++at[m] < static_cast<std::int64_t>(result.tensor.sections[m].size())) break;
        at[m] = 0;
      }
      if (m == at.size()) break;
    }
    std::shuffle(result.tensor.blocks.begin(), result.tensor.blocks.end(), random_);
    for (std::size_t i = 0; i < result.tensor.blocks.size(); ++i) {
      const Shape shape = result.tensor.shape(i);
      Strides strides = row_major_strides(shape);
      if (strided) {
        std::vector<std::size_t> order(shape.size());
        for (std::size_t a = 0; a < order.size(); ++a) order[a] = a;
        std::shuffle(order.begin(), order.end(), random_);
        std::int64_t step = 1 + below(2);
        for (const std::size_t a : order) strides[a] = below(5) == 0 ? -step : step, step *= shape[a] + below(2);
      }
      result.tensor.strides.push_back(strides);
      result.samples.push_back(testing::sample(dtype, shape, strides, Values{random_}));
    }
    return result;
  }

 private:
  std::mt19937_64 random_;
};

// Where a section begins.
std::int64_t start(const std::vector<std::int64_t>& sections, std::int64_t number) {
  std::int64_t sum = 0;
  for (std::int64_t s = 0; s < number; ++s) sum += sections[static_cast<std::size_t>(s)];
  return sum;
}
std::int64_t total(const std::vector<std::int64_t>& sections) {
  return start(sections, static_cast<std::int64_t>(sections.size()));
}

// calls body(place in the dense tensor, place in the block) for the elements of a block.
template <class F> void elements(const Blocks& x, std::size_t block, const F& body) {
  Shape all;
  for (const auto& sections : x.tensor.sections) all.push_back(total(sections));
  const Strides dense = row_major_strides(all);
  std::int64_t first = 0;
  for (std::size_t m = 0; m < all.size(); ++m)
    first += start(x.tensor.sections[m], x.tensor.blocks[block][m]) * dense[m];
  const auto from = testing::offsets_of(x.tensor.shape(block), dense),
             to = testing::offsets_of(x.tensor.shape(block), x.tensor.strides_of(block));
  for (std::size_t i = 0; i < from.size(); ++i) body(first + from[i], to[i]);
}
Sample dense(const Blocks& x) {
  Shape all;
  for (const auto& sections : x.tensor.sections) all.push_back(total(sections));
  Sample s = testing::sample(x.tensor.dtype, all, row_major_strides(all), [](std::int64_t) { return 0.0; });
  for (std::size_t b = 0; b < x.samples.size(); ++b) {
    elements(x, b,
             [&](std::int64_t place, std::int64_t at) { s.set(place, std::complex<double>(x.samples[b].at(at))); });
  }
  return s;
}

struct Setup {
  const char* text;
  std::vector<DType> types = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::BFloat16};
  std::int64_t largest = 5;
  Mode mode = Mode::Native;
};

// One random contraction; what is wrong, or nothing. The bits of D come back in `bits`.
std::string violation(std::uint64_t seed, const Setup& setup, const Executor& executor,
                      std::vector<std::byte>* bits = nullptr) {
  Maker maker(seed);
  const Expression e = parse(setup.text);
  std::vector<std::vector<std::int64_t>> sections(e.names.size());
  for (auto& list : sections) {
    for (std::int64_t n = 1 + maker.below(3); n > 0; --n) list.push_back(1 + maker.below(setup.largest));
  }
  const DType type = setup.types[static_cast<std::size_t>(maker.below(static_cast<std::int64_t>(setup.types.size())))];
  const bool strided = maker.below(2) == 0;
  Blocks a = maker.make(e.inputs[0], sections, type, 7, strided),
         b = maker.make(e.inputs[1], sections, type, 7, strided), d = maker.make(e.output, sections, type, 8, strided),
         c = d;
  const bool separate = maker.below(2) == 0, conj = is_complex(type) && maker.below(2) == 0;
  if (conj) a.tensor.op = Unary::Conj;
  const Scalars scalars{maker.below(2) == 0 ? 1 : -1.5, static_cast<double>(maker.below(3)) / 2};
  if (separate) {
    for (std::size_t i = 0; i < c.samples.size(); ++i) {
      const Shape shape = c.tensor.shape(i);
      c.tensor.strides[i] = row_major_strides(shape);
      Sample moved = testing::sample(type, shape, c.tensor.strides[i], [](std::int64_t) { return 0.0; });
      const auto to = testing::offsets_of(shape, c.tensor.strides[i]),
                 from = testing::offsets_of(shape, d.tensor.strides[i]);
      for (std::size_t k = 0; k < to.size(); ++k) moved.set(to[k], std::complex<double>(c.samples[i].at(from[k])));
      c.samples[i] = moved;
    }
  }
  Sizes sizes;
  for (const auto& list : sections) sizes.push_back(total(list));
  const testing::Exact exact = testing::oracle(e, sizes, {dense(a), dense(b)}, {conj, false});
  const Sample before = dense(d);
  if (scalars.beta == 0.0) {  // what is not read may be anything
    for (Blocks* x : {&c, &d}) {
      for (std::size_t i = 0; i < x->samples.size(); ++i)
        elements(*x, i, [&](std::int64_t, std::int64_t at) { x->samples[i].set(at, {NAN, NAN}); });
    }
  }
  std::vector<Placed> placed;
  std::vector<void*> at[4];
  placed.reserve(a.samples.size() + b.samples.size() + c.samples.size() + d.samples.size());
  const auto place = [&](Blocks& x, std::size_t which) {
    for (Sample& s : x.samples) at[which].push_back(placed.emplace_back(s, executor).view().data);
  };
  place(a, 0), place(b, 1), place(c, 2), place(d, 3);
  BlockDescription what{e, a.tensor, b.tensor, d.tensor, {}, setup.mode};
  if (separate) what.c = c.tensor;
  const BlockPlan plan(executor, what);
  const auto list = [&](std::size_t i) { return std::span<const void* const>(at[i].data(), at[i].size()); };
  const double bound =
      plan.execute(list(0), list(1), at[3], scalars, separate ? list(2) : std::span<const void* const>{}).bound;
  for (const Placed& p : placed) p.fetch();
  if (bits) {
    for (const Sample& s : d.samples) bits->insert(bits->end(), s.bytes.begin(), s.bytes.end());
  }
  if (bound > plan.accuracy().bound * (1 + 1e-12) && setup.mode != Mode::Exact) return "the bound grew";
  long double norm_a = 0, norm_b = 0;
  if (setup.mode == Mode::Exact) {
    for (const auto& [x, norm] : {std::pair(&a, &norm_a), std::pair(&b, &norm_b)}) {
      const Sample all = dense(*x);
      for (const std::int64_t o : testing::offsets_of(all.shape, all.strides)) *norm += std::norm(all.at(o));
    }
  }
  std::string wrong;
  for (std::size_t i = 0; i < d.samples.size(); ++i) {
    elements(d, i, [&](std::int64_t dense_place, std::int64_t here) {
      const auto k = static_cast<std::size_t>(dense_place);
      const bool uses_c = scalars.beta != 0.0;
      const Wide old = uses_c ? before.at(dense_place) : Wide(0);
      const Wide want = Wide(scalars.alpha) * exact.values[k] + Wide(scalars.beta) * old;
      const long double of_products = setup.mode == Mode::Exact
                                          ? std::sqrt(norm_a * norm_b) * static_cast<long double>(sizes.size() + 20)
                                          : exact.absolute[k];
      const long double scale = std::abs(scalars.alpha) * of_products + std::abs(Wide(scalars.beta) * old);
      const long double error = std::abs(d.samples[i].at(here) - want);
      if (!(error <= bound * scale)) {
        wrong = fmt::format("block {} of D: error {} above {} x {} ({} products, {})", i + 1,
                            static_cast<double>(error), bound, static_cast<double>(scale), plan.products(), name(type));
      }
    });
  }
  return wrong;
}

void all_patterns(const Executor& executor, std::uint64_t first, int count, Setup setup) {
  for (const char* text : kPatterns) {
    setup.text = text;
    for (int i = 0; i < count; ++i) {
      const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
      EXPECT_EQ(violation(seed, setup, executor), "") << text << " seed " << seed;
    }
  }
}

TEST(BlockSparse, EveryPatternAndType) { all_patterns(host, 1, 40, {}); }
TEST(BlockSparse, ModesOnTheHost) {
  for (const Mode mode : {Mode::Tf32, Mode::Bf16x6, Mode::Exact})
    all_patterns(host, 500, 3, {.text = "", .types = {DType::Float32}, .mode = mode});
}
TEST(DeviceBlockSparse, EveryPatternAndType) {
  const Executor sim = Executor::open("sim:trn2");
  const Recorder recorder(sim);
  all_patterns(sim, 1000, 4, {.text = "", .types = {DType::Float32, DType::Complex64, DType::BFloat16}});
  EXPECT_EQ(recorder.family_of("tensor.contract"), "device");
}
TEST(DeviceBlockSparse, OtherMachinesAndModes) {
  for (const char* machine : {"sim:trn1", "sim:trn3"})
    all_patterns(Executor::open(machine), 1100, 1, {.text = "", .types = {DType::Float32}});
  for (const Mode mode : {Mode::Tf32x3, Mode::Exact})
    all_patterns(Executor::open("sim:trn2"), 1200, 1, {.text = "", .types = {DType::Float32}, .mode = mode});
}
// Sections around the edges of the device's tiles.
TEST(DeviceBlockSparse, SectionsAcrossTiles) {
  const Executor sim = Executor::open("sim:trn2");
  for (std::uint64_t seed = 1; seed < 4; ++seed)
    EXPECT_EQ(violation(seed, {.text = "ij,jk->ik", .types = {DType::Float32}, .largest = 140}, sim), "") << seed;
}

TEST(BlockSparse, TheSameBitsForAnyNumberOfThreads) {
  for (std::uint64_t seed = 2000; seed < 2010; ++seed) {
    std::vector<std::byte> one, five;
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    EXPECT_EQ(violation(seed, {.text = "aebf,dfce->abcd"}, host, &one), "");
    omp_set_num_threads(5);
    EXPECT_EQ(violation(seed, {.text = "aebf,dfce->abcd"}, host, &five), "");
    omp_set_num_threads(before);
    EXPECT_EQ(one, five);
  }
}

TEST(DeviceBlockSparse, AllProductsAreOneLaunch) {
  const Executor sim = Executor::open("sim:trn2");
  const std::vector<std::vector<std::int64_t>> sections = {{3, 4, 5}, {3, 4, 5}};
  std::vector<std::vector<std::int64_t>> every;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j) every.push_back({i, j});
  const BlockSparse<float> a(sim, sections, every), b(sim, sections, every), d(sim, sections, every);
  for (std::size_t i = 0; i < every.size(); ++i) {
    for (const BlockSparse<float>* x : {&a, &b, &d}) {
      const std::vector<float> ones(static_cast<std::size_t>(element_count(x->block(i).shape())), 1.0F);
      copy(View<const float>(host, ones.data(), x->block(i).shape()), x->block(i));
    }
  }
  const Recorder recorder(sim);
  contract(sim, "ij,jk->ik", 2, a, b, 0.5, d);
  EXPECT_EQ(recorder.count(EventKind::Run), 1);
  for (std::size_t i = 0; i < every.size(); ++i) {
    Array<float> back(host, d.block(i).shape());
    copy(View<const float>(d.block(i)), back.view());
    for (const float x : back.to_host()) EXPECT_EQ(x, 24.5F);
  }
}

TEST(BlockSparse, TheBlocksOfAProduct) {
  const BlockSparse<double> a(host, {{2, 3}, {4, 1, 2}}, {{0, 0}, {1, 2}}), b(host, {{4, 1, 2}, {5}}, {{2, 0}, {1, 0}});
  const BlockTensor d = product_blocks(parse("ij,jk->ki"), a.tensor(), b.tensor());
  EXPECT_EQ(d.blocks, (std::vector<std::vector<std::int64_t>>{{0, 1}}));
  EXPECT_EQ(d.sections, (std::vector<std::vector<std::int64_t>>{{5}, {2, 3}}));
  EXPECT_EQ(d.shape(0), (Shape{5, 3}));
  for (double* x = a.block(1).data(); x < a.block(1).data() + 6; ++x) *x = 2;
  for (double* x = b.block(0).data(); x < b.block(0).data() + 10; ++x) *x = 3;
  const BlockSparse<double> made = contract(host, "ij,jk->ki", a, b);
  ASSERT_EQ(made.tensor().blocks.size(), 1U);
  for (int i = 0; i < 15; ++i) EXPECT_EQ(made.block(0).data()[i], 12);
}

TEST(BlockSparse, Errors) {
  const std::vector<std::vector<std::int64_t>> sections = {{2, 3}, {2, 3}};
  const BlockTensor good{sections, {{0, 0}, {1, 1}}, DType::Float64};
  const auto message = [&](const char* text, const BlockTensor& a, const BlockTensor& b, const BlockTensor& d,
                           std::optional<BlockTensor> c = {}, Precision precision = {}) {
    return testing_support::message_of<InvalidArgument>([&] {
      (void)BlockPlan(host, {parse(text), a, b, d, std::move(c), precision});
    });
  };
  EXPECT_IN("3 operands", message("ij,jk,kl->il", good, good, good));
  EXPECT_IN("A has 2 modes", message("ijk,jk->ik", good, good, good));
  BlockTensor bad = good;
  bad.blocks = {{0, 0}, {0, 0}};
  EXPECT_IN("blocks 1 and 2 of A are the same", message("ij,jk->ik", bad, good, good));
  bad.blocks = {{0, 2}};
  EXPECT_IN("block 1 of B is in section 2 of mode 2, which has sections 0 to 1", message("ij,jk->ik", good, bad, good));
  bad.blocks = {{0}};
  EXPECT_IN("has 1 coordinates", message("ij,jk->ik", good, good, bad));
  bad = good, bad.sections[1] = {3, 2};
  EXPECT_IN("label 'j' has sections (2, 3) in B and (3, 2) before", message("ij,jk->ik", bad, good, good));
  bad = good, bad.sections[0] = {2, 0};
  EXPECT_IN("extent 0", message("ij,jk->ik", bad, good, good));
  bad = good, bad.strides = {{2, 1}};
  EXPECT_IN("2 blocks and strides of 1", message("ij,jk->ik", bad, good, good));
  bad = good, bad.strides = {{0, 1}, {3, 1}};
  EXPECT_IN("D", message("ij,jk->ik", good, good, bad));
  bad = good, bad.blocks = {{0, 0}};
  EXPECT_IN("C has other sections, blocks", message("ij,jk->ik", good, good, good, bad));
  EXPECT_IN("a target is of one einsum", message("ij,jk->ik", good, good, good, {}, Precision::target(1e-6)));

  const BlockPlan plan(host, {parse("ij,jk->ik"), good, good, good, good});
  std::vector<double> memory(60, 1);
  double* const m = memory.data();
  using In = std::vector<const void*>;
  const auto refused = [&](const In& a, const In& b, const std::vector<void*>& d, const In& c, Scalars s = {1, 1}) {
    const std::vector<double> before = memory;
    const std::string text = testing_support::message_of<InvalidArgument>([&] { (void)plan.execute(a, b, d, s, c); });
    EXPECT_EQ(memory, before);
    return text;
  };
  const In a{m, m + 4}, c{m + 40, m + 45};
  EXPECT_IN("1 addresses for the 2 blocks of A", refused({m}, a, {m + 13, m + 20}, c));
  EXPECT_IN("block 2 of D is null", refused(a, a, {m + 13, nullptr}, c));
  EXPECT_IN("block 2 of A", refused(a, a, {m + 12, m + 20}, c));  // its last element
  EXPECT_IN("block 1 of D", refused(a, a, {m + 20, m + 21}, c));  // D with itself
  EXPECT_IN("block 2 of C", refused(a, a, {m + 45, m + 20}, c));  // another block's C
  EXPECT_IN("give it", refused(a, a, {m + 13, m + 20}, {}));
  EXPECT_IN("complex", refused(a, a, {m + 13, m + 20}, c, {{1, 1}, 0}));
  EXPECT_NO_THROW(plan.execute(a, a, std::vector<void*>{m + 40, m + 45}, {1, 1}, c));  // in place
  const BlockPlan none(host, {parse("ij,jk->ik"), good, good, good});
  EXPECT_IN("has none", testing_support::message_of<InvalidArgument>([&] {
              (void)none.execute(a, a, std::vector<void*>{m + 13, m + 20}, {1, 1}, c);
            }));
}

}  // namespace
}  // namespace trn::tensor
