// Level 1, gemv and ger for the command line. They are bound by memory: the column of rates counts the bytes that the
// operation must read and write, the roof is the DMA engines' (on the host: what a parallel copy of a large array
// reaches). The error is that of the whole result against long double, in the unit of trnblas's bound: the norms of the
// operands for dot and gemv, otherwise the sum of the magnitudes of the terms.
#include <cmath>
#include <random>

#include <trn/blas/counts.hpp>
#include <trn/blas/error_bounds.hpp>
#include <trn/blas/gemv.hpp>
#include <trn/blas/ger.hpp>
#include <trn/blas/level1.hpp>
#include <trn/blas/rotations.hpp>
#include <trn/blas/vector_programs.hpp>
#include <trn/core/array.hpp>
#include <trn/tile/device.hpp>

#include "measure.hpp"
#include "memory.hpp"
#include "operation.hpp"
#include "roofs.hpp"

namespace trn::tools {

namespace {

using blas::Reduction;
using blas::VectorOperation;

std::vector<float> random(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) x = normal(engine);
  return values;
}

constexpr float kAlpha = 0.75f, kSine = 0.5f;

enum class Kind { Axpy, Copy, Swap, Scal, Rot, Dot, Asum, Nrm2, Amax, Amin, Gemv, Ger };

class Vectors final : public Operation {
 public:
  Vectors(Kind kind, std::string name, std::string summary)
      : kind_(kind), name_("blas." + std::move(name)), summary_(std::move(summary)) {}
  std::string name() const override { return name_; }
  std::string summary() const override { return summary_; }
  std::string rate_unit() const override { return "GB/s"; }
  std::string error_note() const override {
    if (kind_ == Kind::Gemv) return "largest |y - exact| in units of |alpha| ||a_i|| ||x||";
    if (kind_ == Kind::Dot) return "|result - exact| in units of ||x|| ||y||";
    if (reduction()) return place() ? "difference of the index" : "|result - exact| / |exact|";
    return "largest |result - exact| in units of the sum of its terms' magnitudes";
  }

  void add_options(Options& options) override {
    if (matrix()) options.number("--m", m_, "rows of A", 1, std::int64_t{1} << 20);
    options.number("--n", n_, matrix() ? "columns of A" : "elements");
    if (!n_) n_ = matrix() ? 4096 : std::int64_t{1} << 22;
    if (kind_ == Kind::Gemv) options.text("--op", op_, "N, or T: A^T x", {"N", "T"});
  }

  tile::Program program(const tile::Machine& machine) const override {
    const auto vector = [&](VectorOperation operation) {
      return blas::vector_program({operation, false, n_}, machine);
    };
    const auto reduction = [&](Reduction r) { return blas::reduction_program({r, false, false, n_}, machine); };
    switch (kind_) {
      case Kind::Axpy:
        return vector(VectorOperation::Axpy);
      case Kind::Copy:
        return vector(VectorOperation::Copy);
      case Kind::Swap:
        return vector(VectorOperation::Swap);
      case Kind::Scal:
        return vector(VectorOperation::ScalReal);
      case Kind::Rot:
        return vector(VectorOperation::Mix);
      case Kind::Dot:
        return reduction(Reduction::Dot);
      case Kind::Asum:
        return reduction(Reduction::Asum);
      case Kind::Nrm2:
        return reduction(Reduction::Nrm2);
      case Kind::Amax:
        return reduction(Reduction::Amax);
      case Kind::Amin:
        return reduction(Reduction::Amin);
      case Kind::Ger:
        return blas::ger_program({false, false, false, m_, n_, n_, 1, 1, 1}, machine);
      case Kind::Gemv:
        break;
    }
    if (op_ == "T") return blas::gemv_program({false, false, false, n_, m_, 1, n_, 1, 1}, machine);
    return blas::gemv_program({false, false, false, m_, n_, n_, 1, 1, 1}, machine);
  }

 private:
  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    const bool device = executor.family() == Family::Device;
    r.dtype = trn::name(DType::Float32);
    r.shape = matrix() ? BenchShape{{"m", m_}, {"n", n_}} : BenchShape{{"n", n_}};
    if (options.model_only) {
      r.modelled_seconds = modelled_call(*this, tile::device_of(executor).machine());
    } else {
      run(executor, options, r);
    }
    // A DMA from HBM to HBM passes the engines once.
    r.work = blas::counts::bytes(count(), DType::Float32) / (device && kind_ == Kind::Copy ? 2 : 1);
    r.roof = byte_roof(executor);
  }
  bool matrix() const { return kind_ == Kind::Gemv || kind_ == Kind::Ger; }
  bool reduction() const { return kind_ >= Kind::Dot && kind_ <= Kind::Amin; }
  bool place() const { return kind_ == Kind::Amax || kind_ == Kind::Amin; }

