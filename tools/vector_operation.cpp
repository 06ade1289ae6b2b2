// Level 1, gemv and ger for the command line. They are bound by memory: the column of rates counts the bytes that the
// operation must read and write, the roof is the DMA engines' (on the host: what a parallel copy of a large array
// reaches). The error is that of the whole result against long double, in units of the sum of the magnitudes of its
// terms, and so is the bound.
#include <cmath>
#include <random>

#include <trn/blas/gemv.hpp>
#include <trn/blas/ger.hpp>
#include <trn/blas/level1.hpp>
#include <trn/blas/rotations.hpp>
#include <trn/blas/vector_programs.hpp>
#include <trn/core/array.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/device.hpp>

#include "measure.hpp"
#include "operation.hpp"

namespace trn::tools {

namespace {

using blas::Reduction;
using blas::VectorOperation;

// Bytes per second of a parallel copy, read and written, best of three.
double host_copy_bandwidth() {
  std::vector<float> from(std::size_t{1} << 25, 1.0f), to(from.size());
  const Measured measured = measure(3, [&] {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
  });
  return 2.0 * static_cast<double>(from.size() * sizeof(float)) / measured.fastest_s;
}

std::vector<float> random(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) x = normal(engine);
  return values;
}

constexpr double kU = 0x1p-24;
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

  BenchRow bench(const std::string& executor_name, const BenchOptions& options) const override {
    const Executor executor = Executor::open(executor_name);
    const bool simulated = executor.family() == Family::Device;
    require(simulated || !options.model_only, "bench: --model-only is for simulators; executor '{}' has no model",
            executor.name());
    BenchRow r;
    r.op = name();
    r.executor = executor.name();
    r.dtype = trn::name(DType::Float32);
    r.precision = "native";
    r.shape = matrix() ? BenchShape{{"m", m_}, {"n", n_}} : BenchShape{{"n", n_}};
    if (simulated && options.model_only) {
      const tile::Machine& machine = tile::device_of(executor).machine();
      r.modelled_seconds = neuron::estimate(program(machine), machine).seconds;
    } else {
      run(executor, options, r);
    }
    const double seconds = r.modelled_seconds ? *r.modelled_seconds : *r.seconds;
    const double roof = simulated ? tile::device_of(executor).machine().dma_bytes_per_s() : host_copy_bandwidth();
    // A DMA from HBM to HBM passes the engines once.
    const double moved = simulated && kind_ == Kind::Copy ? bytes() / 2 : bytes();
    r.rate = moved / seconds * 1e-9;
    r.roof_fraction = moved / seconds / roof;
    return r;
  }

 private:
  bool matrix() const { return kind_ == Kind::Gemv || kind_ == Kind::Ger; }

  // What must move between memory and the engines.
  double bytes() const {
    const auto n = static_cast<double>(n_), m = static_cast<double>(m_);
    switch (kind_) {
      case Kind::Axpy:
        return 12 * n;
      case Kind::Copy:
      case Kind::Scal:
      case Kind::Dot:
        return 8 * n;
      case Kind::Swap:
      case Kind::Rot:
        return 16 * n;
      case Kind::Asum:
      case Kind::Nrm2:
      case Kind::Amax:
      case Kind::Amin:
        return 4 * n;
      case Kind::Gemv:
        return 4 * (m * n + m + n);
      case Kind::Ger:
        return 4 * (2 * m * n + m + n);
    }
    return 0;
  }

  void run(const Executor& e, const BenchOptions& options, BenchRow& r) const {
    const bool t = op_ == "T";
    const std::int64_t nx = kind_ == Kind::Ger         ? m_
                            : kind_ == Kind::Gemv && t ? m_
                                                       : n_,
                       ny = kind_ == Kind::Gemv && !t ? m_ : n_;
    const std::vector<float> x = random(nx, 1), y = random(ny, 2),
                             a = matrix() ? random(m_ * n_, 3) : std::vector<float>{};
    const auto dx = Array<float>::from_host(e, {nx}, x), dy = Array<float>::from_host(e, {ny}, y),
               da = Array<float>::from_host(e, {static_cast<std::int64_t>(a.size())}, a);
    const VectorView<float> vx(dx.view()), vy(dy.view());
    const auto view =
        matrix() ? MatrixView<float>::row_major(e, da.data(), m_, n_) : MatrixView<float>(e, nullptr, 0, 0, 1, 1);
    double scalar = 0;
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
          scalar = blas::dot(e, vx, vy);
          return;
        case Kind::Asum:
          scalar = blas::asum(e, vx);
          return;
        case Kind::Nrm2:
          scalar = blas::nrm2(e, vx);
          return;
        case Kind::Amax:
          scalar = static_cast<double>(blas::amax(e, vx));
          return;
        case Kind::Amin:
          scalar = static_cast<double>(blas::amin(e, vx));
          return;
        case Kind::Gemv:
          (void)blas::gemv(e, t ? blas::Op::T : blas::Op::N, kAlpha, view, vx, 0, vy);
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
    error(r, x, y, a, dx.to_host(), dy.to_host(), da.to_host(), scalar);
    const Measured measured = measure(e, options.repeats, call);
    r.seconds = measured.fastest_s;
    r.modelled_seconds = modelled_time(e, recorder);
  }

