// The drop-in TAPP: random products of two tensors in all layouts that TAPP's own tests draw, against sums in long
// double; its error numbers; products in batches. The executor is what the environment says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <random>
#include <vector>

#include "../tapp/tapp.hpp"

namespace {

using Wide = std::complex<long double>;

template <class T> constexpr bool kComplex = false;
template <class R> constexpr bool kComplex<std::complex<R>> = true;
template <class T> constexpr int kType = TAPP_F32;
template <> constexpr int kType<double> = TAPP_F64;
template <> constexpr int kType<std::complex<float>> = TAPP_C32;
template <> constexpr int kType<std::complex<double>> = TAPP_C64;
template <class T> constexpr long double kUnit = 0x1p-24L;
template <> constexpr long double kUnit<double> = 0x1p-53L;
template <> constexpr long double kUnit<std::complex<double>> = 0x1p-53L;

template <class T> struct Tensor {
  std::vector<std::int64_t> labels, extents, strides;
  std::vector<T> memory;
  std::int64_t origin = 0;
  std::intptr_t info = 0;

  ~Tensor() {
    if (info) TAPP_destroy_tensor_info(info);
  }
  [[nodiscard]] T* data() { return memory.data() + origin; }
  // The offset of the element with these values of labels.
  [[nodiscard]] std::size_t at(const std::map<std::int64_t, std::int64_t>& index) const {
    std::int64_t offset = origin;
    for (std::size_t i = 0; i < labels.size(); ++i) offset += strides[i] * index.at(labels[i]);
    return static_cast<std::size_t>(offset);
  }
};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  template <class T> T number() {
    const auto part = [&] { return static_cast<double>(below(2001) - 1000) / 500; };
    if constexpr (kComplex<T>) {
      const double re = part();
      return T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(part()));
    } else {
      return static_cast<T>(part());
    }
  }
  // Axes in a random order of memory, some backwards, some with gaps.
  template <class T> void lay_out(Tensor<T>& t, const std::map<std::int64_t, std::int64_t>& extents) {
    t.extents.clear();
    for (const std::int64_t l : t.labels) t.extents.push_back(extents.at(l));
    std::vector<std::size_t> order(t.labels.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    t.strides.assign(t.labels.size(), 1);
    std::int64_t step = 1 + below(2), lowest = 0, highest = 0;
    for (const std::size_t i : order) {
      t.strides[i] = below(3) == 0 ? -step : step;
      (t.strides[i] < 0 ? lowest : highest) += t.strides[i] * std::max<std::int64_t>(0, t.extents[i] - 1);
      step = step * std::max<std::int64_t>(1, t.extents[i]) + below(3);
    }
    t.origin = -lowest;
    t.memory.resize(static_cast<std::size_t>(highest - lowest + 1));
    for (T& x : t.memory) x = number<T>();
    ASSERT_EQ(TAPP_create_tensor_info(&t.info, kType<T>, static_cast<int>(t.labels.size()), t.extents.data(),
                                      t.strides.data()),
              0);
  }
  std::mt19937_64& engine() { return random_; }

 private:
  std::mt19937_64 random_;
};

std::string explained(int error) {
  std::string text(TAPP_explain_error(error, 0, nullptr), ' ');
  TAPP_explain_error(error, text.size() + 1, text.data());
  return text;
}

