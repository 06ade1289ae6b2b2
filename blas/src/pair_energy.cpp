// The entry point of pair_energy: checks arguments, dispatches, adds the pairs' sums in order and computes the bound.
#include <trn/blas/pair_energy.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <trn/blas/exactness.hpp>
#include <trn/blas/pair_energy_program.hpp>
#include <trn/core/array.hpp>
#include <trn/core/eft.hpp>
#include <trn/tile/device.hpp>

#include "checks.hpp"
#include "kernels.hpp"

namespace trn::blas {

namespace {

constexpr const char* kOperation = "blas.pair_energy";

// What a kernel returned, and the numbers its bound is made of.
struct Outcome {
  std::vector<PairSums> pairs;
  std::vector<double> norms2, scale;  // nocc x nvir
};

// |dT_ab| <= product ||b_ia|| ||b_jb|| + slices (s_ia ||b_jb|| + s_jb ||b_ia||) + scales s_ia s_jb
struct Errors {
  double product = 0, slices = 0, scales = 0;
  double u = 0;     // relative error of an operation after the product
  double sums = 0;  // of a sum
  // Of a weight |D|^-1/2, energies up to `scale` and |D| at least `gap`: relative, and infinite where the gap is lost.
  double (*weight)(double u, double scale, double gap) = nullptr;
};

// Three rounded operations on energies make D; half its relative error goes into the weight, and two more roundings.
double rounded_weight(double u, double scale, double gap) {
  const double d = 6 * u * scale / gap;
  return d < 0.5 ? d + 3 * u : std::numeric_limits<double>::infinity();
}
// Three words (pair_weights.hpp), D below 2^m: what is rounded there and in the product with the weight adds up to
// 7.5 * 2^(m-46) / |D| and 3 * 2^-44; words C move 1 - D p by up to c = 2^(m-23) / |D| beyond 2^-10.9, of which the
// series leaves out the fourth power.
double words_weight(double u, double scale, double gap) {
  const double top = std::ldexp(1.0, std::ilogb(2 * scale) + 1), c = top * 0x1p-23 / gap, d = 0x1p-10 + c;
  return c <= 0x1p-6 ? 8 * 0x1p-46 * top / gap + 3 * u + 0.3 * d * d * d * d + 0x1p-23 * d * d
                     : std::numeric_limits<double>::infinity();
}

Errors errors_of(const Executor& executor, DType dtype, Mode mode, std::int64_t naux, std::int64_t nvir) {
  if (executor.family() == Family::Device && dtype == DType::Float64) {
    const SlicedProductBound of = sliced_product_bound(naux, nvir, tile::device_of(executor).machine());
    return {0, of.slices, of.scales, 0x1p-44, 0x1p-36, words_weight};  // two words: double_words.hpp
  }
  const bool host = executor.family() == Family::Host;
  const double u = unit_roundoff(host ? DType::Float64 : DType::Float32);
  const double product = host ? (static_cast<double>(naux) + 2) * unit_roundoff(dtype) : pair_product_bound(mode, naux);
  return {product, 0, 0, u, (static_cast<double>(host ? nvir * nvir : nvir) + 4) * u, rounded_weight};
}

// Norms N(x) of the header for one pair.
class PairNorms {
 public:
  PairNorms(const std::vector<double>& virtuals, double occupied) {
    for (const double e : virtuals) weights_.push_back(1 / std::sqrt(2 * (e - occupied / 2)));
    largest_ = *std::ranges::max_element(weights_);
  }
  [[nodiscard]] double of_squares(const double* x2) const {
    double sum = 0;
    for (std::size_t a = 0; a < weights_.size(); ++a) sum += x2[a] * weights_[a];
    return 1.01 * std::sqrt(sum);
  }
  [[nodiscard]] double of(const double* x) const {
    double sum = 0;
    for (std::size_t a = 0; a < weights_.size(); ++a) sum += x[a] * x[a] * weights_[a];
    return 1.01 * std::sqrt(sum);
  }
  [[nodiscard]] double of_norm(double x) const {
    return x * std::sqrt(largest_);
  }  // of anything with ||x|| at most this