  void error(BenchRow& r, const std::vector<float>& x, const std::vector<float>& y, const std::vector<float>& a,
             const std::vector<float>& x1, const std::vector<float>& y1, const std::vector<float>& a1,
             double scalar) const {
    long double worst = 0, sum = 0, size = 0;
    const auto compare = [&](float result, long double exact, long double scale) {
      worst = std::max(worst, scale > 0 ? std::abs(result - exact) / scale : std::abs(result - exact));
    };
    double bound = 0;
    const auto each = [&](auto exact, const std::vector<float>& result, double roundings) {
      for (std::size_t i = 0; i < result.size(); ++i) {
        const auto [value, scale] = exact(i);
        compare(result[i], value, scale);
      }
      bound = roundings * kU;
    };
    using Pair = std::pair<long double, long double>;
    const long double alpha = kAlpha, sine = kSine;
    const auto n = static_cast<std::size_t>(n_), m = static_cast<std::size_t>(m_);
    switch (kind_) {
      case Kind::Axpy:
        each([&](std::size_t i) { return Pair(alpha * x[i] + y[i], std::abs(alpha * x[i]) + std::abs(y[i])); }, y1, 2);
        break;
      case Kind::Copy:
        each([&](std::size_t i) { return Pair(x[i], 1); }, y1, 0);
        break;
      case Kind::Swap:
        each([&](std::size_t i) { return Pair(x[i], 1); }, y1, 0),
            each([&](std::size_t i) { return Pair(y[i], 1); }, x1, 0);
        break;
      case Kind::Scal:
        each([&](std::size_t i) { return Pair(alpha * x[i], std::abs(alpha * x[i])); }, x1, 1);
        break;
      case Kind::Rot:
        each(
            [&](std::size_t i) {
              return Pair(alpha * x[i] + sine * y[i], std::abs(alpha * x[i]) + std::abs(sine * y[i]));
            },
            x1, 2);
        break;
      case Kind::Dot:
        for (std::size_t i = 0; i < n; ++i)
          sum += static_cast<long double>(x[i]) * y[i], size += std::abs(static_cast<long double>(x[i]) * y[i]);
        break;
      case Kind::Asum:
        for (std::size_t i = 0; i < n; ++i) sum += std::abs(x[i]);
        size = sum;
        break;
      case Kind::Nrm2:
        for (std::size_t i = 0; i < n; ++i) sum += static_cast<long double>(x[i]) * x[i];
        size = sum = std::sqrt(sum);
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
        each(
            [&](std::size_t i) {
              Pair p(0, 0);
              for (std::size_t k = 0; k < (t ? m : n); ++k) {
                const long double term = alpha * (t ? a[k * n + i] : a[i * n + k]) * x[k];
                p.first += term;
                p.second += std::abs(term);
              }
              return p;
            },
            y1, static_cast<double>(t ? m_ : n_) + 2);
        break;
      }
      case Kind::Ger:
        each(
            [&](std::size_t i) {
              return Pair(a[i] + alpha * x[i / n] * y[i % n], std::abs(a[i]) + std::abs(alpha * x[i / n] * y[i % n]));
            },
            a1, 3);
        break;
    }
    const bool reduction = kind_ >= Kind::Dot && kind_ <= Kind::Amin,
               place = kind_ == Kind::Amax || kind_ == Kind::Amin;
    if (reduction) {
      worst = place ? std::abs(static_cast<long double>(scalar) - sum) : std::abs(scalar - sum) / size;
      bound = place ? 0 : (static_cast<double>(n_) + 1) * kU;
    }
    r.error = static_cast<double>(worst);
    r.bound = bound;
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