// Every label belongs to a kind: free in A, free in B, in all three, contracted, in one operand alone; some twice.
template <class T> void random_product(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Maker make(seed);
  std::map<std::int64_t, std::int64_t> extents;
  Tensor<T> a, b, c, d;
  const std::int64_t labels = make.below(7);
  for (std::int64_t l = 'a'; l < 'a' + labels; ++l) {
    extents[l] = make.below(12) == 0 ? 0 : 1 + make.below(5);
    const std::int64_t kind = make.below(6);  // 0: A, D; 1: B, D; 2: A, B, D; 3: A, B; 4: A; 5: B
    const bool in_a = kind != 1 && kind != 5, in_b = kind != 0 && kind != 4;
    for (int times = make.below(8) == 0 ? 2 : 1; times > 0; --times) {
      if (in_a) a.labels.push_back(l);
      if (in_b) b.labels.push_back(l);
    }
    if (kind < 3) d.labels.push_back(l);
  }
  for (auto* list : {&a.labels, &b.labels, &d.labels}) std::shuffle(list->begin(), list->end(), make.engine());
  c.labels = d.labels;
  for (auto* t : {&a, &b, &c, &d}) make.lay_out(*t, extents);
  int ops[4];
  for (int& op : ops) op = make.below(3) == 0 ? TAPP_CONJUGATE : TAPP_IDENTITY;
  const T alpha = make.number<T>(), beta = make.below(3) == 0 ? T(0) : make.number<T>();
  const bool in_place = make.below(3) == 0;  // C is D
  Tensor<T>& old = in_place ? d : c;
  const std::vector<T> before = old.memory, untouched = d.memory;

  std::intptr_t product = 0, status = 1;
  ASSERT_EQ(
      TAPP_create_tensor_product(&product, 0, ops[0], a.info, a.labels.data(), ops[1], b.info, b.labels.data(), ops[2],
                                 old.info, old.labels.data(), ops[3], d.info, d.labels.data(), TAPP_DEFAULT_PREC),
      0);
  const int error = TAPP_execute_product(product, 0, &status, &alpha, a.data(), b.data(), &beta, old.data(), d.data());
  TAPP_destroy_tensor_product(product);
  ASSERT_EQ(error, 0) << explained(error);

  // Sums over all values of all labels, element by element of D.
  std::map<std::int64_t, std::int64_t> index;
  long double terms = 1;
  for (const auto& [l, n] : extents) {
    index[l] = 0;
    if (std::count(d.labels.begin(), d.labels.end(), l) == 0) terms *= static_cast<long double>(n);
  }
  const auto conj_if = [](Wide x, int op) { return op == TAPP_CONJUGATE ? std::conj(x) : x; };
  std::map<std::size_t, std::pair<Wide, long double>> sums;
  const auto visit = [&](const auto& self, std::map<std::int64_t, std::int64_t>::iterator at, bool any) -> void {
    if (at == index.end()) {
      auto& [value, scale] = sums[d.at(index)];
      if (!any) return;
      const Wide x = conj_if(Wide(a.memory[a.at(index)]), ops[0]) * conj_if(Wide(b.memory[b.at(index)]), ops[1]);
      value += x, scale += std::abs(x);
      return;
    }
    const std::int64_t n = extents.at(at->first);
    const bool summed = std::count(d.labels.begin(), d.labels.end(), at->first) == 0;
    if (n == 0 && summed) at->second = 0, self(self, std::next(at), false);  // D's element is there, without terms
    for (at->second = 0; at->second < n; ++at->second) self(self, std::next(at), any);
    at->second = 0;
  };
  visit(visit, index.begin(), true);
  // A sum of k products and two factors: k + 4 roundings, 2 sqrt(2) times as many for complex numbers, half as many
  // again where sums over one operand come first.
  const long double bound = (kComplex<T> ? 3 : 1) * 1.5L * (terms + 4) * kUnit<T>;
  std::vector<bool> written(d.memory.size(), false);
  const std::map<std::int64_t, std::int64_t> none = index;
  std::map<std::size_t, std::size_t> place_of_c;  // D's element -> C's
  const auto pair = [&](const auto& self, std::map<std::int64_t, std::int64_t>::iterator at) -> void {
    if (at == index.end()) {
      place_of_c[d.at(index)] = old.at(index);
      return;
    }
    const bool summed = std::count(d.labels.begin(), d.labels.end(), at->first) == 0;
    const std::int64_t n = summed ? 1 : extents.at(at->first);
    for (at->second = 0; at->second < n; ++at->second) self(self, std::next(at));
    at->second = 0;
  };
  pair(pair, index.begin());
  for (const auto& [at, sum] : sums) {
    const auto found = place_of_c.find(at);
    ASSERT_NE(found, place_of_c.end());
    Wide want = Wide(alpha) * sum.first;
    long double scale = std::abs(Wide(alpha)) * sum.second;
    if (beta != T(0)) {
      const Wide x = Wide(beta) * conj_if(Wide(before[found->second]), ops[2]);
      want += x, scale += std::abs(x);
    }
    EXPECT_LE(std::abs(Wide(d.memory[at]) - conj_if(want, ops[3])), bound * scale);
    written[at] = true;
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (!written[i]) {
      EXPECT_EQ(d.memory[i], untouched[i]) << "between the elements";
    }
  }
}

