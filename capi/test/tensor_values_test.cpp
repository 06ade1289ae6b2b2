// cuTENSOR's rows by their numbers: an oracle that runs through every assignment of the modes in long double, for
// operands with strides of any order, operators, scalars and four element types; functions; 16-bit types; statuses.
#include <trntensor.h>

#include <functional>
#include <map>

#include "typed.hpp"

namespace {

using namespace capi_test;
constexpr auto kOk = TRNTENSOR_STATUS_SUCCESS;
constexpr auto kInvalid = TRNTENSOR_STATUS_INVALID_VALUE;
constexpr auto kIdentity = TRNTENSOR_OP_IDENTITY;
#define TRN_OK(call) ASSERT_EQ((call), kOk) << trnGetLastErrorText()
using Index = std::map<int, std::int64_t>;

struct Handle {
  Handle() { EXPECT_EQ(trntensorCreate(&h), kOk); }
  ~Handle() { trntensorDestroy(h); }
  operator trntensorHandle_t() const { return h; }
  trntensorHandle_t h = nullptr;
};
const Index kExtents{{'a', 3}, {'b', 4}, {'c', 2}, {'d', 5}};
template <class T> trntensorComputeDescriptor_t arithmetic() {
  return kReal<T> == TRN_R_32F ? TRNTENSOR_COMPUTE_DESC_32F : TRNTENSOR_COMPUTE_DESC_64F;
}

// A tensor of modes a, b, c, d; every second one has gaps between its columns.
template <class T> struct Tensor {
  Tensor(trntensorHandle_t h, const std::string& names, Random& random, bool gaps = false)
      : modes(names.begin(), names.end()) {
    std::int64_t step = 1;
    for (const int mode : modes) {
      extents.push_back(kExtents.at(mode)), strides.push_back(step);
      step = step * kExtents.at(mode) + (gaps ? 1 : 0);
    }
    host = random.numbers<T>(static_cast<int>(step));
    memory = std::make_unique<Mem<T>>(host);
    EXPECT_EQ(trntensorCreateTensorDescriptor(h, &d, static_cast<std::uint32_t>(modes.size()), extents.data(),
                                              gaps ? strides.data() : nullptr, kData<T>, 64),
              kOk);
  }
  ~Tensor() { trntensorDestroyTensorDescriptor(d); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  [[nodiscard]] std::size_t place(const Index& at) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < modes.size(); ++i) sum += at.at(modes[i]) * strides[i];
    return static_cast<std::size_t>(sum);
  }
  [[nodiscard]] Wide operator()(const Index& at) const { return wide(host[place(at)]); }
  [[nodiscard]] T* data() const { return *memory; }
  std::vector<std::int32_t> modes;
  std::vector<std::int64_t> extents, strides;
  std::vector<T> host;
  std::unique_ptr<Mem<T>> memory;
  trntensorTensorDescriptor_t d = nullptr;
};
// Every assignment of these modes, together with those that are fixed.
void each(const std::string& modes, const Index& fixed, const std::function<void(const Index&)>& f) {
  if (modes.empty()) return f(fixed);
  for (std::int64_t i = 0; i < kExtents.at(modes[0]); ++i) {
    Index at = fixed;
    at[modes[0]] = i;
    each(modes.substr(1), at, f);
  }
}
struct Plan {
  Plan(trntensorHandle_t h, trntensorOperationDescriptor_t d) {
    EXPECT_EQ(trntensorCreatePlan(h, &p, d, nullptr, 0), kOk) << trnGetLastErrorText();
    trntensorDestroyOperationDescriptor(d);
  }
  ~Plan() { trntensorDestroyPlan(p); }
  operator trntensorPlan_t() const { return p; }
  trntensorPlan_t p = nullptr;
};
template <class T> void all_nan(const Tensor<T>& t) {
  const std::vector<T> nan(t.host.size(), T(NAN));
  trnMemcpy(t.data(), nan.data(), nan.size() * sizeof(T), trnMemcpyHostToDevice);
}

// What operators make of A and B: the conjugate of A, or |A| and -B.
struct Operators {
  trntensorOperator_t a, b;
  Wide (*of_a)(Wide);
  Wide (*of_b)(Wide);
};