  blas::counts::Work count() const {
    namespace counts = blas::counts;
    const auto n = static_cast<double>(n_), m = static_cast<double>(m_);
    switch (kind_) {
      case Kind::Axpy:
        return counts::axpy(n);
      case Kind::Copy:
        return counts::copy(n);
      case Kind::Scal:
        return counts::scal(n);
      case Kind::Dot:
        return counts::dot(n);
      case Kind::Swap:
        return counts::swap(n);
      case Kind::Rot:
        return counts::rot(n);
      case Kind::Asum:
        return counts::asum(n);
      case Kind::Nrm2:
        return counts::nrm2(n);
      case Kind::Amax:
      case Kind::Amin:
        return counts::amax(n);
      case Kind::Gemv:
        return counts::gemv(m, n);
      case Kind::Ger:
        return counts::ger(m, n);
    }
    return {};
  }

  void run(const Executor& e, const BenchOptions& options, BenchRow& r) const {
    const bool t = op_ == "T";
    const std::int64_t nx = kind_ == Kind::Ger         ? m_
                            : kind_ == Kind::Gemv && t ? m_
                                                       : n_,
                       ny = kind_ == Kind::Gemv && !t ? m_ : n_;
    const double matrix_size = matrix() ? static_cast<double>(m_) * static_cast<double>(n_) : 0;
    require_memory(name(), 2 * sizeof(float) * (static_cast<double>(nx + ny) + matrix_size));  // here and there
    const std::vector<float> x = random(nx, 1), y = random(ny, 2),
                             a = matrix() ? random(m_ * n_, 3) : std::vector<float>{};
    const auto dx = Array<float>::from_host(e, {nx}, x), dy = Array<float>::from_host(e, {ny}, y),
               da = Array<float>::from_host(e, {static_cast<std::int64_t>(a.size())}, a);
    const VectorView<float> vx(dx.view()), vy(dy.view());
    const auto view =
        matrix() ? MatrixView<float>::row_major(e, da.data(), m_, n_) : MatrixView<float>(e, nullptr, 0, 0, 1, 1);
    double scalar = 0;
    Accuracy accuracy;
    const auto reduced = [&](const auto& result) { scalar = result.value, accuracy = result.accuracy; };
    const auto call = [&] {
      switch (kind_) {
        case Kind::Axpy:
          return blas::axpy(e, kAlpha, vx, vy);
        case Kind::Copy:
          return blas::copy(e, vx, vy);
        case Kind::Swap:
          return blas::swap(e, vx, vy);
        case Kind::Scal:
          return blas::scal(e, kAlpha, vx);
        case Kind::Rot:
          return blas::rot(e, vx, vy, kAlpha, kSine);
        case Kind::Dot:
          return reduced(blas::dot(e, vx, vy, Precision{}));
        case Kind::Asum:
          return reduced(blas::asum(e, vx, Precision{}));
        case Kind::Nrm2:
          return reduced(blas::nrm2(e, vx, Precision{}));
        case Kind::Amax:
          scalar = static_cast<double>(blas::amax(e, vx));
          return;
        case Kind::Amin:
          scalar = static_cast<double>(blas::amin(e, vx));
          return;
        case Kind::Gemv:
          accuracy = blas::gemv(e, t ? blas::Op::T : blas::Op::N, kAlpha, view, vx, 0, vy);
          return;
        case Kind::Ger:
          return blas::ger(e, kAlpha, vx, vy, view);
      }
    };
    Recorder recorder(e);
    const auto first = [&] {
      const PurposeScope warm_up(Purpose::WarmUp);
      call();
    };
    first();  // once for the error: repeated calls change their operands
    ensure(recorder.family_of(name()) == trn::name(e.family()), "{} did not run on {}", name(), e.name());
    r.bound = bound(accuracy);
    r.error = error(x, y, a, dx.to_host(), dy.to_host(), da.to_host(), scalar);
    const Measured measured = measure(e, options.repeats, call);
    r.seconds = measured.fastest_s;
    r.modelled_seconds = modelled_time(e, recorder);
  }

  // What trnblas says: the call itself, or trn/blas/error_bounds.hpp.
  double bound(const Accuracy& of_call) const {
    const double u = unit_roundoff(DType::Float32);
    switch (kind_) {
      case Kind::Axpy:
        return blas::axpy_error_bound(u);
      case Kind::Scal:
        return blas::scal_error_bound(u);
      case Kind::Rot:
        return blas::rot_error_bound(u);
      case Kind::Ger:
        return blas::ger_error_bound(u);
      case Kind::Copy:
      case Kind::Swap:
      case Kind::Amax:
      case Kind::Amin:
        return 0;
      default:
        return of_call.bound;
    }
  }