TEST(Tapp, RandomProducts) {
  for (std::uint64_t seed = 0; seed < 120 && !::testing::Test::HasFailure(); ++seed) {
    random_product<float>(4 * seed);
    random_product<double>(4 * seed + 1);
    random_product<std::complex<float>>(4 * seed + 2);
    random_product<std::complex<double>>(4 * seed + 3);
  }
}

// Products that are refused: the numbers are those that TAPP's tests ask for.
struct Side {
  std::vector<std::int64_t> labels, extents, strides;
};
int refused(const Side& a, const Side& b, const Side& c, const Side& d, float beta = 1, bool with_c = true) {
  std::intptr_t infos[4], product = 0;
  const Side* sides[] = {&a, &b, &c, &d};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(TAPP_create_tensor_info(&infos[i], TAPP_F32, static_cast<int>(sides[i]->labels.size()),
                                      sides[i]->extents.data(), sides[i]->strides.data()),
              0);
  }
  const int made = TAPP_create_tensor_product(&product, 0, 0, infos[0], a.labels.data(), 0, infos[1], b.labels.data(),
                                              0, infos[2], c.labels.data(), 0, infos[3], d.labels.data(), -1);
  std::vector<float> memory[4];
  for (auto& m : memory) m.assign(64, 1);
  const float alpha = 1;
  const int error = TAPP_execute_product(product, 0, nullptr, &alpha, memory[0].data(), memory[1].data(), &beta,
                                         with_c ? memory[2].data() : nullptr, memory[3].data());
  if (made != 0) {
    EXPECT_EQ(made, error);
  }
  if (error != 0) {
    EXPECT_EQ(memory[3], std::vector<float>(64, 1)) << "D was written";
  }
  for (const std::intptr_t info : infos) TAPP_destroy_tensor_info(info);
  TAPP_destroy_tensor_product(product);
  return error;
}