// D_abc = alpha sum_d f(A_cda) g(B_bdc) + beta C_cba, and E_ab = alpha sum_cd A_ac f(B_cd) C_db + beta D_ba.
template <class T> void contractions(const Operators& op) {
  const Handle h;
  Random random(31);
  const T alpha = random.number<T>(), beta = random.number<T>(), zero(0);
  for (const bool gaps : {false, true}) {
    const Tensor<T> a(h, "cda", random, gaps), b(h, "bdc", random, gaps), c(h, "cba", random),
        d(h, "abc", random, gaps);
    trntensorOperationDescriptor_t o;
    TRN_OK(trntensorCreateContraction(h, &o, a.d, a.modes.data(), op.a, b.d, b.modes.data(), op.b, c.d, c.modes.data(),
                                      kIdentity, d.d, d.modes.data(), arithmetic<T>()));
    const Plan plan(h, o);
    for (const bool nothing : {false, true}) {  // beta = 0 reads neither C nor D
      all_nan(d);
      TRN_OK(trntensorContract(h, plan, &alpha, a.data(), b.data(), nothing ? &zero : &beta,
                               nothing ? nullptr : c.data(), d.data(), nullptr, 0, nullptr));
      const auto got = d.memory->get();
      each("abc", {}, [&](const Index& at) {
        Sum sum;
        each("d", at, [&](const Index& all) { sum.add(wide(alpha) * op.of_a(a(all)) * op.of_b(b(all))); });
        if (!nothing) sum.add(wide(beta) * c(at));
        sum.expect(got[d.place(at)]);
      });
    }
    EXPECT_EQ(
        trntensorContract(h, plan, &alpha, a.host.data(), b.data(), &beta, c.data(), d.data(), nullptr, 0, nullptr),
        kInvalid);
    EXPECT_EQ(trntensorContract(h, plan, &alpha, a.data(), b.data(), &beta, nullptr, d.data(), nullptr, 0, nullptr),
              kInvalid);
    EXPECT_EQ(trntensorContract(h, plan, nullptr, a.data(), b.data(), &beta, c.data(), d.data(), nullptr, 0, nullptr),
              kInvalid);
    const Tensor<T> f(h, "ac", random), g(h, "cd", random, gaps), k(h, "db", random), l(h, "ba", random),
        e(h, "ab", random);
    TRN_OK(trntensorCreateContractionTrinary(h, &o, f.d, f.modes.data(), kIdentity, g.d, g.modes.data(), op.a, k.d,
                                             k.modes.data(), kIdentity, l.d, l.modes.data(), kIdentity, e.d,
                                             e.modes.data(), arithmetic<T>()));
    const Plan three(h, o);
    all_nan(e);
    TRN_OK(trntensorContractTrinary(h, three, &alpha, f.data(), g.data(), k.data(), &beta, l.data(), e.data(), nullptr,
                                    0, nullptr));
    const auto got = e.memory->get();
    each("ab", {}, [&](const Index& at) {
      Sum sum;
      each("cd", at, [&](const Index& all) { sum.add(wide(alpha) * f(all) * op.of_a(g(all)) * k(all)); });
      sum.add(wide(beta) * l(at));
      sum.expect(got[e.place(at)]);
    });
  }
}
const Operators kPlain{kIdentity, kIdentity, [](Wide x) { return x; }, [](Wide x) { return x; }},
    kConjugated{TRNTENSOR_OP_CONJ, kIdentity, [](Wide x) { return std::conj(x); }, [](Wide x) { return x; }},
    kSigns{TRNTENSOR_OP_ABS, TRNTENSOR_OP_NEG, [](Wide x) { return Wide(std::abs(x)); }, [](Wide x) { return -x; }};
TEST(CTensorValues, Contractions) {
  for_types([]<class T>(T) { contractions<T>(kComplex<T> ? kConjugated : kPlain); });
}
TEST(CTensorValues, OperatorsOfContractions) { contractions<float>(kSigns); }