  double error(const std::vector<float>& x, const std::vector<float>& y, const std::vector<float>& a,
               const std::vector<float>& x1, const std::vector<float>& y1, const std::vector<float>& a1,
               double scalar) const {
    long double worst = 0, sum = 0, size = 0;
    const auto compare = [&](float result, long double exact, long double scale) {
      worst = std::max(worst, scale > 0 ? std::abs(result - exact) / scale : std::abs(result - exact));
    };
    const auto each = [&](auto exact, const std::vector<float>& result) {
      for (std::size_t i = 0; i < result.size(); ++i) {
        const auto [value, scale] = exact(i);
        compare(result[i], value, scale);
      }
    };
    const auto norm = [](const std::vector<float>& v) {
      long double squares = 0;
      for (const float value : v) squares += static_cast<long double>(value) * value;
      return std::sqrt(squares);
    };
    using Pair = std::pair<long double, long double>;
    const long double alpha = kAlpha, sine = kSine;
    const auto n = static_cast<std::size_t>(n_), m = static_cast<std::size_t>(m_);
    switch (kind_) {
      case Kind::Axpy:
        each([&](std::size_t i) { return Pair(alpha * x[i] + y[i], std::abs(alpha * x[i]) + std::abs(y[i])); }, y1);
        break;
      case Kind::Copy:
        each([&](std::size_t i) { return Pair(x[i], 1); }, y1);
        break;
      case Kind::Swap:
        each([&](std::size_t i) { return Pair(x[i], 1); }, y1), each([&](std::size_t i) { return Pair(y[i], 1); }, x1);
        break;
      case Kind::Scal:
        each([&](std::size_t i) { return Pair(alpha * x[i], std::abs(alpha * x[i])); }, x1);
        break;
      case Kind::Rot:
        each(
            [&](std::size_t i) {
              return Pair(alpha * x[i] + sine * y[i], std::abs(alpha * x[i]) + std::abs(sine * y[i]));
            },
            x1);
        break;
      case Kind::Dot:
        for (std::size_t i = 0; i < n; ++i) sum += static_cast<long double>(x[i]) * y[i];
        size = norm(x) * norm(y);
        break;
      case Kind::Asum:
        for (std::size_t i = 0; i < n; ++i) sum += std::abs(x[i]);
        size = sum;
        break;
      case Kind::Nrm2:
        size = sum = norm(x);
        break;
      case Kind::Amax:
      case Kind::Amin: {
        std::size_t best = 0;
        for (std::size_t i = 0; i < n; ++i) {
          if (kind_ == Kind::Amax ? std::abs(x[i]) > std::abs(x[best]) : std::abs(x[i]) < std::abs(x[best])) best = i;
        }
        sum = static_cast<long double>(best);
        break;
      }
      case Kind::Gemv: {
        const bool t = op_ == "T";
        const long double xs = alpha * norm(x);
        each(
            [&](std::size_t i) {
              long double value = 0, squares = 0;
              for (std::size_t k = 0; k < (t ? m : n); ++k) {
                const long double element = t ? a[k * n + i] : a[i * n + k];
                value += alpha * element * x[k];
                squares += element * element;
              }
              return Pair(value, xs * std::sqrt(squares));
            },
            y1);
        break;
      }
      case Kind::Ger:
        each(
            [&](std::size_t i) {
              return Pair(a[i] + alpha * x[i / n] * y[i % n], std::abs(a[i]) + std::abs(alpha * x[i / n] * y[i % n]));
            },
            a1);
        break;
    }
    if (reduction()) worst = std::abs(static_cast<long double>(scalar) - sum) / (place() ? 1 : size);
    return static_cast<double>(worst);
  }

  Kind kind_;
  std::string name_, summary_;
  std::int64_t m_ = 4096, n_ = 0;
  std::string op_ = "N";
};

}  // namespace

std::vector<std::unique_ptr<Operation>> vector_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  const auto add = [&](Kind kind, const char* name, const char* summary) {
    all.push_back(std::make_unique<Vectors>(kind, name, summary));
  };
  add(Kind::Axpy, "axpy", "y = alpha x + y");
  add(Kind::Copy, "copy", "y = x");
  add(Kind::Swap, "swap", "x <-> y");
  add(Kind::Scal, "scal", "x = alpha x");
  add(Kind::Rot, "rot", "a plane rotation of x and y");
  add(Kind::Dot, "dot", "sum x_i y_i");
  add(Kind::Asum, "asum", "sum |x_i|");
  add(Kind::Nrm2, "nrm2", "sqrt(sum x_i^2)");
  add(Kind::Amax, "amax", "where |x_i| is largest");
  add(Kind::Amin, "amin", "where |x_i| is smallest");
  add(Kind::Gemv, "gemv", "y = alpha A x, A row-major");
  add(Kind::Ger, "ger", "A = alpha x y^T + A, A row-major");
  return all;
}

}  // namespace trn::tools