TEST(Tapp, Refusals) {
  const Side a{{'i', 'j'}, {3, 4}, {1, 3}}, b{{'j', 'k'}, {4, 2}, {1, 4}}, d{{'i', 'k'}, {3, 2}, {1, 3}};
  EXPECT_EQ(refused(a, b, d, d), 0);
  EXPECT_EQ(refused(a, {{'j', 'k'}, {5, 2}, {1, 5}}, d, d), 1);
  EXPECT_EQ(refused(a, {{'j', 'k'}, {1, 2}, {1, 1}}, d, d), 1) << "TAPP repeats no extents of 1";
  EXPECT_EQ(refused({{'i', 'j'}, {2, 4}, {1, 2}}, b, d, d), 2);
  EXPECT_EQ(refused(a, {{'j', 'k'}, {4, 5}, {1, 4}}, d, d), 3);
  EXPECT_EQ(refused(a, b, {{'i', 'x'}, {3, 2}, {1, 3}}, {{'i', 'x'}, {3, 2}, {1, 3}}), 4);
  EXPECT_EQ(refused(a, b, {{'i'}, {3}, {1}}, d), 5);
  EXPECT_EQ(refused(a, b, {{'k', 'i'}, {2, 3}, {1, 2}}, d), 6);
  EXPECT_EQ(refused(a, b, {{'i', 'k'}, {3, 1}, {1, 3}}, d), 7);
  EXPECT_EQ(refused(a, b, d, {{'i', 'k'}, {3, 2}, {1, 2}}), 8);
  EXPECT_EQ(refused(a, b, d, {{'i', 'k'}, {3, 2}, {1, 0}}), 8);
  EXPECT_EQ(refused({{'i', 'i', 'j'}, {3, 2, 4}, {1, 3, 6}}, b, d, d), 9);
  EXPECT_EQ(refused(a, {{'j', 'k', 'k'}, {4, 2, 3}, {1, 4, 8}}, d, d), 10);
  EXPECT_EQ(refused(a, b, d, d, 1, false), 12);
  EXPECT_EQ(refused(a, b, d, d, 0, false), 0) << "beta = 0 reads no C";
  std::intptr_t info = 0;
  const std::int64_t extents[] = {2, -1}, strides[] = {1, 2};
  EXPECT_EQ(TAPP_create_tensor_info(&info, TAPP_F32, -1, extents, strides), 13);
  EXPECT_EQ(TAPP_create_tensor_info(&info, TAPP_F32, 2, extents, strides), 14);
  EXPECT_EQ(TAPP_create_tensor_info(&info, 99, 1, extents, strides), 15);
  EXPECT_EQ(explained(15), "trntapp: an argument has no meaning: type 99");
  char three[4] = "xxx";
  EXPECT_EQ(TAPP_explain_error(0, 4, three), 3U);
  EXPECT_STREQ(three, "trn");
  EXPECT_TRUE(TAPP_check_success(0));
  EXPECT_FALSE(TAPP_check_success(7));
}

TEST(Tapp, OperandsThatAreD) {
  const std::int64_t label = 'i', extent = 4, stride = 1;
  std::intptr_t info = 0, product = 0;
  ASSERT_EQ(TAPP_create_tensor_info(&info, TAPP_F32, 1, &extent, &stride), 0);
  ASSERT_EQ(
      TAPP_create_tensor_product(&product, 0, 0, info, &label, 0, info, &label, 0, info, &label, 0, info, &label, -1),
      0);
  std::vector<float> x = {1, 2, 3, 4, 5}, y = {2, 2, 2, 2};
  const float one = 1, zero = 0;
  EXPECT_EQ(TAPP_execute_product(product, 0, nullptr, &one, x.data(), y.data(), &zero, nullptr, x.data()), 17);
  EXPECT_EQ(TAPP_execute_product(product, 0, nullptr, &one, y.data(), y.data(), &one, x.data(), x.data() + 1), 17);
  EXPECT_EQ(x, (std::vector<float>{1, 2, 3, 4, 5}));
  EXPECT_EQ(TAPP_execute_product(product, 0, nullptr, &one, y.data(), y.data(), &one, x.data(), x.data()), 0);
  EXPECT_EQ(x, (std::vector<float>{5, 6, 7, 8, 5}));
  TAPP_destroy_tensor_product(product);
  TAPP_destroy_tensor_info(info);
}