Wide joined(trntensorOperator_t o, Wide x, Wide y) {
  if (o == TRNTENSOR_OP_ADD) return x + y;
  if (o == TRNTENSOR_OP_MUL) return x * y;
  return (o == TRNTENSOR_OP_MAX) == (x.real() > y.real()) ? x : y;
}
// D_ca = alpha op_bd A_abcd + beta C_ac; D_abc = f(alpha A_cb, gamma C_abc) and with one more.
template <class T> void reductions_and_joins() {
  const Handle h;
  Random random(32);
  const T alpha = random.number<T>(), beta = random.number<T>(), gamma = random.number<T>(), zero(0);
  const Tensor<T> a(h, "abcd", random, true), c(h, "ac", random), d(h, "ca", random);
  const Tensor<T> x(h, "cb", random), y(h, "bac", random, true), z(h, "abc", random), w(h, "abc", random);
  for (const auto o : {TRNTENSOR_OP_ADD, TRNTENSOR_OP_MUL, TRNTENSOR_OP_MAX, TRNTENSOR_OP_MIN}) {
    if (kComplex<T> && (o == TRNTENSOR_OP_MAX || o == TRNTENSOR_OP_MIN)) continue;
    trntensorOperationDescriptor_t made;
    TRN_OK(trntensorCreateReduction(h, &made, a.d, a.modes.data(), kIdentity, c.d, c.modes.data(), kIdentity, d.d,
                                    d.modes.data(), o, arithmetic<T>()));
    const Plan plan(h, made);
    for (const bool nothing : {false, true}) {
      all_nan(d);
      TRN_OK(trntensorReduce(h, plan, &alpha, a.data(), nothing ? &zero : &beta, nothing ? nullptr : c.data(), d.data(),
                             nullptr, 0, nullptr));
      const auto got = d.memory->get();
      each("ca", {}, [&](const Index& at) {
        Wide value = o == TRNTENSOR_OP_ADD ? 0 : 1;
        long double size = 0;
        bool first = o == TRNTENSOR_OP_MAX || o == TRNTENSOR_OP_MIN;
        each("bd", at, [&](const Index& all) {
          value = first ? a(all) : joined(o, value, a(all)), first = false, size += std::abs(a(all));
        });
        value *= wide(alpha);
        if (!nothing) value += wide(beta) * c(at);
        EXPECT_LE(std::abs(wide(got[d.place(at)]) - value), 60 * kUnit<T> * (size + 1)) << "operator " << o;
      });
    }
    for (const auto second : {TRNTENSOR_OP_ADD, TRNTENSOR_OP_MUL}) {
      trntensorOperationDescriptor_t two, three;
      TRN_OK(trntensorCreateElementwiseBinary(h, &two, x.d, x.modes.data(), TRNTENSOR_OP_NEG, z.d, z.modes.data(),
                                              kIdentity, w.d, w.modes.data(), o, arithmetic<T>()));
      TRN_OK(trntensorCreateElementwiseTrinary(h, &three, x.d, x.modes.data(), kIdentity, y.d, y.modes.data(),
                                               kIdentity, z.d, z.modes.data(), kIdentity, w.d, w.modes.data(), o,
                                               second, arithmetic<T>()));
      const Plan p2(h, two), p3(h, three);
      all_nan(w);
      TRN_OK(trntensorElementwiseBinaryExecute(h, p2, &alpha, x.data(), &gamma, z.data(), w.data(), nullptr));
      const auto got2 = w.memory->get();
      TRN_OK(trntensorElementwiseTrinaryExecute(h, p3, &alpha, x.data(), &beta, y.data(), &gamma, z.data(), w.data(),
                                                nullptr));
      const auto got3 = w.memory->get();
      each("abc", {}, [&](const Index& at) {
        const Wide wanted = joined(o, -wide(alpha) * x(at), wide(gamma) * z(at));
        EXPECT_LE(std::abs(wide(got2[w.place(at)]) - wanted), 16 * kUnit<T>);
        const Wide more = joined(second, joined(o, wide(alpha) * x(at), wide(beta) * y(at)), wide(gamma) * z(at));
        EXPECT_LE(std::abs(wide(got3[w.place(at)]) - more), 16 * kUnit<T>);
      });
      EXPECT_EQ(trntensorElementwiseBinaryExecute(h, p3, &alpha, x.data(), &gamma, z.data(), w.data(), nullptr),
                kInvalid);
    }
  }
  // A scalar of 0: the operand is not read.
  trntensorOperationDescriptor_t made;
  TRN_OK(trntensorCreateElementwiseBinary(h, &made, x.d, x.modes.data(), kIdentity, z.d, z.modes.data(), kIdentity, w.d,
                                          w.modes.data(), TRNTENSOR_OP_ADD, arithmetic<T>()));
  const Plan plan(h, made);
  all_nan(x);
  TRN_OK(trntensorElementwiseBinaryExecute(h, plan, &zero, x.data(), &gamma, z.data(), w.data(), nullptr));
  const auto got = w.memory->get();
  each("abc", {},
       [&](const Index& at) { EXPECT_LE(std::abs(wide(got[w.place(at)]) - wide(gamma) * z(at)), 16 * kUnit<T>); });
}
TEST(CTensorValues, ReductionsAndJoins) {
  for_types([]<class T>(T) { reductions_and_joins<T>(); });
}

