// A random einsum: any label pattern, extents 0 and 1, strides of any sign, types, scalars, C laid out unlike D.
// Deterministic in its seed. Used by the tests and by `trnsci fuzz tensor`.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "tensor_support.hpp"

namespace trn::tensor::testing {

struct RandomCase {
  Expression expression;
  Sizes sizes;
  std::vector<Sample> operands;
  std::vector<Unary> ops;
  Sample c, d;
  Scalars scalars;
  bool separate_c = false;
  std::string what;

  std::string text() const { return to_string(expression); }
};

struct RandomOptions {
  int most_operands = 4;
  int most_labels = 6;
  double most_products = 4e4;
  std::vector<DType> types = {DType::Float32,    DType::Float64,  DType::Complex64,
                              DType::Complex128, DType::BFloat16, DType::Float16};
};

class RandomMaker {
 public:
  RandomMaker(std::uint64_t seed, const RandomOptions& options) : random_(seed), options_(options) {}

  RandomCase make() {
    RandomCase r;
    const int operands = 1 + below(options_.most_operands), labels = 1 + below(options_.most_labels);
    const std::vector<std::int64_t> extents = {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 33};
    double products = 1;
    r.sizes.resize(static_cast<std::size_t>(labels));
    for (std::int64_t& s : r.sizes) {
      s = one_in(60) ? 0 : extents[static_cast<std::size_t>(below(static_cast<int>(extents.size())))];
      while (s > 1 && products * static_cast<double>(s) > options_.most_products) s /= 2;
      products *= static_cast<double>(std::max<std::int64_t>(1, s));
    }
    for (int l = 0; l < labels; ++l) r.expression.names.push_back(std::string(1, static_cast<char>('a' + l)));
    std::vector<Shape> shapes;
    for (int i = 0; i < operands; ++i) {
      std::vector<Label> list;
      for (int l = 0; l < labels; ++l) {
        if (one_in(2)) list.push_back(l);
        if (one_in(12)) list.push_back(l);  // a diagonal, when it is there already
      }
      std::shuffle(list.begin(), list.end(), random_);
      Shape shape;
      for (const Label l : list) shape.push_back(one_in(15) ? 1 : r.sizes[static_cast<std::size_t>(l)]);
      r.expression.inputs.push_back(list);
      shapes.push_back(shape);
    }
    // A label that nobody has at full length has extent 1; nobody at all: it is not there.
    std::vector<bool> used(r.sizes.size(), false);
    Sizes found(r.sizes.size(), 1);
    for (int i = 0; i < operands; ++i) {
      const auto& list = r.expression.inputs[static_cast<std::size_t>(i)];
      for (std::size_t a = 0; a < list.size(); ++a) {
        const auto l = static_cast<std::size_t>(list[a]);
        used[l] = true;
        if (shapes[static_cast<std::size_t>(i)][a] != 1) found[l] = shapes[static_cast<std::size_t>(i)][a];
      }
    }
    r.sizes = found;
    for (int l = 0; l < labels; ++l) {
      if (used[static_cast<std::size_t>(l)] && one_in(2)) r.expression.output.push_back(l);
    }
    std::shuffle(r.expression.output.begin(), r.expression.output.end(), random_);

    const Values values{random_};
    const bool mixed = one_in(6);
    const DType main = pick();
    bool complex = false, wide = false, narrow = true;
    for (int i = 0; i < operands; ++i) {
      const DType type = mixed ? pick() : main;
      complex = complex || is_complex(type);
      wide = wide || real_of(type) == DType::Float64;
      narrow = narrow && (type == DType::BFloat16 || type == DType::Float16);
      const Shape& shape = shapes[static_cast<std::size_t>(i)];
      r.operands.push_back(sample(type, shape, strides(shape, true), values));
      r.ops.push_back(one_in(5) ? Unary::Conj : Unary::Identity);
    }
    Shape out;
    for (const Label l : r.expression.output) out.push_back(r.sizes[static_cast<std::size_t>(l)]);
    DType type = complex ? (wide ? DType::Complex128 : DType::Complex64) : wide ? DType::Float64 : DType::Float32;
    if (narrow && one_in(2)) type = one_in(2) ? DType::BFloat16 : DType::Float16;
    r.d = sample(type, out, strides(out, false), values);
    r.separate_c = one_in(3);
    r.c = sample(type, out, strides(out, true), values);
    if (one_in(2)) r.scalars.alpha = {static_cast<double>(below(9)) / 4 - 1, complex ? 0.5 : 0};
    if (r.separate_c || one_in(4))
      r.scalars.beta = {static_cast<double>(below(9)) / 4 - 1, complex && one_in(2) ? 0.25 : 0};
    r.what = fmt::format("{} sizes", to_string(r.expression));
    for (const std::int64_t s : r.sizes) r.what += fmt::format(" {}", s);
    for (const Sample& s : r.operands)
      r.what += fmt::format("; {} {} strides {}", name(s.dtype), trn::to_string(s.shape), trn::to_string(s.strides));
    r.what += fmt::format("; D {} strides {}; alpha {} + {}i, beta {} + {}i{}", name(type), trn::to_string(r.d.strides),
                          r.scalars.alpha.real(), r.scalars.alpha.imag(), r.scalars.beta.real(), r.scalars.beta.imag(),
                          r.separate_c ? ", C apart" : "");
    return r;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  DType pick() { return options_.types[static_cast<std::size_t>(below(static_cast<int>(options_.types.size())))]; }
  // Axes in a random order of memory, sometimes with gaps; negative ones, and for inputs 0.
  Strides strides(const Shape& shape, bool input) {
    std::vector<std::size_t> order(shape.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (!one_in(3)) std::shuffle(order.begin(), order.end(), random_);
    Strides result(shape.size(), 1);
    std::int64_t step = one_in(8) ? 2 : 1;
    for (const std::size_t a : order) {
      result[a] = one_in(10) ? -step : step;
      if (input && one_in(30)) {
        result[a] = 0;
        continue;
      }
      step *= std::max<std::int64_t>(1, shape[a]);
      if (one_in(10)) step += 3;
    }
    return result;
  }

  std::mt19937_64 random_;
  RandomOptions options_;
};

// A sample's memory on an executor while a call runs there; the host's is the sample itself.
class Placed {
 public:
  Placed(Sample& sample, const Executor& executor) : sample_(sample), executor_(executor) {
    if (executor == Executor::host()) return;
    memory_.emplace(executor, std::max<std::int64_t>(64, size()));
    copy_bytes(Executor::host(), sample.bytes.data(), executor, memory_->data(), size());
  }
  [[nodiscard]] TypedView view() const {
    if (!memory_) return sample_.view();
    auto* at = static_cast<std::byte*>(memory_->data()) + sample_.origin * size_bytes(sample_.dtype);
    return {executor_, sample_.dtype, at, sample_.shape, sample_.strides};
  }
  void fetch() const {
    if (memory_) copy_bytes(executor_, memory_->data(), Executor::host(), sample_.bytes.data(), size());
  }

 private:
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(sample_.bytes.size()); }
  Sample& sample_;
  Executor executor_;
  std::optional<Buffer> memory_;
};

// What Exact's bound is relative to: the product of the operands' norms, times sqrt(extent) for each label that one
// operand alone has and the result lacks.
inline long double product_of_norms(const RandomCase& r) {
  long double product = 1;
  std::vector<int> holders(r.sizes.size(), 0);
  for (std::size_t i = 0; i < r.operands.size(); ++i) {
    const Sample& s = r.operands[i];
    long double squares = 0;
    for (const std::int64_t at : offsets_of(s.shape, s.strides)) squares += std::norm(s.at(at));
    product *= std::sqrt(squares);
    std::vector<bool> here(r.sizes.size(), false);
    for (std::size_t a = 0; a < s.shape.size(); ++a)
      here[static_cast<std::size_t>(r.expression.inputs[i][a])] = s.shape[a] > 1;
    for (std::size_t l = 0; l < here.size(); ++l) holders[l] += here[l] ? 1 : 0;
  }
  for (std::size_t l = 0; l < holders.size(); ++l) {
    const auto& out = r.expression.output;
    const bool kept = std::find(out.begin(), out.end(), static_cast<Label>(l)) != out.end();
    if (!kept && holders[l] == 1) product *= std::sqrt(static_cast<long double>(r.sizes[l]));
  }
  return product;
}

// Executes the case and compares every element with the oracle. What is wrong, or nothing.
inline std::optional<std::string> violation(RandomCase& r, double* used = nullptr,
                                            const Executor& executor = Executor::host(), Mode mode = Mode::Native) {
  Description d;
  d.expression = r.expression;
  d.precision = mode;
  std::vector<TypedView> views;
  std::vector<bool> conj;
  std::vector<Placed> placed;
  for (Sample& s : r.operands) placed.emplace_back(s, executor);
  for (std::size_t i = 0; i < r.operands.size(); ++i) {
    views.push_back(placed[i].view());
    d.operands.push_back(operand_of(views.back(), r.ops[i]));
    conj.push_back(r.ops[i] == Unary::Conj);
  }
  const std::vector<std::int64_t> places = offsets_of(r.d.shape, r.d.strides);
  const Exact exact = oracle(r.expression, r.sizes, r.operands, conj);
  Sample& c = r.separate_c ? r.c : r.d;
  const std::vector<std::int64_t> c_places = offsets_of(c.shape, c.strides);
  std::vector<Wide> before;
  for (const std::int64_t p : c_places) before.push_back(c.at(p));
  const bool uses_c = r.scalars.beta != std::complex<double>(0);
  if (!uses_c) {  // what is not read may be anything
    for (const std::int64_t p : places) r.d.set(p, {NAN, NAN});
    for (const std::int64_t p : offsets_of(r.c.shape, r.c.strides)) r.c.set(p, {NAN, NAN});
  }
  const std::vector<std::byte> untouched = r.d.bytes;
  const Placed out(r.d, executor), old(r.c, executor);
  d.output = operand_of(out.view());
  const TypedView cv = old.view();
  if (r.separate_c) d.c = operand_of(cv);
  const Plan plan(executor, d);
  const double bound = plan.execute(views, out.view(), r.scalars, r.separate_c ? &cv : nullptr).accuracy.bound;
  out.fetch();
  const Wide alpha(r.scalars.alpha), beta(r.scalars.beta);
  const long double norms = mode == Mode::Exact ? product_of_norms(r) : 0;
  double worst = 0;
  std::vector<bool> written(r.d.bytes.size(), false);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Wide want =
        (r.scalars.alpha == 0.0 ? Wide(0) : alpha * exact.values[i]) + (uses_c ? beta * before[i] : Wide(0));
    const long double scale = std::abs(alpha) * (mode == Mode::Exact ? norms : exact.absolute[i]) +
                              (uses_c ? std::abs(beta * before[i]) : 0.0L);
    const long double error = std::abs(r.d.at(places[i]) - want);
    const long double tiny = r.d.dtype == DType::Float16 ? 0x1p-24L : 0;  // its subnormal numbers
    if (!(error <= bound * scale + tiny))
      return fmt::format("element {}: error {} above the bound {} x {}", i, static_cast<double>(error), bound,
                         static_cast<double>(scale));
    if (scale > 0) worst = std::max(worst, static_cast<double>((error - tiny) / (bound * scale)));
    const auto first = static_cast<std::size_t>((r.d.origin + places[i]) * size_bytes(r.d.dtype));
    std::fill_n(written.begin() + static_cast<std::ptrdiff_t>(first), size_bytes(r.d.dtype), true);
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (!written[i] && r.d.bytes[i] != untouched[i]) return fmt::format("byte {} between the elements was written", i);
  }
  if (used) *used = worst;
  return std::nullopt;
}

}  // namespace trn::tensor::testing