// Handles that are 0 and addresses that are null.
TEST(Tapp, NothingWhereSomethingMustBe) {
  const std::int64_t label = 'i', extent = 2, stride = 1;
  std::intptr_t info = 0, product = 0;
  EXPECT_EQ(TAPP_create_tensor_info(nullptr, TAPP_F32, 1, &extent, &stride), 15);
  EXPECT_EQ(TAPP_create_tensor_info(&info, TAPP_F32, 1, nullptr, &stride), 15);
  EXPECT_EQ(TAPP_create_tensor_info(&info, TAPP_F32, 1, &extent, nullptr), 15);
  ASSERT_EQ(TAPP_create_tensor_info(&info, TAPP_F32, 1, &extent, &stride), 0);
  const auto made = [&](std::intptr_t* p, std::intptr_t b, const std::int64_t* labels) {
    return TAPP_create_tensor_product(p, 0, 0, info, &label, 0, b, labels, 0, info, &label, 0, info, &label, -1);
  };
  EXPECT_EQ(made(nullptr, info, &label), 15);
  EXPECT_EQ(made(&product, 0, &label), 15);
  EXPECT_EQ(made(&product, info, nullptr), 15);
  ASSERT_EQ(made(&product, info, &label), 0);
  std::vector<float> x = {1, 2}, y = {0, 0};
  const float one = 1, zero = 0;
  EXPECT_EQ(TAPP_execute_product(0, 0, nullptr, &one, x.data(), x.data(), &zero, nullptr, y.data()), 15);
  EXPECT_EQ(TAPP_execute_product(product, 0, nullptr, &one, nullptr, x.data(), &zero, nullptr, y.data()), 15);
  EXPECT_EQ(explained(15), "trntapp: an argument has no meaning: A is null");
  EXPECT_EQ(TAPP_execute_product(product, 0, nullptr, &one, x.data(), nullptr, &zero, nullptr, y.data()), 15);
  const void* list[] = {x.data()};
  void* results[] = {y.data()};
  const auto batches = [&](int count, const void** a, void** d) {
    return TAPP_execute_batched_product(product, 0, nullptr, count, &one, a, list, &zero, nullptr, d);
  };
  EXPECT_EQ(batches(-1, list, results), 15);
  EXPECT_EQ(batches(1, nullptr, results), 15);
  EXPECT_EQ(batches(1, list, nullptr), 15);
  EXPECT_EQ(batches(0, nullptr, nullptr), 0);
  EXPECT_EQ(batches(1, list, results), 0);
  EXPECT_EQ(y, (std::vector<float>{1, 4}));
  TAPP_destroy_tensor_product(product);
  TAPP_destroy_tensor_info(info);
}

TEST(Tapp, BatchesAndDescriptions) {
  const std::int64_t label = 'i', extent = 3, stride = 1;
  std::intptr_t info = 0, product = 0, handle = 0, executor = 0;
  ASSERT_EQ(TAPP_create_handle(&handle), 0);
  ASSERT_EQ(TAPP_create_executor(&executor), 0);
  ASSERT_EQ(TAPP_create_tensor_info(&info, TAPP_F32, 0, &extent, &stride), 0);
  ASSERT_EQ(TAPP_set_nmodes(info, 1), 0);
  ASSERT_EQ(TAPP_set_extents(info, &extent), 0);
  ASSERT_EQ(TAPP_set_strides(info, &stride), 0);
  std::int64_t found = 0;
  TAPP_get_extents(info, &found);
  EXPECT_EQ(found, 3);
  TAPP_get_strides(info, &found);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(TAPP_get_nmodes(info), 1);
  ASSERT_EQ(TAPP_create_tensor_product(&product, handle, 0, info, &label, 0, info, &label, 0, info, &label, 0, info,
                                       &label, -1),
            0);
  std::vector<float> a = {1, 2, 3}, b = {4, 5, 6}, c = {1, 1, 1}, d1(3), d2(3);
  const void *as[] = {a.data(), b.data()}, *bs[] = {b.data(), b.data()}, *cs[] = {c.data(), a.data()};
  void* ds[] = {d1.data(), d2.data()};
  const float alpha = 2, beta = -1;
  EXPECT_EQ(TAPP_execute_batched_product(product, executor, nullptr, 2, &alpha, as, bs, &beta, cs, ds), 0);
  EXPECT_EQ(d1, (std::vector<float>{7, 19, 35}));
  EXPECT_EQ(d2, (std::vector<float>{31, 48, 69}));
  EXPECT_EQ(TAPP_destroy_tensor_product(product), 0);
  EXPECT_EQ(TAPP_destroy_tensor_info(info), 0);
  EXPECT_EQ(TAPP_destroy_executor(executor), 0);
  EXPECT_EQ(TAPP_destroy_handle(handle), 0);
}

}  // namespace