// B = 2 f(A) for every function, at points of its domain.
TEST(CTensorValues, Functions) {
  const Handle h;
  using L = long double;
  const auto softplus = [](L x) { return std::log1p(std::exp(x)); };
  const auto sigmoid = [](L x) { return 1 / (1 + std::exp(-x)); };
  struct Row {
    trntensorOperator_t o;
    std::function<L(L)> f;
    double from;  // the points are from, from + 0.25, ...
  };
  const Row rows[] = {{TRNTENSOR_OP_SQRT, [](L x) { return std::sqrt(x); }, 0},
                      {TRNTENSOR_OP_RELU, [](L x) { return std::max<L>(x, 0); }, -1},
                      {TRNTENSOR_OP_CONJ, [](L x) { return x; }, -1},
                      {TRNTENSOR_OP_RCP, [](L x) { return 1 / x; }, 0.25},
                      {TRNTENSOR_OP_SIGMOID, sigmoid, -1},
                      {TRNTENSOR_OP_TANH, [](L x) { return std::tanh(x); }, -1},
                      {TRNTENSOR_OP_EXP, [](L x) { return std::exp(x); }, -1},
                      {TRNTENSOR_OP_LOG, [](L x) { return std::log(x); }, 0.25},
                      {TRNTENSOR_OP_ABS, [](L x) { return std::abs(x); }, -1},
                      {TRNTENSOR_OP_NEG, [](L x) { return -x; }, -1},
                      {TRNTENSOR_OP_SIN, [](L x) { return std::sin(x); }, -1},
                      {TRNTENSOR_OP_COS, [](L x) { return std::cos(x); }, -1},
                      {TRNTENSOR_OP_TAN, [](L x) { return std::tan(x); }, -1},
                      {TRNTENSOR_OP_SINH, [](L x) { return std::sinh(x); }, -1},
                      {TRNTENSOR_OP_COSH, [](L x) { return std::cosh(x); }, -1},
                      {TRNTENSOR_OP_ASIN, [](L x) { return std::asin(x); }, -0.9},
                      {TRNTENSOR_OP_ACOS, [](L x) { return std::acos(x); }, -0.9},
                      {TRNTENSOR_OP_ATAN, [](L x) { return std::atan(x); }, -1},
                      {TRNTENSOR_OP_ASINH, [](L x) { return std::asinh(x); }, -1},
                      {TRNTENSOR_OP_ACOSH, [](L x) { return std::acosh(x); }, 1},
                      {TRNTENSOR_OP_ATANH, [](L x) { return std::atanh(x); }, -0.9},
                      {TRNTENSOR_OP_CEIL, [](L x) { return std::ceil(x); }, -1.1},
                      {TRNTENSOR_OP_FLOOR, [](L x) { return std::floor(x); }, -1.1},
                      {TRNTENSOR_OP_MISH, [=](L x) { return x * std::tanh(softplus(x)); }, -1},
                      {TRNTENSOR_OP_SWISH, [=](L x) { return x * sigmoid(x); }, -1},
                      {TRNTENSOR_OP_SOFT_PLUS, softplus, -1},
                      {TRNTENSOR_OP_SOFT_SIGN, [](L x) { return x / (1 + std::abs(x)); }, -1}};
  const std::int64_t extent = 8;
  const std::int32_t mode = 'x';
  trntensorTensorDescriptor_t t;
  TRN_OK(trntensorCreateTensorDescriptor(h, &t, 1, &extent, nullptr, TRN_R_64F, 128));
  for (const auto& row : rows) {
    std::vector<double> x;
    for (int i = 0; i < 8; ++i) x.push_back(row.from + 0.25 * i);
    const Mem<double> from(x), to(8);
    trntensorOperationDescriptor_t o;
    TRN_OK(trntensorCreatePermutation(h, &o, t, &mode, row.o, t, &mode, TRNTENSOR_COMPUTE_DESC_64F));
    const Plan plan(h, o);
    const double two = 2;
    TRN_OK(trntensorPermute(h, plan, &two, from, to, nullptr));
    for (std::size_t i = 0; i < 8; ++i) {
      const L wanted = 2 * row.f(static_cast<L>(x[i]));
      EXPECT_NEAR(to.get()[i], static_cast<double>(wanted), 2e-15 * std::max(1.0, std::abs(to.get()[i])))
          << "operator " << row.o << " of " << x[i];
    }
  }
  trntensorDestroyTensorDescriptor(t);
}