 private:
  std::vector<double> weights_;
  double largest_;
};

// The energies as the host sees them.
template <class T> std::vector<double> energies(const VectorView<const T>& x) {
  std::vector<T> values(static_cast<std::size_t>(x.size()));
  trn::copy(View<const T>(x), View<T>(Executor::host(), values.data(), {x.size()}));
  return {values.begin(), values.end()};
}

double largest(const std::vector<double>& x) {
  double most = 0;
  for (const double value : x) most = std::max(most, std::abs(value));
  return most;
}

// ||dT / sqrt|D| ||_F of pair (i, j).
double product_error(const Outcome& of, const Errors& errors, const std::vector<double>& input,
                     const std::vector<double>& virtuals, double occupied, std::size_t i, std::size_t j) {
  const PairNorms norms(virtuals, occupied);
  const std::size_t n = virtuals.size();
  const double bi = norms.of_squares(of.norms2.data() + i * n), bj = norms.of_squares(of.norms2.data() + j * n);
  double error = errors.product * bi * bj;
  if (errors.scales > 0) {
    const double si = norms.of(of.scale.data() + i * n), sj = norms.of(of.scale.data() + j * n);
    error += errors.slices * (si * bj + sj * bi) + errors.scales * si * sj;
  }
  if (!input.empty()) {
    const double ei = norms.of_norm(input[i]), ej = norms.of_norm(input[j]);
    error += ei * bj + ej * bi + ei * ej;
  }
  return error;
}

// A bound that is not a number says nothing: infinite.
double finite_or_infinite(double bound) { return bound < std::numeric_limits<double>::infinity() ? bound : HUGE_VAL; }

// E and its bound; the header derives the formula.
PairEnergy add_up(const Outcome& of, const Errors& errors, const std::vector<double>& input,
                  const std::vector<double>& occupied, const std::vector<double>& virtuals, double largest_energy,
                  const PairRange& range) {
  const double lowest = *std::ranges::min_element(virtuals),
               scale = std::max(largest(occupied), largest_energy) + std::max(largest(virtuals), largest_energy);
  DoubleDouble opposite, same;
  double bound = 0;
  PairEnergy energy;
  energy.pairs.reserve(of.pairs.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(range.rows()); ++i) {
    for (auto j = static_cast<std::size_t>(range.first(static_cast<std::int64_t>(i))); j < occupied.size(); ++j) {
      const double factor = i == j ? 1 : 2;
      const PairSums& pair = of.pairs[energy.pairs.size()];
      PairTerm& term = energy.pairs.emplace_back(PairTerm{-factor * pair.squares, -factor * pair.exchange, 0});
      opposite = opposite + DoubleDouble(term.opposite_spin);
      same = same + DoubleDouble(term.same_spin);
      const double gap = 2 * lowest - occupied[i] - occupied[j];
      const double element = errors.weight(errors.u, scale, gap), z = std::sqrt(pair.squares);
      const double g =
          product_error(of, errors, input, virtuals, occupied[i] + occupied[j], i, j) * (1 + element) + element * z;
      term.bound = finite_or_infinite(1.01 * factor *
                                      (g * (2 * z + g) + g * (2 * std::sqrt(2 * pair.exchange) + 2 * g) +
                                       errors.sums * (pair.squares + pair.exchange)));
      bound += term.bound;
    }
  }
  energy.opposite_spin = static_cast<double>(opposite);
  energy.same_spin = static_cast<double>(same);
  // The sums over partitions and pairs in double.
  energy.accuracy.bound = finite_or_infinite(bound + 1e3 * unit_roundoff(DType::Float64) *
                                                         std::abs(energy.opposite_spin + energy.same_spin));
  return energy;
}

// From the cheapest on: Tensor Engine products per multiplication, fp32 counting four. Bf16x6 costs more than Native
// and its bound is no smaller, because both add up in fp32.
constexpr std::array kByCost{Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native};

}  // namespace

template <RealScalar T>
PairEnergy detail::pair_energy(const Executor& executor, const View<const T>& b, const VectorView<const T>& occupied,
                               const VectorView<const T>& virtuals, const PairEnergyOptions& options) {
  checks::enumerators(kOperation, options.precision);
  checks::check_owner(kOperation, "B", executor, b.executor());
  checks::operand(kOperation, "occupied", executor, occupied);
  checks::operand(kOperation, "virtuals", executor, virtuals);
  require(b.rank() == 3,
          "{}: B has shape {}; it must have three dimensions: occupied orbital, auxiliary function, virtual orbital",
          kOperation, to_string(b.shape()));
  const std::int64_t nocc = b.shape()[0], naux = b.shape()[1], nvir = b.shape()[2];
  require(occupied.size() == nocc && virtuals.size() == nvir,
          "{}: B has shape {} but there are {} occupied and {} virtual energies; give {} and {}", kOperation,
          to_string(b.shape()), occupied.size(), virtuals.size(), nocc, nvir);
  require(b.is_contiguous(), "{}: B has strides {} for shape {}; it must be contiguous: copy it first", kOperation,
          to_string(b.strides()), to_string(b.shape()));
  checks::check_address(kOperation, "B", b.data(), b.size() == 0);
  require(options.left >= 0 && (options.left == 0 || options.left < nocc),
          "{}: `left` is {} of {} occupied orbitals; it must be less, so that there are some on both sides, or 0 for "
          "all pairs",
          kOperation, options.left, nocc);
  require(options.largest_energy >= 0 && std::isfinite(options.largest_energy),
          "{}: `largest_energy` is {}; give the largest |energy|, or 0", kOperation, options.largest_energy);
  require(options.input_errors.empty() || static_cast<std::int64_t>(options.input_errors.size()) == nocc,
          "{}: there are {} `input_errors` for {} occupied orbitals; give one for each, or none", kOperation,
          options.input_errors.size(), nocc);
  for (const double e : options.input_errors) {
    require(e >= 0 && std::isfinite(e), "{}: an input error is {}; errors are finite and not negative", kOperation, e);
  }
  const PairRange range{nocc, options.left};
  const bool host = executor.family() == Family::Host, wide = dtype_of<T> == DType::Float64;
  const Precision precision = options.precision;
  if (!precision.has_target() && host && precision.mode() != Mode::Native) {
    fail<NotImplemented>("{}: the host computes in Native precision, not {}; use Native or a device executor",
                         kOperation, name(precision.mode()));
  }
  if (!host && !precision.has_target() && wide != (precision.mode() == Mode::Exact)) {
    fail<NotImplemented>(
        "{}: {} operands in {} precision are not offered on executor '{}'; use Exact with float64, another mode with "
        "float32",
        kOperation, trn::name(dtype_of<T>), name(precision.mode()), executor.name());
  }
  const std::vector<double> low = energies(occupied), high = energies(virtuals);
  if (nocc > 0 && nvir > 0) {
    const double top = *std::ranges::max_element(low), bottom = *std::ranges::min_element(high);
    const auto finite = [](double e) { return std::isfinite(e); };
    require(std::ranges::all_of(low, finite) && std::ranges::all_of(high, finite) && top < bottom,
            "{}: the highest occupied energy is {} and the lowest virtual one {}; every denominator must be negative: "
            "occupied below virtual, "
            "all finite",
            kOperation, top, bottom);
  }
  PairEnergy energy;
  energy.accuracy.mode = precision.has_target() ? Mode::Native : precision.mode();
  if (b.size() == 0) return energy;

  const auto run = [&](Mode mode) {
    if (mode == Mode::Exact) {
      const Exactness probe = probe_exactness(executor);
      if (!probe.exact) {
        throw DeviceError(
            fmt::format("{}: precision 'exact' is not possible on '{}': {}", kOperation, executor.name(), probe.reason),
            "not-exact");
      }
    }
    const auto columns = static_cast<std::size_t>(nocc * nvir);
    Outcome outcome{std::vector<PairSums>(static_cast<std::size_t>(range.count())), std::vector<double>(columns),
                    std::vector<double>(columns)};
    dispatch(kPairEnergy, executor,
             {dtype_of<T>, mode, nocc, naux, nvir, b.data(), occupied.data(), virtuals.data(), occupied.stride(),
              virtuals.stride(), outcome.pairs.data(), outcome.norms2.data(), outcome.scale.data(), options.left,
              options.largest_energy});
    PairEnergy result = add_up(outcome, errors_of(executor, dtype_of<T>, mode, naux, nvir), options.input_errors, low,
                               high, options.largest_energy, range);
    result.accuracy.mode = mode;
    result.accuracy.passes = host ? 1 : mode == Mode::Exact ? 26 : word_scheme(mode).products;
    return result;
  };
  if (!precision.has_target()) return run(precision.mode());
  constexpr std::array kWide{Mode::Exact};
  const std::span<const Mode> modes(kByCost);
  for (const Mode mode : host ? modes.last(1) : wide ? std::span<const Mode>(kWide) : modes) {
    energy = run(mode);
    if (energy.accuracy.bound <= precision.target_error()) return energy;
  }
  fail<InvalidArgument>(
      "{}: no mode on executor '{}' reaches a bound of {:g}; the last one, {}, gives {:g}: ask for a larger bound{}",
      kOperation, executor.name(), precision.target_error(), name(energy.accuracy.mode), energy.accuracy.bound,
      wide ? "" : ", or use float64");
}

#define TRN_PAIR_ENERGY(T)                                                                                      \
  template PairEnergy detail::pair_energy<T>(const Executor&, const View<const T>&, const VectorView<const T>&, \
                                             const VectorView<const T>&, const PairEnergyOptions&);
TRN_PAIR_ENERGY(float)
TRN_PAIR_ENERGY(double)
#undef TRN_PAIR_ENERGY

}  // namespace trn::blas