// A_ab B_bc in 16 bits, of numbers whose sums are exact; the scalars are float. 1, 2, 3 in both types.
TEST(CTensorValues, SixteenBits) {
  const Handle h;
  const std::vector<std::uint16_t> half{0x3C00, 0x4000, 0x4200}, brain{0x3F80, 0x4000, 0x4040};
  const std::int64_t extents[] = {3, 1};
  const std::int32_t ab[] = {'a', 'b'}, bc[] = {'b', 'c'}, ac[] = {'a', 'c'};
  for (const bool is_half : {true, false}) {
    const auto& one_to_three = is_half ? half : brain;
    trntensorTensorDescriptor_t tall, small;
    const std::int64_t single[] = {1, 1};
    const auto type = is_half ? TRN_R_16F : TRN_R_16BF;
    TRN_OK(trntensorCreateTensorDescriptor(h, &tall, 2, extents, nullptr, type, 128));
    TRN_OK(trntensorCreateTensorDescriptor(h, &small, 2, single, nullptr, type, 128));
    const Mem<std::uint16_t> a(one_to_three), b(std::vector<std::uint16_t>{one_to_three[0]}), c(3);
    trntensorOperationDescriptor_t o;
    TRN_OK(trntensorCreateContraction(h, &o, tall, ab, kIdentity, small, bc, kIdentity, tall, ac, kIdentity, tall, ac,
                                      TRNTENSOR_COMPUTE_DESC_32F));
    trnDataType scalar;
    TRN_OK(trntensorOperationDescriptorGetAttribute(h, o, TRNTENSOR_OPERATION_DESCRIPTOR_SCALAR_TYPE, &scalar, 4));
    EXPECT_EQ(scalar, TRN_R_32F);
    const Plan plan(h, o);
    const float two = 2, minus = -1, zero = 0;
    TRN_OK(trntensorContract(h, plan, &two, a, b, &minus, a, c, nullptr, 0, nullptr));  // 2 x - x
    EXPECT_EQ(c.get(), one_to_three);
    TRN_OK(trntensorContract(h, plan, &minus, a, b, &zero, nullptr, c, nullptr, 0, nullptr));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(c.get()[i], one_to_three[i] | 0x8000);
    trntensorDestroyTensorDescriptor(tall), trntensorDestroyTensorDescriptor(small);
  }
}

TEST(CTensorValues, Refusals) {
  const Handle h;
  Random random(33);
  const Tensor<float> a(h, "ab", random), b(h, "bc", random), c(h, "ac", random);
  trntensorOperationDescriptor_t o = nullptr;
  const auto create = [&](const char* modes_b, trntensorOperator_t op_a, trntensorTensorDescriptor_t right) {
    const std::vector<std::int32_t> mb(modes_b, modes_b + 2);
    const auto status =
        trntensorCreateContraction(h, &o, a.d, a.modes.data(), op_a, right, mb.data(), kIdentity, c.d, c.modes.data(),
                                   kIdentity, c.d, c.modes.data(), TRNTENSOR_COMPUTE_DESC_32F);
    if (status != kOk) return status;
    trntensorPlan_t plan = nullptr;
    const auto planned = trntensorCreatePlan(h, &plan, o, nullptr, 0);
    if (planned == kOk) trntensorDestroyPlan(plan);
    trntensorDestroyOperationDescriptor(o);
    EXPECT_EQ(trntensorCreatePlan(h, &plan, o, nullptr, 0), kInvalid);  // destroyed
    return planned;
  };
  EXPECT_EQ(create("bc", kIdentity, b.d), kOk) << trnGetLastErrorText();
  EXPECT_EQ(create("cb", kIdentity, b.d), kInvalid);  // extents of one mode differ
  EXPECT_EQ(create("bd", kIdentity, b.d), kInvalid);  // c is in the result alone
  EXPECT_EQ(create("bc", TRNTENSOR_OP_ADD, b.d), kInvalid);
  EXPECT_EQ(create("bc", trntensorOperator_t(999), b.d), kInvalid);
  EXPECT_EQ(create("bc", kIdentity, nullptr), kInvalid);
  EXPECT_EQ(trntensorCreateReduction(h, &o, a.d, a.modes.data(), kIdentity, c.d, c.modes.data(), kIdentity, c.d,
                                     c.modes.data(), TRNTENSOR_OP_SQRT, TRNTENSOR_COMPUTE_DESC_32F),
            kInvalid);
}

}  // namespace
